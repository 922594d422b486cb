#include <support/command.hpp>
#include <support/folder.hpp>
#include <support/run_on_ranks.hpp>

#include <coir/core/kokkos.hpp>
#include <coir/io/png.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>

namespace {

using coir::testing::Outcome;
using coir::testing::run_command;

/// A program as a launcher starts one of two copies.
Outcome one_of_two(std::string const& command) {
  return run_command("OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 " + command);
}

#ifdef COIR_RUN_ON_RANKS

/// The lines that aren't the launcher's.
std::string lines_of(std::string const& program, std::string const& text) {
  std::istringstream lines(text);
  std::string own;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(program)) own += line + '\n';
  return own;
}

Outcome on_ranks(int ranks, std::string const& command) {
  return run_command(COIR_RUN_ON_RANKS + std::to_string(ranks) + " " + command);
}

std::string const info = COIR_APPS "/info/coir-info";

TEST(Ranks, InfoNamesThem) {
  Outcome const outcome = on_ranks(3, info + " --measure --json");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  auto const ranks = nlohmann::json::parse(outcome.output)["ranks"];
  EXPECT_EQ(ranks["places"].size(), 3);
  EXPECT_FALSE(ranks["transport"].get<std::string>().empty());
  EXPECT_GT(ranks["slowest_latency"]["seconds"], 0);
  EXPECT_GT(ranks["slowest_link"]["bytes_per_second"], 0);
}

/// Two ranks, of which the second one is started in another way. All must end, with one line.
void expect_one_line(int code, std::string const& first, std::string const& second,
                     std::string const& line) {
  SCOPED_TRACE(second);
  Outcome const outcome = on_ranks(1, first + " : -n 1 " + second);
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(lines_of("coir-", outcome.errors), "coir-info: error: " + line + '\n');
}

TEST(Ranks, WhatIsWrongWithOneCommandLineEndsAll) {
  expect_one_line(2, info, info + " --nonsense",
                  "unknown option --nonsense; coir-info --help lists what there is");
  expect_one_line(2, info, info + " --help",
                  "all ranks must be given the same --help: it is not given on rank 0 and given on "
                  "rank 1");
  expect_one_line(2, info, info + " --json",
                  "all ranks must be given the same --json: it is off on rank 0 and on on rank 1");
}

TEST(Ranks, OneThatEndsBeforeItMeetsTheOthersEndsAll) {
  expect_one_line(6, info, info + " --watch",
                  "coir-info runs on one rank, and Open MPI's mpirun started 2 copies, each of "
                  "which would do all of the work: start one");
}

TEST(Ranks, JacobiRebuildsThePictureOfOneRank) {
  coir::testing::TemporaryFolder const folder;
  std::string const in_folder = "cd '" + folder.path().string() + "' && ";
  coir::io::GrayImage picture{23, 16, 8, {}};
  for (int n = 0; n < 23 * 16; ++n)
    picture.samples.push_back(static_cast<std::uint16_t>(n * n % 251));
  coir::io::write_png(folder / "picture.png", picture);
  std::string const program = COIR_APPS "/jacobi/coir-jacobi ",
                    jacobi = program + "picture.png --quiet --sweeps 50";
  auto const on = [&](int ranks, std::string const& command) {
    return run_command(in_folder + COIR_RUN_ON_RANKS + std::to_string(ranks) + " " + command);
  };
  for (std::string const scheme : {"plain", "blocked", "red-black", "multigrid"}) {
    std::string const run = jacobi + " --scheme " + scheme + " --report report.json --output ";
    EXPECT_EQ(run_command(in_folder + run + "one.npy --output-laplacian one.png").code, 0);
    Outcome const outcome = on(3, run + "three.npy --output-laplacian three.png");
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    for (std::string const type : {".npy", ".png"})
      EXPECT_EQ(coir::testing::read_text(folder / ("one" + type)),
                coir::testing::read_text(folder / ("three" + type)))
          << scheme << type;
    auto const facts = nlohmann::json::parse(coir::testing::read_text(folder / "report.json"));
    EXPECT_EQ(facts["ranks"], 3);
    EXPECT_EQ(facts["rows"], 23);
    EXPECT_EQ(facts["scheme"], scheme);
  }
  auto const expect_error = [&](std::string const& command, int code, std::string const& line) {
    Outcome const outcome = on(2, command);
    EXPECT_EQ(outcome.code, code);
    std::string const said = lines_of("coir-", outcome.errors);
    EXPECT_EQ(said.substr(0, 20 + line.size()), "coir-jacobi: error: " + line);
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  };
  expect_error(jacobi + " --scheme direct", 2,
               "--scheme must be plain, blocked, red-black or multigrid on 2");
  expect_error(jacobi + " --compare", 2, "--compare runs schemes that are for one rank");
  expect_error(program + "nothing.png", 3, "nothing.png");
}

TEST(Ranks, KokkosThatCanNotStartOnOneOfThemEndsAll) {
  Outcome const outcome = on_ranks(1, info + " : -n 1 env KOKKOS_NUM_THREADS=many " + info);
  if (KOKKOS_VERSION >= 40000) {  // it aborts
    EXPECT_NE(outcome.code, 0);
    return;
  }
  EXPECT_EQ(outcome.code, 6);
  EXPECT_TRUE(
      lines_of("coir-", outcome.errors).starts_with("coir-info: error: Kokkos can't start: "))
      << outcome.errors;
}

TEST(Ranks, OneLineTellsOfATransportThatThereIsNot) {
  Outcome const outcome =
      run_command("COIR_TRANSPORT=doves " COIR_RUN_ON_RANKS "2 " + info + " --backend cpu");
  EXPECT_EQ(outcome.code, 6);
  EXPECT_EQ(lines_of("coir-info", outcome.errors),
            "coir-info: error: the environment variable COIR_TRANSPORT must be mpi, staged, "
            "nccl or peer, not 'doves': correct it, or unset it\n");
}

TEST(Ranks, ALauncherOfAnotherMpiIsFound) {
  EXPECT_EQ(one_of_two("env " COIR_RANKS_ENVIRONMENT " " + info).errors,
            "coir-info: error: Open MPI's mpirun started 2 processes, but MPI knows of 1: use the "
            "launcher of the MPI that coir is built with (srun: --mpi=pmix or --mpi=pmi2)\n");
}

#else

TEST(Ranks, CopiesOfABuildWithoutMpiAreRefused) {
  Outcome const outcome = one_of_two(COIR_APPS "/info/coir-info");
  EXPECT_EQ(outcome.code, 6);
  EXPECT_EQ(outcome.errors,
            "coir-info: error: Open MPI's mpirun started 2 copies of a program without MPI, each "
            "of which would do all of the work: start one, or build by a preset with MPI, such as "
            "openmp-mpi\n");
}

#endif

}  // namespace
