#include <coir/cosmology/background.hpp>

#include <support/message_of.hpp>

#include "sets.hpp"

#include <cmath>
#include <limits>

using namespace coir::cosmology;
using namespace coir::testing;

TEST(Background, ExpandsAtOneToday) {
  EXPECT_DOUBLE_EQ(expansion_rate(planck15(), 1), 1);
  EXPECT_DOUBLE_EQ(expansion_rate(curved_with_changing_dark_energy(), 1), 1);
  EXPECT_FLOAT_EQ(expansion_rate(planck15<float>(), 1), 1);
}

TEST(Background, OfMatterAloneIsAPower) {
  auto const p = einstein_de_sitter();
  for (double const a : {1e-6, 0.01, 0.5, 1.0, 3.0}) {
    EXPECT_DOUBLE_EQ(expansion_rate(p, a), std::pow(a, -1.5));
    EXPECT_DOUBLE_EQ(expansion_rate_slope(p, a), -1.5);
    EXPECT_DOUBLE_EQ(omega_m_at(p, a), 1);
    EXPECT_EQ(omega_de_at(p, a), 0);
  }
}

TEST(Background, HasTheSlopeOfItsExpansion) {
  auto p = curved_with_changing_dark_energy();
  p.omega_r = 1e-4;
  for (double const a : {1e-4, 0.03, 0.4, 1.0, 2.0}) {
    // central differences: h^2/6 of the third derivative, below 20, and eps / h
    double const h = 1e-5;
    double const slope = (std::log(expansion_rate(p, a * std::exp(h))) -
                          std::log(expansion_rate(p, a * std::exp(-h)))) /
                         (2 * h);
    EXPECT_NEAR(expansion_rate_slope(p, a), slope, 1e-9) << a;
  }
}

TEST(Background, SharesAddUpToOne) {
  Parameters<> const flat{.omega_m = 0.3, .w0 = -0.8, .wa = 0.3};
  for (double const a : {0.01, 0.3, 1.0})
    EXPECT_NEAR(omega_m_at(flat, a) + omega_de_at(flat, a), 1, 1e-15) << a;
  EXPECT_NEAR(omega_m_at(flat, 1), 0.3, 1e-16);
}

TEST(Background, HasTheValuesThatFastpmPrints) {
  Parameters<> const p{.omega_m = 0.307494};
  EXPECT_NEAR(expansion_rate(p, 0.1), 17.5552, 5e-5);
  double const a = 1 / 1.5;
  EXPECT_NEAR(1 / (100 * a * expansion_rate(p, a)), 1.140331e-2, 5e-9);  // Mpc/h of 1 km/s
}

TEST(ComovingDistance, OfMatterAloneIsExact) {
  auto const p = einstein_de_sitter();
  for (double const a : {1e-8, 1e-3, 0.1, 0.99, 1.0, 4.0})
    EXPECT_NEAR(comoving_distance(p, a), hubble_distance * 2 * (1 - std::sqrt(a)),
                1e-12 * hubble_distance)
        << a;
}

TEST(ComovingDistance, OfACosmologicalConstantAloneGrowsWithRedshift) {
  // E = 1 but for a trace of matter, which changes chi by omega_m / 2 (3 z^2 / 2 + ...) / z < 5e-9
  Parameters<> const p{.omega_m = 1e-9};
  for (double const a : {0.4, 0.8})
    EXPECT_CLOSE(comoving_distance(p, a), hubble_distance * (1 / a - 1), 1e-8);
}

TEST(ComovingDistance, HasTheReferenceValues) {
  // an independent Simpson rule; digits as given
  EXPECT_CLOSE(comoving_distance(planck15_at_2_726(), 0.5), 2302.478128, 3e-10);
  EXPECT_CLOSE(comoving_distance(ccl_tests(), 0.5), 2247.819429, 3e-10);
}

TEST(ComovingDistance, DoesNotDependOnThePanels) {
  auto p = curved_with_changing_dark_energy();
  p.omega_r = 1e-4;
  double const direct = comoving_distance(p, 1e-4);
  auto const integrand = [&p](double x) {
    return 1 / (std::exp(x) * expansion_rate(p, std::exp(x)));
  };
  EXPECT_CLOSE(
      direct, hubble_distance * detail::gauss_legendre(integrand, std::log(1e-4), 0.0, 200), 1e-12);
}

TEST(ComovingDistance, NeedsAPhysicalExpansion) {
  using coir::testing::message_of;
  EXPECT_NE(message_of([] { comoving_distance(planck15(), 0); }).find("scale factor a"),
            std::string::npos);
  EXPECT_THROW(comoving_distance(planck15(), std::numeric_limits<double>::quiet_NaN()),
               coir::PreconditionError);
  EXPECT_THROW(comoving_distance(Parameters<>{}, 0.5), coir::PreconditionError);
  EXPECT_THROW(comoving_distance(Parameters<>{.omega_m = 0.1, .omega_k = -0.9}, 0.5),
               coir::PreconditionError);
}

TEST(TransverseDistance, OfFlatSpaceIsTheComovingOne) {
  EXPECT_EQ(transverse_distance(planck15(), 0.3), comoving_distance(planck15(), 0.3));
}

TEST(TransverseDistance, OfCurvedSpaceIsASineOrItsHyperbolicTwin) {
  for (double const omega_k : {0.6, -0.25}) {
    Parameters<> const p{.omega_m = 0.4, .omega_k = omega_k};
    double const r = hubble_distance / std::sqrt(std::abs(omega_k));
    double const angle = comoving_distance(p, 0.1) / r;
    EXPECT_CLOSE(transverse_distance(p, 0.1),
                 r * (omega_k > 0 ? std::sinh(angle) : std::sin(angle)), 1e-14);
  }
}

TEST(TransverseDistance, OfMatterAndCurvatureAloneIsMattigsFormula) {
  // omega_de = 0: f_K = 2 c/H0 [omega_m z + (omega_m - 2)(sqrt(1 + omega_m z) - 1)] / (omega_m^2
  // (1+z))
  Parameters<> const p{.omega_m = 0.3, .omega_k = 0.7};
  for (double const z : {0.1, 1.0, 9.0}) {
    double const m = 0.3;
    double const mattig =
        2 * hubble_distance * (m * z + (m - 2) * (std::sqrt(1 + m * z) - 1)) / (m * m * (1 + z));
    EXPECT_CLOSE(transverse_distance(p, 1 / (1 + z)), mattig, 1e-12) << z;
  }
}

TEST(TransverseDistance, IsContinuousWhereTheSeriesEnds) {
  // |omega_k (chi H0/c)^2| = 0.01: the series' first term left out is 3e-18
  for (double const sign : {1.0, -1.0}) {
    Parameters<> p{.omega_m = 0.3};
    double const chi = comoving_distance(p, 0.5) / hubble_distance;
    p.omega_k = sign * 0.01 / (chi * chi);
    for (double const factor : {0.97, 1.03}) {
      Parameters<> q = p;
      q.omega_k *= factor;
      double const distance = comoving_distance(q, 0.5);
      double const r = hubble_distance / std::sqrt(std::abs(q.omega_k));
      double const exact = r * (sign > 0 ? std::sinh(distance / r) : std::sin(distance / r));
      EXPECT_CLOSE(transverse_distance(q, 0.5), exact, 1e-15 * 4);
    }
  }
}
