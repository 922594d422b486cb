#include <coir/cosmology/growth.hpp>

#include <support/message_of.hpp>

#include "sets.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <string>

using namespace coir::cosmology;
using namespace coir::testing;

namespace {

/// What the class states.
constexpr double accuracy = 1e-9;

/// D1 = 5/2 omega_m E int_0^a da' / (a' E)^3, exact for matter, curvature and a cosmological
/// constant.
double d1_by_integral(Parameters<> const& p, double a) {
  auto const integrand = [&p](double x) {
    double const at = std::exp(x);
    return at / std::pow(at * expansion_rate(p, at), 3);
  };
  // it grows as a^(5/2): before 1e-9 of what is asked for there is 1e-22 of it
  return 2.5 * p.omega_m * expansion_rate(p, a) *
         detail::gauss_legendre(integrand, std::log(1e-9 * a), std::log(a), 60);
}

/// D1, f1 and D2 today without radiation, from when dark energy is 1e-13 of matter, whenever that
/// is: Runge and Kutta's method for ln(D1 / a), f1, R = D2 / D1^2 and R', with ' = d/d ln a,
///
///   f1' = 3/2 omega_m(a) - f1^2 - (2 + E'/E) f1
///   R'' = 3/2 omega_m(a) - (4 f1 + 2 + E'/E) R' - (3/2 omega_m(a) + 2 f1^2) R
std::array<double, 3> growth_from_the_beginning(Parameters<> const& p) {
  using State = std::array<double, 4>;
  double const n = -3 * (p.w0 + p.wa), today = p.omega_de() / p.omega_m;
  double const early = today * std::exp(-3 * p.wa);
  double const begin = std::log(1e-13 / std::abs(early)) / n;
  auto const slope = [&](double x, State const& y) {
    double const a = std::exp(x), dark = today * std::exp(n * x - 3 * p.wa * (1 - a)),
                 curvature = p.omega_k / p.omega_m * a, all = 1 + dark + curvature,
                 matter = 1.5 / all,
                 e = (-3 - 2 * curvature - 3 * (1 + p.w0 + p.wa * (1 - a)) * dark) / (2 * all);
    return State{y[1] - 1, matter - y[1] * y[1] - (2 + e) * y[1], y[3],
                 matter - (4 * y[1] + 2 + e) * y[3] - (matter + 2 * y[1] * y[1]) * y[2]};
  };
  State y{0, 1, 3.0 / 7, 0};
  int const steps = static_cast<int>(-begin * 100);
  double const h = -begin / steps;
  auto const plus = [](State a, double by, State const& b) {
    for (int i = 0; i < 4; ++i) a[i] += by * b[i];
    return a;
  };
  for (int s = 0; s < steps; ++s) {
    double const x = begin + s * h;
    auto const k1 = slope(x, y), k2 = slope(x + h / 2, plus(y, h / 2, k1)),
               k3 = slope(x + h / 2, plus(y, h / 2, k2)), k4 = slope(x + h, plus(y, h, k3));
    for (int i = 0; i < 4; ++i) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  double const d1 = std::exp(y[0]);
  return {d1, y[1], y[2] * d1 * d1};
}

}  // namespace

template <class T>
class GrowthOf : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GrowthOf, Precisions);

TYPED_TEST(GrowthOf, MatterAloneIsExact) {
  using T = TypeParam;
  T const eps = std::numeric_limits<T>::epsilon();
  Growth<T> const growth(einstein_de_sitter<T>(), 1e-4, 10);
  for (T const a : {T(1e-4), T(0.03), T(0.5), T(1), T(7.7), T(10)}) {
    auto const v = growth.at(a);
    // roundings of 2000 steps, which partly decay, and half as many of one sign for D2 = 3/7
    T const tolerance = 500 * eps;
    EXPECT_CLOSE(v.d1, a, tolerance);
    EXPECT_CLOSE(v.d1_prime, a, tolerance);
    EXPECT_CLOSE(v.d1_second, a, tolerance);
    EXPECT_CLOSE(v.d2, T(3) / 7 * a * a, tolerance);
    EXPECT_CLOSE(v.d2_prime, T(6) / 7 * a * a, tolerance);
    EXPECT_CLOSE(v.d2_second, T(12) / 7 * a * a, tolerance);
    EXPECT_CLOSE(growth.f1(a), T(1), tolerance);
    EXPECT_CLOSE(growth.f2(a), T(2), tolerance);
    EXPECT_CLOSE(growth.momentum(a), a * std::sqrt(a), tolerance);
  }
}

