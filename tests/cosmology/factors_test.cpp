#include <coir/cosmology/factors.hpp>

#include <gtest/gtest.h>

#include "sets.hpp"

#include <cmath>
#include <limits>

using namespace coir::cosmology;
using coir::testing::curved_with_changing_dark_energy;
using coir::testing::einstein_de_sitter;

namespace {

/// Nine or ten digits are given, and the growth functions are this accurate; a step's difference of
/// them is a third of their size or more.
constexpr double tolerance = 3e-9;

Growth<> const& simple_growth() {
  static Growth<> const growth(simple_lcdm());
  return growth;
}

}  // namespace

TEST(QuinnFactors, OfMatterAloneAreExact) {
  auto const p = einstein_de_sitter();
  double const a = 0.02, m = 0.11, b = 0.7;
  EXPECT_CLOSE(quinn_drift(p, a, b), 2 / std::sqrt(a) - 2 / std::sqrt(b), 1e-13);
  EXPECT_CLOSE(quinn_kick(p, a, b), 2 * std::sqrt(b) - 2 * std::sqrt(a), 1e-13);
  auto const step = quinn_kdk(p, a, m, b);
  EXPECT_CLOSE(step.kick_before, 2 * std::sqrt(m) - 2 * std::sqrt(a), 1e-13);
  EXPECT_CLOSE(step.drift, 2 / std::sqrt(a) - 2 / std::sqrt(b), 1e-13);
  EXPECT_CLOSE(step.kick_after, 2 * std::sqrt(b) - 2 * std::sqrt(m), 1e-13);
}

TEST(QuinnFactors, HaveTheReferenceValues) {
  EXPECT_CLOSE(quinn_drift(simple_lcdm(), 0.1, 0.2), 3.369586491, 3e-10);
  EXPECT_CLOSE(quinn_drift(simple_lcdm(), 0.5, 1), 1.120457789, 3e-10);
}

TEST(QuinnFactors, AddUpAndChangeSignBackwards) {
  auto const p = curved_with_changing_dark_energy();
  EXPECT_CLOSE(quinn_drift(p, 0.1, 0.4) + quinn_drift(p, 0.4, 0.9), quinn_drift(p, 0.1, 0.9),
               1e-13);
  EXPECT_DOUBLE_EQ(quinn_kick(p, 0.9, 0.1), -quinn_kick(p, 0.1, 0.9));
  EXPECT_EQ(quinn_kick(p, 0.3, 0.3), 0);
}

TEST(QuinnFactors, WorkInSinglePrecision) {
  EXPECT_NEAR(quinn_drift(simple_lcdm<float>(), 0.5F, 1.0F), 1.120457789F, 1e-6);
}

TEST(QuinnFactors, NeedScaleFactorsAboveZero) {
  EXPECT_THROW(quinn_drift(planck15(), 0, 1), coir::PreconditionError);
  EXPECT_THROW(quinn_kick(planck15(), 0.5, std::numeric_limits<double>::infinity()),
               coir::PreconditionError);
  EXPECT_THROW(quinn_kdk(planck15(), 0.1, std::numeric_limits<double>::quiet_NaN(), 0.2),
               coir::PreconditionError);
}

TEST(FastpmFactors, HaveTheReferenceValues) {
  auto const expect_step = [](double a, double m, double b, double drift, double before,
                              double after) {
    auto const step = fastpm_kdk(simple_growth(), a, m, b);
    EXPECT_CLOSE(step.drift, drift, tolerance);
    EXPECT_CLOSE(step.kick_before, before, tolerance);
    EXPECT_CLOSE(step.kick_after, after, tolerance);
  };
  expect_step(0.1, 0.15, 0.2, 3.128459587, 0.3212858911, 0.1897578685);
  expect_step(0.1, std::sqrt(0.02), 0.2, 3.416408032, 0.2617691607, 0.2196040390);
  expect_step(0.5, 0.75, 1, 1.006964747, 0.5499633559, 0.2828599457);
  expect_step(0.5, std::sqrt(0.5), 1, 1.07584483, 0.4603128421, 0.3377086458);
}

TEST(FastpmFactors, FollowZeldovichInOneLongStep) {
  // x = q + D1 s, p = G s, F = 3/2 omega_m D1 s
  for (Parameters<> p : {simple_lcdm(), curved_with_changing_dark_energy()}) {
    Growth<> const growth(p);
    double const a = 0.05, m = 0.3, b = 1;
    auto const step = fastpm_kdk(growth, a, m, b);
    auto const force = [&](double x) { return 1.5 * p.omega_m * x; };
    double x = growth.d1(a), momentum = growth.momentum(a);
    momentum += step.kick_before * force(x);
    x += step.drift * momentum;
    momentum += step.kick_after * force(x);
    EXPECT_CLOSE(x, growth.d1(b), 1e-14);
    EXPECT_CLOSE(momentum, growth.momentum(b), 1e-14);
  }
}

