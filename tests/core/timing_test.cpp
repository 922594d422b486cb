#include <coir/core/timing.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

TEST(Stopwatch, CountsAtLeastTheTimeSlept) {
  coir::Stopwatch watch{Kokkos::DefaultExecutionSpace{}};
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(watch.seconds(), 0.020);
}

TEST(Stopwatch, RestartBeginsAnew) {
  coir::Stopwatch watch{Kokkos::DefaultExecutionSpace{}};
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  double const before = watch.seconds();
  watch.restart();
  EXPECT_LT(watch.seconds(), before);
}

TEST(Stopwatch, IsStillWhenItIsOff) {
  coir::Stopwatch const watch(Kokkos::DefaultExecutionSpace{}, false);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(watch.seconds(), 0);
}