TYPED_TEST(GrowthOf, SimpleLcdmHasTheReferenceValues) {
  using T = TypeParam;
  Growth<T> const growth(simple_lcdm<T>());
  // ten digits are given; rounding of single precision, over 1800 steps
  double const tolerance = std::is_same_v<T, double> ? accuracy : 2e-5;
  auto const expect_values = [&](double a, double d1, double d1_prime, double d2) {
    EXPECT_CLOSE(growth.d1(T(a)), d1, tolerance) << a;
    EXPECT_CLOSE(growth.d1_prime(T(a)), d1_prime, tolerance) << a;
    EXPECT_CLOSE(growth.d2(T(a)), d2, tolerance) << a;
  };
  expect_values(1, 0.7789810168, 0.3994585425, 0.2623065208);
  expect_values(0.5, 0.4765850678, 0.4142883084, 0.0975188491);
  expect_values(0.1, 0.09995762228, 0.09983062845, 4.282152476e-3);
  expect_values(1.0 / 64, 0.01562497471, 0.01562489885, 1.046313643e-4);
}

TEST(Growth, HasTheReferenceValuesOfPlanckAndCcl) {
  Growth<> const planck(planck15_at_2_726());
  EXPECT_CLOSE(planck.d1(0.5) / planck.d1(1), 0.609245105, accuracy);
  EXPECT_CLOSE(planck.f1(1), 0.519990329, 2 * accuracy);  // nine digits
  EXPECT_CLOSE(planck.d2(1) / (planck.d1(1) * planck.d1(1)), 0.432194682, 2 * accuracy);
  Growth<> const ccl(ccl_tests());
  EXPECT_CLOSE(ccl.d1(0.5) / ccl.d1(1), 0.595956374, accuracy);
  EXPECT_CLOSE(ccl.f1(1), 0.559299811, accuracy);
}

TEST(Growth, HasTheReferenceValuesOfCurvedSpaceAndChangingDarkEnergy) {
  // the equations of D1 and D2 themselves, by a Python program in 80000 steps from a = 1e-9
  auto const v = Growth<>(curved_with_changing_dark_energy()).at(1);
  EXPECT_CLOSE(v.d1, 0.693096914221, accuracy);
  EXPECT_CLOSE(v.d1_prime, 0.358249060559, accuracy);
  EXPECT_CLOSE(v.d2, 0.209225407705, accuracy);
  EXPECT_CLOSE(v.d2_prime, 0.219904131316, accuracy);
}

TEST(Growth, HasTheValuesThatFastpmPrints) {
  // normalised to 1 today, both; six digits
  Growth<> const growth(Parameters<>{.omega_m = 0.307494});
  EXPECT_NEAR(growth.d1(0.1) / growth.d1(1), 0.127589, 5e-7);
  EXPECT_CLOSE(growth.d2(0.1) / growth.d2(1), 0.0161427,
               1e-5);  // as well as it solves its equations
  EXPECT_NEAR(growth.f1(0.1), 0.998774, 5e-7);
  EXPECT_NEAR(growth.f2(0.1), 1.9976, 5e-5);
  EXPECT_NEAR(growth.f1(1), 0.519985, 5e-7);
}

TEST(Growth, IsTheIntegralOfTheExpansionForACosmologicalConstant) {
  for (double const omega_k : {0.0, 0.2, -0.1}) {
    Parameters<> const p{.omega_m = 0.3, .omega_k = omega_k};
    Growth<> const growth(p, 1e-4, 2);
    for (double const a : {1e-4, 0.0123, 0.3, 0.777, 1.0, 2.0})
      EXPECT_CLOSE(growth.d1(a), d1_by_integral(p, a), accuracy) << omega_k << " " << a;
  }
}

