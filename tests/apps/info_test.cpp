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
  EXPECT_EQ(limits["host_to_device_bytes_per_second"].is_null(),
            coir::runs_on_host<Kokkos::DefaultExecutionSpace>);
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
