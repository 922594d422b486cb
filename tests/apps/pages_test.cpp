// What --help says and what the applications' pages say.

#include <support/command.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

namespace {

using coir::testing::read_text;

class Pages : public ::testing::TestWithParam<std::string> {};

TEST_P(Pages, NameEveryOptionOfHelp) {
  std::string const name = GetParam();
  std::string const program = std::string(COIR_APPS) + "/" + name + "/coir-" + name;
  std::string const page = read_text(std::string(COIR_SOURCE) + "/apps/" + name + "/README.md");
  bool const needs_hdf5_and_fft = name == "nbody" || name == "field";
  if (needs_hdf5_and_fft && !std::filesystem::exists(program))
    GTEST_SKIP() << "this build has no coir-" << name;
  auto const help = coir::testing::run_command(program + " --help");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.errors, "");
  EXPECT_NE(help.output.find("Exit codes"), std::string::npos);
  EXPECT_NE(help.output.find("Examples:\n"), std::string::npos);
  EXPECT_EQ(coir::testing::run_command(program + " -h").output, help.output);
  std::regex const option("\n +(?:-h,)?(--[A-Za-z0-9-]+)");
  for (auto at = std::sregex_iterator(help.output.begin(), help.output.end(), option);
       at != std::sregex_iterator(); ++at) {
    std::string const word = (*at)[1];
    if (word == "--help" || word == "--version") continue;
    EXPECT_NE(page.find(word), std::string::npos) << word;
  }
}

INSTANTIATE_TEST_SUITE_P(Apps, Pages,
                         ::testing::Values("compare", "escape", "field", "info", "jacobi", "nbody",
                                           "offload", "queue"),
                         [](auto const& info) { return info.param; });

}  // namespace
