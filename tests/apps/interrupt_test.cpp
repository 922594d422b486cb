#include <support/command.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>

#include <coir/io/atomic_file.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

using namespace coir::apps;

namespace {

/// As a program that was started in the foreground.
void start() {
  for (int const signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  answer_signals("test");
}

/// A program that is too busy to poll.
[[noreturn]] void go_on_for_ever() {
  for (;;) pause();
}

/// Ends with 0 if all is as it must be.
[[noreturn]] void end_if(bool holds) { _exit(holds ? 0 : 1); }

void raise_and_see(int signal) {
  start();
  bool const before = interrupted();
  std::raise(signal);
  end_if(!before && interrupted() && interrupt_code() == 128 + signal);
}

void raise_what_is_ignored() {
  std::signal(SIGHUP, SIG_IGN);
  answer_signals("test");
  std::raise(SIGHUP);
  end_if(!interrupted());
}

void raise_between_phases() {
  start();
  {
    Activity const first("reading");
  }
  std::raise(SIGTERM);
  Activity const second("writing u.png");
  std::raise(SIGINT);  // and nothing makes it another one
  try {
    stop_if_interrupted();
  } catch (Failure const& failure) {
    end_if(failure.code() == ExitCode::interrupted && interrupt_code() == 143 &&
           std::string(failure.what()) == "stopped while writing u.png; what was written is whole");
  }
  end_if(false);
}

void raise_within_a_phase() {
  start();
  Activity const outer("working");
  try {
    Activity const inner("counting sheep");
    std::raise(SIGINT);
    throw 1;  // a solver comes back by many ways
  } catch (int) {
  }
  try {
    stop_if_interrupted();
  } catch (Failure const& failure) {
    end_if(std::string(failure.what()) ==
           "stopped while counting sheep; what was written is whole");
  }
  end_if(false);
}

void raise_while_busy(int signal) {
  start();
  say_of_files("nothing was written");
  Activity const activity("counting\nsheep");
  std::raise(signal);
  go_on_for_ever();
}

void raise_while_writing(std::filesystem::path const& path) {
  start();
  coir::io::AtomicFile file(path);
  file.write("half");
  std::raise(SIGINT);
  go_on_for_ever();
}

void raise_while_nobody_reads() {
  int ends[2];
  if (pipe(ends) != 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) _exit(99);
  while (write(ends[1], "x", 1) == 1) {
  }
  fcntl(ends[1], F_SETFL, 0);
  dup2(ends[1], STDERR_FILENO);
  start();
  std::raise(SIGINT);
  go_on_for_ever();
}

void raise_when_all_is_done() {
  start();
  settle(7);
  std::raise(SIGINT);
  go_on_for_ever();
}

}  // namespace

TEST(InterruptDeathTest, SignalsAskToStop) {
  for (int const signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EXIT(raise_and_see(signal), ::testing::ExitedWithCode(0), "") << signal;
}

TEST(InterruptDeathTest, WhatWasIgnoredStaysIgnored) {
  EXPECT_EXIT(raise_what_is_ignored(), ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, NothingForgetsASignal) {
  EXPECT_EXIT(raise_between_phases(), ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, ALineNamesWhatWasDoneWhenTheSignalCame) {
  EXPECT_EXIT(raise_within_a_phase(), ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, WhoDoesNotStopIsEndedWithOneLine) {
  for (int const signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EXIT(raise_while_busy(signal), ::testing::ExitedWithCode(128 + signal),
                "^test: error: stopped while counting sheep; nothing was written\n$")
        << signal;
}

TEST(InterruptDeathTest, WhatIsNotWholeIsRemoved) {
  coir::testing::TemporaryFolder const folder;
  EXPECT_EXIT(raise_while_writing(folder / "a"), ::testing::ExitedWithCode(130),
              "what was written is whole");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(InterruptDeathTest, ALineThatNobodyReadsKeepsNobody) {
  EXPECT_EXIT(raise_while_nobody_reads(), ::testing::ExitedWithCode(130), "");
}

TEST(InterruptDeathTest, ASignalAfterTheEndChangesNothingOfIt) {
  EXPECT_EXIT(raise_when_all_is_done(), ::testing::ExitedWithCode(7), "^$");
}
