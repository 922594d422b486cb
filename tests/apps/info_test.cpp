#include <info/describe.hpp>

#include <support/command.hpp>

#include <coir/core/machine.hpp>
#include <coir/core/version.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace {

coir::testing::Outcome info(std::string const& arguments) {
  return coir::testing::run_command(std::string(COIR_APP) + " " + arguments);
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(Info, TextNamesVersionsAndBackend) {
  auto const outcome = info("");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_TRUE(contains(outcome.output, coir::version)) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, coir::kokkos_version())) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, Kokkos::DefaultExecutionSpace::name())) << outcome.output;
  EXPECT_FALSE(contains(outcome.output, "Measured limits")) << outcome.output;
}

TEST(Info, JsonWithoutMeasurementHasNoLimits) {
  auto const outcome = info("--json");
  EXPECT_EQ(outcome.code, 0);
  auto const json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["version"], coir::version);
  EXPECT_EQ(json["backends"], coir::compiled_backends());
  EXPECT_GE(json["host"]["threads"], 1);
  EXPECT_TRUE(json["limits"].is_null());
}

TEST(Info, MeasurementFillsTheLimits) {
  auto const outcome = info("--json --measure");
  EXPECT_EQ(outcome.code, 0);
  auto const limits = nlohmann::json::parse(outcome.output)["limits"];
  EXPECT_GT(limits["copy_bytes_per_second"], 0.1e9);
  EXPECT_GT(limits["triad_bytes_per_second"], 0.1e9);
  EXPECT_GE(limits["launch_seconds"], 0);
  EXPECT_GE(limits["last_level_cache_bytes"], 1 << 15);
  EXPECT_EQ(limits["host_to_device_bytes_per_second"].is_null(),
            coir::runs_on_host<Kokkos::DefaultExecutionSpace>);
}

TEST(Info, AMachineThatIsNotItsOwnIsNoted) {
  coir::Machine machine;
  machine.host_threads = 64;
  EXPECT_TRUE(coir::apps::doubts_about_limits(machine, {}).empty());
  EXPECT_TRUE(coir::apps::doubts_about_limits(machine, {64, 0.05}).empty());
  auto const doubts = coir::apps::doubts_about_limits(machine, {1.5, 0.8});
  ASSERT_EQ(doubts.size(), 2u);
  EXPECT_EQ(doubts[0],
            "a quota of this container grants 1.5 processors to 64 threads, which wait for one "
            "another at each kernel: "
            "OMP_NUM_THREADS=1");
  EXPECT_EQ(doubts[1],
            "the machine is busy: other programs kept 0.8 processors at work before the "
            "measurement; measure again when they "
            "are done");
  coir::apps::Description description;
  description.machine = machine;
  description.limits = coir::MachineLimits();
  description.processors = {1.5, 0.8};
  EXPECT_TRUE(contains(coir::apps::as_text(description), "processors by quota   1.5\n"))
      << coir::apps::as_text(description);
  EXPECT_TRUE(contains(coir::apps::as_text(description), "the machine is busy"));
  EXPECT_EQ(coir::apps::as_json(description)["host"]["processor_quota"], 1.5);
}

TEST(Info, OfTheCoresItMeasuresTheirs) {
  auto const outcome = info("--json --measure --backend cpu");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
  auto const json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["default_backend"], Kokkos::DefaultHostExecutionSpace::name());
  EXPECT_GT(json["limits"]["copy_bytes_per_second"], 0.1e9);
  EXPECT_TRUE(json["limits"]["host_to_device_bytes_per_second"].is_null());
}

TEST(Info, UnknownOptionIsAUsageError) {
  auto const outcome = info("--mesure");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.errors, "did you mean --measure?")) << outcome.errors;
}
