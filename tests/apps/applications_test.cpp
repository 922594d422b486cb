// What all applications have in common, as a user meets it.

#include <support/command.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;
using namespace coir::testing;

struct Application {
  std::string name;
  std::string work;  ///< arguments of a short run
  bool reports = true;
  bool on_ranks = false;
};

std::vector<Application> const all = {
    {"cells",
     "--counts-z 0.5 --counts-bias 2 --counts-density 1 --shapes-z 1 --shapes-density 1 "
     "--bins 2 --free sigma8"},
    {"compare", "show", false},
    {"escape", "--size 8x8"},
    {"field", "picture.png --side 8 --steps 2 --a-start 0.3 --iterations 1 --pixels 16", true,
     true},
    {"info", "", false, true},
    {"jacobi", "picture.png --sweeps 3", true, true},
    {"nbody", "--particles 8 --steps 2 --no-pictures", true, true},
    {"offload",
     "--flops n --in n --out n --host-flops 1e9 --device-flops 1e10 --to-device 1e9 "
     "--to-host 1e9 --launch-seconds 1e-6"},
    {"queue", "jobs.txt"},
    {"shallow", "--size 16x8 --steps 3", true, true},
};

class Applications : public ::testing::TestWithParam<Application> {
 protected:
  void SetUp() override {
    bool const needs_hdf5 =
        GetParam().name == "nbody" || GetParam().name == "field" || GetParam().name == "shallow";
    if (needs_hdf5 && !fs::exists(program_))
      GTEST_SKIP() << "this build has no coir-" << GetParam().name;
    if (contains(GetParam().work, "picture.png"))
      coir::testing::run_command(COIR_APPS "/escape/coir-escape --size 8x8 --quiet --output " +
                                 (folder_ / "picture.png").string());
    std::ofstream(folder_ / "jobs.txt") << "JobID|Partition|Submit|Start\n"
                                           "1|gpu|2025-01-31T12:00:00|2025-01-31T12:00:05\n";
  }

  Outcome run(std::string const& arguments, std::string const& environment = "") const {
    return coir::testing::run_command("cd '" + folder_.path().string() + "' && " + environment +
                                      " " + program_ + " " + arguments);
  }

  void expect_refusal(int code, Outcome const& outcome, std::string const& part) const {
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_EQ(lines_in(outcome.errors), 1) << outcome.errors;
    EXPECT_TRUE(outcome.errors.starts_with("coir-" + GetParam().name + ": error: "))
        << outcome.errors;
    EXPECT_TRUE(contains(outcome.errors, part)) << outcome.errors;
  }

  std::string const program_ =
      std::string(COIR_APPS) + "/" + GetParam().name + "/coir-" + GetParam().name;
  coir::testing::TemporaryFolder const folder_;
};

TEST_P(Applications, NameEveryOptionOfHelpOnTheirPage) {
  std::string const pages = std::string(COIR_SOURCE) + "/apps/";
  std::string const page =
      read_text(pages + GetParam().name + "/README.md") + read_text(pages + "common.md");
  auto const help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.errors, "");
  EXPECT_TRUE(contains(help.output, "Exit codes"));
  EXPECT_TRUE(contains(help.output, "Examples:\n"));
  EXPECT_EQ(run("-h").output, help.output);
  std::regex const option("\n +(?:-h,)?(--[A-Za-z0-9-]+)");
  for (auto at = std::sregex_iterator(help.output.begin(), help.output.end(), option);
       at != std::sregex_iterator(); ++at) {
    std::string const word = (*at)[1];
    EXPECT_TRUE(contains(page, word)) << word;
  }
  EXPECT_TRUE(run("--version").output.starts_with("coir-" + GetParam().name + " "));
}

TEST_P(Applications, AreQuietInAPipe) {
  if (GetParam().name == "compare") return;  // it needs builds
  auto const outcome = run(GetParam().work);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.output, "");
  EXPECT_EQ(outcome.errors, "");
  if (GetParam().name != "info") {
    EXPECT_EQ(run(GetParam().work + " --quiet").output, "");
  }
}

TEST_P(Applications, RefuseInOneLine) {
  expect_refusal(2, run(GetParam().work + " --nonsense"), "--nonsense");
  if (GetParam().reports) {
    expect_refusal(4, run(GetParam().work + " --quiet --report none/r.json"), "none");
    expect_refusal(4, run(GetParam().work + " --quiet --report ."), ".");
  }
}

TEST_P(Applications, SayThatTheirOutputIsFull) {
  if (GetParam().name == "compare") return;  // it needs builds
  EXPECT_EQ(run(GetParam().work + " >/dev/full").code, 4);
}

// Each of a launcher's copies would do all of the work.
TEST_P(Applications, RefuseToRunTwiceUnlessTheyRunOnRanks) {
  if (GetParam().on_ranks || GetParam().name == "compare") return;
  std::string const name = "coir-" + GetParam().name;
  expect_refusal(6, run(GetParam().work, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0"),
                 name + " runs on one rank, and Open MPI's mpirun started 2 copies");
}

INSTANTIATE_TEST_SUITE_P(Apps, Applications, ::testing::ValuesIn(all),
                         [](auto const& info) { return info.param.name; });

}  // namespace