TEST(Growth, SolvesItsEquationsBetweenTheStepsToo) {
  auto p = curved_with_changing_dark_energy();
  for (double const omega_r : {0.0, 9e-5}) {
    p.omega_r = omega_r;
    Growth<> const growth(p);
    // Derivatives by central differences of fourth order over several steps of the table: h^4/30 of
    // the fifth derivative, up to 10 of the value (32 and 64 for a^2), and what interpolation errs
    // by over h.
    double const h = 0.01, tolerance = h * h * h * h / 3 + 2 * 1e-11 / h;
    auto const derivative = [h](auto const& f, double a) {
      auto const at = [&](int i) { return f(a * std::exp(i * h)); };
      return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
    };
    for (double const a : {0.0021, 0.03, 0.2345, 0.5, 0.9}) {
      auto const v = growth.at(a);
      EXPECT_CLOSE(v.d1_prime, derivative([&](double x) { return growth.d1(x); }, a), tolerance);
      EXPECT_CLOSE(v.d2_prime, derivative([&](double x) { return growth.d2(x); }, a),
                   32 * tolerance);
      EXPECT_NEAR(v.d1_second, derivative([&](double x) { return growth.d1_prime(x); }, a),
                  tolerance * v.d1);
      EXPECT_NEAR(v.d2_second, derivative([&](double x) { return growth.d2_prime(x); }, a),
                  64 * tolerance * v.d2);
      double const q = expansion_rate_slope(p, a), m = 1.5 * omega_m_at(p, a);
      EXPECT_NEAR(v.d1_second + (2 + q) * v.d1_prime - m * v.d1, 0, 1e-14 * v.d1);
      EXPECT_NEAR(v.d2_second + (2 + q) * v.d2_prime - m * v.d2, m * v.d1 * v.d1, 1e-14 * v.d2);
    }
  }
}

TEST(Growth, GivesTheSameByOneAndByAll) {
  Growth<> const growth(planck15());
  auto const v = growth.at(0.4);
  EXPECT_EQ(growth.d1(0.4), v.d1);
  EXPECT_EQ(growth.d1_prime(0.4), v.d1_prime);
  EXPECT_EQ(growth.d1_second(0.4), v.d1_second);
  EXPECT_EQ(growth.d2(0.4), v.d2);
  EXPECT_EQ(growth.d2_prime(0.4), v.d2_prime);
  EXPECT_EQ(growth.d2_second(0.4), v.d2_second);
  EXPECT_DOUBLE_EQ(growth.f1(0.4), v.d1_prime / v.d1);
  EXPECT_DOUBLE_EQ(growth.f2(0.4), v.d2_prime / v.d2);
  EXPECT_DOUBLE_EQ(growth.momentum(0.4), 0.16 * expansion_rate(planck15(), 0.4) * v.d1_prime);
}

TEST(Growth, DoesNotDependOnWhereTheTableBegins) {
  for (double const omega_r : {0.0, 9e-5}) {
    auto p = curved_with_changing_dark_energy();
    p.omega_r = omega_r;
    Growth<> const growth(p), early(p, 1e-9, 1), late(p, 0.5, 1.5);
    for (double const a : {0.5, 0.81, 1.0}) {
      EXPECT_CLOSE(early.d1(a), growth.d1(a), accuracy) << a;
      EXPECT_CLOSE(late.d1(a), growth.d1(a), accuracy) << a;
      EXPECT_CLOSE(early.d2(a), growth.d2(a), accuracy) << a;
      EXPECT_CLOSE(late.d2(a), growth.d2(a), accuracy) << a;
    }
  }
}

// Dark energy that hardly fades in the past slows growth from the beginning on.
TEST(Growth, IsNormalisedToMatterHoweverSlowlyDarkEnergyFades) {
  auto const of = [](double omega_m, double omega_k, double w0, double wa) {
    auto p = einstein_de_sitter<double>();
    p.omega_m = omega_m;
    p.omega_k = omega_k;
    p.w0 = w0;
    p.wa = wa;
    return p;
  };
  for (auto const& p : {of(0.3, 0, -0.9, 0.89), of(0.3, 0, -0.9, 0.85), of(0.3, 0, -1, 0.9),
                        of(0.3, 0, -1, 0.75), of(0.3, 0, -1, 0.4), of(0.25, 0.03, -0.1, 0.05),
                        of(0.9, 0, -0.05, 0), of(1.2, 0, -0.5, 0.45)}) {
    Growth<> const growth(p);
    auto const [d1, f1, d2] = growth_from_the_beginning(p);
    // The reference itself leaves 1e-13 / n of growth out, and 1e-9 by its steps.
    EXPECT_CLOSE(growth.d1(1), d1, 1e-8) << p.w0 << " " << p.wa;
    EXPECT_CLOSE(growth.f1(1), f1, 1e-8) << p.w0 << " " << p.wa;
    EXPECT_CLOSE(growth.d2(1), d2, 1e-8) << p.w0 << " " << p.wa;
    Growth<float> const in_float(Parameters<float>{.omega_m = float(p.omega_m),
                                                   .omega_k = float(p.omega_k),
                                                   .w0 = float(p.w0),
                                                   .wa = float(p.wa)});
    EXPECT_CLOSE(in_float.d1(1), d1, 1e-3) << p.w0 << " " << p.wa;
  }
}

