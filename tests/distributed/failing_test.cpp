// Programs whose ranks fail: they end, with one line and the right code.

#include <coir/core/machine.hpp>

#include <support/command.hpp>
#include <support/run_on_ranks.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <sstream>
#include <string>

namespace {

using coir::testing::Outcome;
using coir::testing::run_command;

std::string const program = COIR_PROGRAM;

TEST(Failing, KokkosMustNotStartBeforeTheSession) {
  Outcome const outcome = run_command(program + " kokkos_first");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.errors,
            "program: a distributed::Session tells Kokkos which device and cores are its rank's: "
            "make it before Kokkos starts\n");
}

TEST(Failing, AProgramHasOneSession) {
  Outcome const outcome = run_command(program + " two_sessions");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.errors,
            "program: a program has one distributed::Session, at the beginning of main: hand its "
            "world() on\n");
}

TEST(Failing, RunOnOneRankSaysWhatIsThrown) {
  Outcome const outcome = run_command(program + " run/throw");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.errors, "coir_test_failing_ranks: error: the last rank has failed\n");
  EXPECT_EQ(run_command(program + " run/code").code, 7);
}

TEST(Failing, AProgramOfOneRankNeedsNoTransport) {
  Outcome const outcome = run_command("COIR_TRANSPORT=nccl " + program);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
}

#ifdef COIR_RUN_ON_RANKS

/// Of three ranks; what they say is the same on all that say something, and those of mpirun are
/// left out.
struct Said {
  int code;
  std::string line;
  bool in_time;
};
Said on_three_ranks(std::string const& arguments, std::string const& environment = "") {
  auto const start = std::chrono::steady_clock::now();
  Outcome const outcome = run_command("timeout 60 env " + environment + " " COIR_RUN_ON_RANKS "3 " +
                                      program + " " + arguments);
  std::set<std::string> said;
  std::istringstream lines(outcome.errors);
  for (std::string line; std::getline(lines, line);)
    for (std::string const by : {"program: ", "coir_test_failing_ranks: ", "coir: "})
      if (line.starts_with(by)) said.insert(line);
  EXPECT_LE(said.size(), 1U) << outcome.errors;
  auto const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {outcome.code, said.empty() ? "" : *said.begin(), seconds < 10};
}

TEST(Failing, OneRankThatThrowsEndsAll) {
  auto const said = on_three_ranks("throw");
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.line,
            "coir: an exception ends this program on rank 2, and so on all ranks: start it by "
            "coir::distributed::run(), which says what was wrong, or catch it before its Session "
            "ends");
  EXPECT_TRUE(said.in_time);
}

// What a program that run() starts throws is said, by one rank, and ends all of them.
TEST(Failing, RunSaysWhatOneRankThrows) {
  auto const said = on_three_ranks("run/throw");
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.line, "coir_test_failing_ranks: error on rank 2: the last rank has failed");
  EXPECT_TRUE(said.in_time);
}

TEST(Failing, RunSaysOnceWhatAllRanksThrow) {
  auto const said = on_three_ranks("run/throw_on_all");
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.line, "coir_test_failing_ranks: error on rank 0: a rank has failed");
  EXPECT_TRUE(said.in_time);
}

TEST(Failing, RunSaysWhatIsNoException) {
  auto const said = on_three_ranks("run/throw_a_number");
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.line,
            "coir_test_failing_ranks: error on rank 0: an exception that isn't a std::exception");
}

TEST(Failing, RunSaysThatThereIsASession) {
  auto const said = on_three_ranks("run/second_session");
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.line,
            "coir_test_failing_ranks: error on rank 0: a program has one distributed::Session, at "
            "the beginning of main: hand its world() on");
}

TEST(Failing, RunGivesTheCodeOfTheProgram) {
  EXPECT_EQ(on_three_ranks("run/code").code, 7);
  auto const well = on_three_ranks("run/well");
  EXPECT_EQ(well.code, 0);
  EXPECT_EQ(well.line, "");
}

TEST(Failing, AnMpiThatRunsIsAskedForTheRanks) {
  for (std::string const how : {"own_mpi", "unknown_launcher"}) {
    auto const said = on_three_ranks(how);
    EXPECT_EQ(said.code, 0) << how;
    EXPECT_EQ(said.line, "") << how;
  }
}

TEST(Failing, AnMpiThatHasEndedCanNotStartAgain) {
  auto const said = on_three_ranks("mpi_has_ended");
  EXPECT_EQ(said.code, 3);
  EXPECT_EQ(said.line,
            "program: MPI has ended, and can't start a second time: make the distributed::Session "
            "before MPI_Finalize");
}

TEST(Failing, OneRankThatSaysWhatIsWrongEndsAllWithItsCode) {
  auto const said = on_three_ranks("throw_and_catch");
  EXPECT_EQ(said.code, 5);
  EXPECT_EQ(said.line, "program: the last rank has failed");
  EXPECT_TRUE(said.in_time);
}

TEST(Failing, AGroupIsOfNoUseAfterItsSession) {
  auto const said = on_three_ranks("group_after_session");
  EXPECT_EQ(said.code, 3);
  EXPECT_EQ(said.line,
            "program: a group of ranks can't be used after its session has ended: end the session "
            "last");
}

// A build for GPUs may run this on cores beside them, for which MPI will do.
TEST(Failing, NcclThatIsAskedForAndNotThereIsNamed) {
  if (coir::visible_devices() > 0) GTEST_SKIP() << "there are devices";
  auto const said = on_three_ranks("exchange", "COIR_TRANSPORT=nccl");
  EXPECT_EQ(said.code, 5);
  EXPECT_EQ(said.line,
            "program: COIR_TRANSPORT=nccl, which carries memory of GPUs, and this program computes "
            "on cores: unset it");
  EXPECT_TRUE(said.in_time);
}

#endif

}  // namespace
