#include <support/interrupt.hpp>

#include <gtest/gtest.h>

#include <csignal>

using coir::apps::interrupted;
using coir::apps::InterruptGuard;

TEST(Interrupt, SignalsAskToStop) {
  for (int const signal : {SIGINT, SIGTERM}) {
    InterruptGuard const guard;
    EXPECT_FALSE(interrupted());
    std::raise(signal);
    EXPECT_TRUE(interrupted());
  }
}

TEST(InterruptDeathTest, SecondSignalEndsTheProgram) {
  auto const twice = [] {
    InterruptGuard const guard;
    std::raise(SIGINT);
    std::raise(SIGINT);
  };
  EXPECT_EXIT(twice(), ::testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptDeathTest, SignalsKillOnceTheGuardIsGone) {
  auto const after = [] {
    {
      InterruptGuard const guard;
    }
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(after(), ::testing::KilledBySignal(SIGTERM), "");
}
