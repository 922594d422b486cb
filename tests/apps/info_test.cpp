#include "app_fixture.hpp"

#include <info/describe.hpp>

#include <coir/core/machine.hpp>
#include <coir/core/version.hpp>

namespace {

using coir::testing::contains;
using Info = coir::testing::AppTest;

}  // namespace

TEST_F(Info, TextNamesVersionsAndBackend) {
  auto const outcome = run("");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_TRUE(contains(outcome.output, coir::version)) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, coir::kokkos_version())) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, Kokkos::DefaultExecutionSpace::name())) << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "Measured limits")) << outcome.output;
}

TEST_F(Info, JsonWithoutMeasurementHasNoLimits) {
  auto const outcome = run("--json");
  EXPECT_EQ(outcome.code, 0);
  auto const json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["version"], coir::version);
  EXPECT_EQ(json["backends"], coir::compiled_backends());
  EXPECT_GE(json["host"]["threads"], 1);
  EXPECT_NE(json["host"]["reason_for_threads"], "");
  EXPECT_TRUE(json["limits"].is_null());
}

TEST_F(Info, MeasurementFillsTheLimits) {
  auto const outcome = run("--json --measure");
  EXPECT_EQ(outcome.code, 0);
  auto const limits = nlohmann::json::parse(outcome.output)["limits"];
  EXPECT_GT(limits["copy_bytes_per_second"], 0.1e9);
  EXPECT_GT(limits["triad_bytes_per_second"], 0.1e9);
  EXPECT_GE(limits["launch_seconds"], 0);
  EXPECT_GE(limits["last_level_cache_bytes"], 1 << 15);
  EXPECT_EQ(limits["host_to_device_bytes_per_second"].is_null(),
            coir::runs_on_host<Kokkos::DefaultExecutionSpace>);
}

TEST_F(Info, MeasuresEachNumberOfThreads) {
  if (!coir::runs_on_host<Kokkos::DefaultExecutionSpace>) GTEST_SKIP() << "a device is measured";
  auto const outcome = run("--json --measure --kokkos-num-threads=2");
  auto const json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["host"]["reason_for_threads"], "--kokkos-num-threads");
  auto const& by_threads = json["limits_by_threads"];
  if (by_threads.empty()) GTEST_SKIP() << "without OpenMP there is one thread";
  ASSERT_EQ(by_threads.size(), 2u);
  for (int n : {0, 1}) {
    EXPECT_EQ(by_threads[n]["threads"], n + 1);
    EXPECT_GT(by_threads[n]["triad_bytes_per_second"], 0.1e9);
    EXPECT_GT(by_threads[n]["launch_seconds"], 0);
  }
}

TEST_F(Info, EnoughThreadsAreTheLeastThatFillTheMemory) {
  using coir::apps::threads_enough;
  EXPECT_EQ(threads_enough({}), 1);
  EXPECT_EQ(threads_enough({{1, 10e9, 0}, {2, 19e9, 0}, {4, 21e9, 0}, {8, 18e9, 0}}), 2);
  EXPECT_EQ(threads_enough({{1, 10e9, 0}, {2, 20e9, 0}, {4, 40e9, 0}}), 4);
}

TEST_F(Info, AMachineThatIsNotItsOwnIsNoted) {
  coir::Machine machine;
  machine.host_threads = 64;
  EXPECT_TRUE(coir::apps::doubts_about_limits(machine, {}).empty());
  EXPECT_TRUE(coir::apps::doubts_about_limits(machine, {64, 0.05}).empty());
  auto const doubts = coir::apps::doubts_about_limits(machine, {1.5, 0.8});
  ASSERT_EQ(doubts.size(), 2u);
  EXPECT_TRUE(contains(doubts[0], "grants 1.5 processors to 64 threads")) << doubts[0];
  EXPECT_TRUE(contains(doubts[1], "other programs kept 0.8 processors at work")) << doubts[1];
  coir::apps::Description description;
  description.machine = machine;
  description.limits = coir::MachineLimits();
  description.processors = {1.5, 0.8};
  EXPECT_TRUE(contains(coir::apps::as_text(description), "processors by quota   1.5\n"))
      << coir::apps::as_text(description);
  EXPECT_EQ(coir::apps::as_json(description)["host"]["processor_quota"], 1.5);
}

TEST_F(Info, OfTheCoresItMeasuresTheirs) {
  if (coir::runs_on_host<Kokkos::DefaultExecutionSpace>) GTEST_SKIP() << "it has measured them";
  auto const outcome = run("--json --measure --backend cpu");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  auto const json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["default_backend"], Kokkos::DefaultHostExecutionSpace::name());
  EXPECT_GT(json["limits"]["copy_bytes_per_second"], 0.1e9);
  EXPECT_TRUE(json["limits"]["host_to_device_bytes_per_second"].is_null());
}

TEST_F(Info, WrongOptionsAreRefused) {
  for (auto const& [arguments, part] :
       {std::pair("--watch 0", "--watch must be from 0.1 to 86400 seconds, not '0'"),
        std::pair("--watch --measure", "leave one of them out"),
        std::pair("--watch 1 --backend cpu", "--watch computes nothing: leave --backend out")}) {
    auto const outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_EQ(outcome.output, "");
    expect_error_line(outcome.errors);
    EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors;
  }
}