TEST(Growth, CantBeNormalisedWhereMatterNeverDominates) {
  auto p = simple_lcdm();
  p.w0 = -0.5;
  p.wa = 0.4999;
  auto const message = coir::testing::message_of([&] { Growth<>{p}; });
  EXPECT_NE(message.find("w0 + wa must be further below 0"), std::string::npos) << message;
  EXPECT_NE(message.find("-0.0001"), std::string::npos) << message;
  p.omega_r = 9e-5;
  EXPECT_NO_THROW(Growth<>{p});
}

TEST(Growth, OfMatterAndRadiationIsMeszarosSolution) {
  Parameters<> p{.omega_m = 1 - 1e-4, .omega_r = 1e-4};
  Growth<> const growth(p, 1e-7, 1);
  double const a_eq = p.omega_r / p.omega_m;
  for (double const a : {1e-7, 1e-5, 1e-4, 1e-2, 1.0}) {
    EXPECT_CLOSE(growth.d1(a), a + 2 * a_eq / 3, accuracy) << a;
    EXPECT_CLOSE(growth.d1_prime(a), a, 2 * accuracy) << a;
  }
  // D2 / a_eq^2 as a power series of y = a / a_eq, by the recurrence that its equation is; y^13 is
  // left out
  double const y = 0.1, source[] = {2.0 / 3, 2, 1.5};
  double series = 0, coefficient = 0, y_to_m = 1;
  for (int m = 0; m < 12; ++m) {
    coefficient = ((m < 3 ? source[m] : 0) - (m * (m - 1) + 1.5 * m - 1.5) * coefficient) /
                  ((m + 1) * (m + 1));
    y_to_m *= y;
    series += coefficient * y_to_m;
  }
  EXPECT_CLOSE(growth.d2(y * a_eq), a_eq * a_eq * series, 2 * accuracy);
  // and 3/7 D1^2 long after
  EXPECT_CLOSE(growth.d2(1) / (growth.d1(1) * growth.d1(1)), 3.0 / 7, 2e-3);
}

TEST(Growth, OutsideOfItsRangeNamesItAndWhatWasAsked) {
  Growth<> const growth(planck15(), 0.01, 1);
  for (double const a : {0.001, 1.1, -1.0, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW((void)growth.d1(a), coir::PreconditionError) << a;
  auto const message = coir::testing::message_of([&] { (void)growth.at(0.002); });
  EXPECT_NE(message.find("0.002"), std::string::npos) << message;
  EXPECT_NE(message.find("[0.01, 1]"), std::string::npos) << message;
  EXPECT_NO_THROW((void)growth.d1(1 + 1e-15));
}

TEST(Growth, NeedsARangeAndAPhysicalExpansion) {
  EXPECT_THROW(Growth<>(planck15(), 0, 1), coir::PreconditionError);
  EXPECT_THROW(Growth<>(planck15(), 1, 1), coir::PreconditionError);
  EXPECT_THROW(Growth<>(planck15(), 0.1, std::numeric_limits<double>::infinity()),
               coir::PreconditionError);
  EXPECT_THROW(Growth<>(Parameters<>{}), coir::PreconditionError);
  EXPECT_THROW(Growth<>(Parameters<>{.omega_m = 1.5, .omega_k = -0.5}, 0.1, 5),
               coir::PreconditionError);
}

TEST(Growth, WithHardlyAnyRadiationNeedsDoublePrecision) {
  auto const message = coir::testing::message_of(
      [] { Growth<float>(Parameters<float>{.omega_m = 0.3F, .omega_r = 1e-12F}); });
  EXPECT_NE(message.find("omega_r"), std::string::npos) << message;
  EXPECT_NE(message.find("1e-12"), std::string::npos) << message;
  EXPECT_NO_THROW(Growth<>(Parameters<>{.omega_m = 0.3, .omega_r = 1e-12}));
  Growth<float> const growth(Parameters<float>{.omega_m = 0.3F, .omega_r = 9e-5F});
  // as stated for single precision
  EXPECT_CLOSE(growth.d1(0.5F), Growth<>(Parameters<>{.omega_m = 0.3, .omega_r = 9e-5}).d1(0.5),
               2e-5);
}

TEST(Growth, KnowsWhatItWasMadeOf) {
  Growth<> const growth(planck15(), 0.25, 2);
  EXPECT_EQ(growth.parameters().h, 0.6774);
  EXPECT_EQ(growth.a_min(), 0.25);
  EXPECT_EQ(growth.a_max(), 2);
}
