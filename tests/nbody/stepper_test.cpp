#include <coir/nbody/stepper.hpp>

#include <gtest/gtest.h>

#include <support/message_of.hpp>

#include <cmath>

using namespace coir::nbody;
using coir::testing::message_of;

TEST(Steppers, HaveNames) {
  for (Stepper const stepper : {Stepper::fastpm, Stepper::plain, Stepper::bullfrog})
    EXPECT_EQ(stepper_named(name_of(stepper)), stepper);
  EXPECT_EQ(name_of(Stepper::fastpm), "fastpm");
  EXPECT_EQ(name_of(Stepper::plain), "plain");
  EXPECT_EQ(name_of(Stepper::bullfrog), "bullfrog");
}

TEST(Steppers, OfNoNameListNames) {
  EXPECT_EQ(message_of([] { stepper_named("leapfrog"); }),
            "there is no stepper 'leapfrog': it must be one of fastpm, plain, bullfrog");
  EXPECT_EQ(message_of([] { stepper_named(""); }),
            "there is no stepper '': it must be one of fastpm, plain, bullfrog");
}

TEST(ScaleFactors, RiseByTheSameStepOfA) {
  EXPECT_EQ(scale_factors(0.25, 1, 3), (std::vector<double>{0.25, 0.5, 0.75, 1}));
  EXPECT_EQ(scale_factors(0.1, 0.7, 1), (std::vector<double>{0.1, 0.7}));
}

TEST(ScaleFactors, RiseByTheSameFactorInLogarithmicSpacing) {
  auto const a = scale_factors(0.01, 1, 4, Spacing::logarithmic);
  ASSERT_EQ(a.size(), 5u);
  EXPECT_EQ(a.front(), 0.01);
  EXPECT_EQ(a.back(), 1);
  // pow and a product: a few roundings.
  for (std::size_t s = 1; s < a.size(); ++s) EXPECT_NEAR(a[s] / a[s - 1], std::sqrt(10), 4e-15);
}

TEST(ScaleFactors, EndWhereTheyShouldToTheBit) {
  for (Spacing const spacing : {Spacing::linear, Spacing::logarithmic})
    for (int steps : {1, 2, 7, 40, 1000}) {
      auto const a = scale_factors(1. / 64, 1. / 3, steps, spacing);
      ASSERT_EQ(a.size(), static_cast<std::size_t>(steps) + 1);
      EXPECT_EQ(a.front(), 1. / 64);
      EXPECT_EQ(a.back(), 1. / 3);
      for (std::size_t s = 1; s < a.size(); ++s) EXPECT_GT(a[s], a[s - 1]);
    }
}

TEST(ScaleFactors, CheckTheirRange) {
  EXPECT_EQ(message_of([] { scale_factors(0, 1, 2); }), "a_start must be above 0, not 0");
  EXPECT_EQ(message_of([] { scale_factors(-0.5, 1, 2); }), "a_start must be above 0, not -0.5");
  EXPECT_EQ(message_of([] { scale_factors(NAN, 1, 2); }), "a_start must be above 0, not nan");
  EXPECT_EQ(message_of([] { scale_factors(0.5, 0.5, 2); }),
            "a_end must be above a_start, which is 0.5, not 0.5");
  EXPECT_EQ(message_of([] { scale_factors(0.5, INFINITY, 2); }),
            "a_end must be above a_start, which is 0.5, not inf");
  EXPECT_EQ(message_of([] { scale_factors(0.5, 1, 0); }), "there must be at least one step, not 0");
}