TEST(FastpmFactors, KickByWhatTheMomentumsDerivativeIs) {
  // a E G' by the product rule, with the second derivative that the identity in fastpm_kick spares
  auto const p = curved_with_changing_dark_energy();
  Growth<> const growth(p);
  for (double const a : {0.01, 0.3, 1.0}) {
    double const e = expansion_rate(p, a);
    auto const v = growth.at(a);
    double const g_prime =
        a * a * e * (v.d1_second + (2 + expansion_rate_slope(p, a)) * v.d1_prime);
    EXPECT_CLOSE(a * e * g_prime, 1.5 * p.omega_m * v.d1, 1e-14);
  }
}

TEST(FastpmFactors, TendToQuinnsForShortSteps) {
  // both are the length of the step, to relative order step^2 with a factor of order 1; and eps /
  // step
  auto const p = curved_with_changing_dark_energy();
  Growth<> const growth(p);
  double const a = 0.4, b = a * 1.001, m = std::sqrt(a * b);
  EXPECT_CLOSE(fastpm_drift(growth, m, a, b), quinn_drift(p, a, b), 2e-6);
  EXPECT_CLOSE(fastpm_kick(growth, m, a, b), quinn_kick(p, a, b), 2e-6);
}

TEST(FastpmFactors, NeedTheRangeOfTheGrowthFunctions) {
  EXPECT_THROW(fastpm_drift(simple_growth(), 0.5, 1e-4, 1), coir::PreconditionError);
  EXPECT_THROW(fastpm_kick(simple_growth(), 1.5, 0.5, 1), coir::PreconditionError);
  EXPECT_THROW(fastpm_kdk(simple_growth(), 0.5, 0.7, 1.1), coir::PreconditionError);
  EXPECT_THROW(fastpm_dkd(simple_growth(), 0.5, 1.1), coir::PreconditionError);
  EXPECT_THROW(bullfrog_dkd(simple_growth(), 1e-4, 1), coir::PreconditionError);
}

TEST(DkdFactors, HaveTheReferenceValues) {
  EXPECT_CLOSE(bullfrog_dkd(simple_growth(), 0.1, 0.2).alpha, 0.2958012265, tolerance);
  EXPECT_CLOSE(fastpm_dkd(simple_growth(), 0.1, 0.2).alpha, 0.3548580878, tolerance);
  EXPECT_CLOSE(bullfrog_dkd(simple_growth(), 0.5, 1).alpha, 0.4214363360, tolerance);
  EXPECT_CLOSE(fastpm_dkd(simple_growth(), 0.5, 1).alpha, 0.4565116025, tolerance);
}

TEST(DkdFactors, FollowZeldovichInOneLongStep) {
  // x = q + D1 s, v = s, A = D1 s
  for (auto const& step :
       {fastpm_dkd(simple_growth(), 0.05, 1), bullfrog_dkd(simple_growth(), 0.05, 1)}) {
    double x = simple_growth().d1(0.05), v = 1;
    x += step.half_drift * v;
    v = step.alpha * v + step.force * x;
    x += step.half_drift * v;
    EXPECT_CLOSE(x, simple_growth().d1(1), 1e-14);
    EXPECT_CLOSE(v, 1.0, 1e-14);
  }
}

TEST(DkdFactors, OfBullfrogFollowTheSecondOrder) {
  // v = s1 + D2'/D1' s2; at x = q + D1 s1 + e s2 the field's part along s2 is e + D1^2
  for (Parameters<> const& p : {simple_lcdm(), curved_with_changing_dark_energy()}) {
    Growth<> const growth(p);
    auto const from = growth.at(0.05), to = growth.at(0.8);
    auto const after = [&from](DkdFactors<double> const& step) {
      double const half_way = from.d1 + step.half_drift;
      double const v = from.d2_prime / from.d1_prime;
      double const x = from.d2 + step.half_drift * v;
      return step.alpha * v + step.force * (x + half_way * half_way);
    };
    double const exact = to.d2_prime / to.d1_prime;
    EXPECT_CLOSE(after(bullfrog_dkd(growth, 0.05, 0.8)), exact, 1e-13);
    EXPECT_GT(std::abs(after(fastpm_dkd(growth, 0.05, 0.8)) / exact - 1), 0.01);
  }
}
