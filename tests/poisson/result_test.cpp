#include <coir/poisson/result.hpp>

#include <gtest/gtest.h>

using coir::poisson::Result;
using coir::poisson::StoppedBy;

TEST(Result, NamesEveryReasonToStop) {
  EXPECT_EQ(name_of(StoppedBy::sweeps), "sweeps");
  EXPECT_EQ(name_of(StoppedBy::tolerance), "tolerance");
  EXPECT_EQ(name_of(StoppedBy::stagnation), "stagnation");
  EXPECT_EQ(name_of(StoppedBy::not_finite), "not finite");
  EXPECT_EQ(name_of(StoppedBy::interrupted), "interrupted");
  EXPECT_EQ(name_of(static_cast<StoppedBy>(99)), "unknown");
}

TEST(Result, StartsAsNothingDone) {
  Result const result;
  EXPECT_EQ(result.iterations, 0);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.convergence_factor, 0);
}
