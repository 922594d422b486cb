#include <coir/poisson/result.hpp>

#include <gtest/gtest.h>

using coir::poisson::Result;
using coir::poisson::StoppedBy;

TEST(Result, NamesEveryReasonToStop) {
  EXPECT_EQ(to_string(StoppedBy::sweeps), "sweeps");
  EXPECT_EQ(to_string(StoppedBy::tolerance), "tolerance");
  EXPECT_EQ(to_string(StoppedBy::stagnation), "stagnation");
  EXPECT_EQ(to_string(StoppedBy::not_finite), "not finite");
  EXPECT_EQ(to_string(StoppedBy::interrupted), "interrupted");
  EXPECT_EQ(to_string(static_cast<StoppedBy>(99)), "unknown");
}

TEST(Result, StartsAsNothingDone) {
  Result const result;
  EXPECT_EQ(result.iterations, 0);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.convergence_factor, 0);
}
