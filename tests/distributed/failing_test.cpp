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

TEST(Failing, AProgramOfOneRankNeedsNoTransport) {
  Outcome const outcome = run_command("COIR_TRANSPORT=nccl " + program);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "");
}

#ifdef COIR_RUN_ON_RANKS

/// Of three ranks; what they say is the same on all that say something, and those of mpirun are left out.
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
    if (line.starts_with("program: ")) said.insert(line);
  EXPECT_LE(said.size(), 1U) << outcome.errors;
  auto const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {outcome.code, said.empty() ? "" : *said.begin(), seconds < 10};
}

TEST(Failing, OneRankThatThrowsEndsAll) {
  auto const said = on_three_ranks("throw");
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(said.in_time);
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
