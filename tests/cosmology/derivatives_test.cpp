#include <coir/autodiff/grad.hpp>
#include <coir/core/dual.hpp>
#include <coir/cosmology/factors.hpp>
#include <coir/cosmology/power.hpp>

#include <gtest/gtest.h>

#include "sets.hpp"

#include <array>
#include <cmath>
#include <vector>

// Derivatives by dual numbers against differences.

namespace {

using namespace coir::cosmology;
using coir::testing::curved_with_changing_dark_energy;

template <class T>
using Member = T Parameters<T>::*;

/// The parameters that P(k) depends on, with the amplitude by sigma8 or A_s.
template <class T>
std::vector<Member<T>> members(bool by_sigma8) {
  using P = Parameters<T>;
  return {&P::omega_m, &P::omega_b, &P::h,  &P::n_s,  by_sigma8 ? &P::sigma8 : &P::A_s,
          &P::omega_k, &P::w0,      &P::wa, &P::t_cmb};
}

constexpr int count = 9;
using D = coir::Dual<double, count>;

/// p with each of its parameters along a direction of its own.
Parameters<D> variables(Parameters<> const& p) {
  auto const of_double = members<double>(p.sigma8 > 0);
  auto const of_dual = members<D>(p.sigma8 > 0);
  Parameters<D> result = parameters_as<D>(p);
  for (int i = 0; i < count; ++i) result.*of_dual[i] = D::variable(p.*of_double[i], i);
  return result;
}

/// The relative rounding of what comes from the growth functions. From a = 1e-6, or 3e-7 with
/// radiation, to 1 there are up to 1930 steps, each of which adds four terms to G1 = D1/a: 7700
/// roundings by eps/2 at most, of which a compiler may spare any by contraction. They are as good
/// as random, with a standard deviation of eps/sqrt(12) each, and 5.6e-15 together. G2's equation
/// adds as many of its own to twice those of G1 in its source: 1.7e-14 at most. Differences and
/// quotients of these come to the same here. This is six standard deviations.
constexpr double growth_noise = 1e-13;

/// The derivatives of f, a function of parameters that returns a number, by duals are differences
/// of fourth order, with steps h of 5e-4 of a parameter p or of 0.05: for powers up to p^10 these
/// err by less than 1e5 h^4/30 < 1e-9, and by the relative rounding of f, `noise`, over h. Its
/// values are rounded in duals and in doubles, each with contractions of its own.
template <class F>
void expect_derivatives(Parameters<> const& p, F const& f, double noise = 5e-15) {
  D const value = f(variables(p));
  EXPECT_CLOSE(value.value, f(p), 2 * noise);
  auto const list = members<double>(p.sigma8 > 0);
  for (int i = 0; i < count; ++i) {
    bool const is_amplitude = i == 4;  // A_s is small, and far from 0 all the same
    double const scale = is_amplitude ? p.*list[i] : std::max(std::abs(p.*list[i]), 0.05);
    double const step = 5e-4;
    auto const at = [&](int steps) {
      Parameters<> q = p;
      q.*list[i] += steps * step * scale;
      return f(q);
    };
    double const difference = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step * scale);
    double const tolerance = (1e-9 + 2 * noise / step) * std::abs(value.value) / scale;
    EXPECT_NEAR(value.derivative[i], difference, tolerance) << "parameter " << i;
  }
}

std::array<Parameters<>, 3> cosmologies() {
  return {simple_lcdm(), planck15(), curved_with_changing_dark_energy()};
}

}  // namespace

TEST(DerivativesByParameters, OfTheBackgroundAreThoseOfDifferences) {
  for (auto const& p : cosmologies()) {
    expect_derivatives(p, [](auto const& q) { return expansion_rate(q, 0.4); });
    expect_derivatives(p, [](auto const& q) { return expansion_rate_slope(q, 0.4); });
    expect_derivatives(p, [](auto const& q) { return omega_m_at(q, 0.7); });
    expect_derivatives(p, [](auto const& q) { return transverse_distance(q, 0.3); });
  }
}

TEST(DerivativesByParameters, OfGrowthAreThoseOfDifferences) {
  for (auto p : cosmologies())
    for (double const omega_r : {0.0, 9e-5}) {
      p.omega_r = omega_r;
      auto const growth = [](auto const& q, auto const& f) {
        using T = std::remove_cvref_t<decltype(q.omega_m)>;
        return f(Growth<T>(q, 0.1), T(0.37), T(0.9));
      };
      auto const expect_growth = [&](auto const& f) {
        expect_derivatives(p, [&](auto const& q) { return growth(q, f); }, growth_noise);
      };
      expect_growth([](auto const& g, auto const& a, auto const&) { return g.d1(a); });
      expect_growth([](auto const& g, auto const& a, auto const&) { return g.d1_second(a); });
      expect_growth([](auto const& g, auto const& a, auto const&) { return g.d2_prime(a); });
      expect_growth(
          [](auto const& g, auto const& a, auto const& b) { return fastpm_drift(g, a, a, b); });
      expect_growth(
          [](auto const& g, auto const& a, auto const& b) { return fastpm_kick(g, a, a, b); });
      expect_growth(
          [](auto const& g, auto const& a, auto const& b) { return bullfrog_dkd(g, a, b).alpha; });
    }
}

TEST(DerivativesByParameters, OfPlainFactorsAreThoseOfDifferences) {
  for (auto const& p : cosmologies()) {
    expect_derivatives(p, [](auto const& q) { return quinn_drift(q, 0.3, 0.6); });
    expect_derivatives(p, [](auto const& q) { return quinn_kick(q, 0.3, 0.6); });
  }
}

TEST(DerivativesByParameters, OfPowerAreThoseOfDifferences) {
  for (auto const& p : cosmologies())
    for (auto const transfer : {TransferFunction::eisenstein_hu, TransferFunction::no_wiggle})
      for (double const k : {0.004, 0.13, 2.0})
        expect_derivatives(
            p,
            [&](auto const& q) {
              using T = std::remove_cvref_t<decltype(q.omega_m)>;
              return LinearPower<T>(q, transfer)(T(k), T(0.5));
            },
            2 * growth_noise);  // P goes with the square of D1
}

TEST(DerivativesByParameters, OfRadiationAreThoseOfDifferences) {
  using D1 = coir::Dual<double, 1>;
  auto p = parameters_as<D1>(planck15());
  double const omega_r = 9e-5, h = 1e-3 * omega_r;
  p.omega_r = D1::variable(omega_r);
  Growth<D1> const growth(p);
  auto const at = [](double x, auto const& f) {
    auto q = planck15();
    q.omega_r = x;
    return f(Growth<>(q));
  };
  auto const d1 = [](auto const& g) { return g.d1(0.5); };
  auto const d2 = [](auto const& g) { return g.d2(0.5); };
  auto const difference = [&](auto const& f) {
    return (at(omega_r + h, f) - at(omega_r - h, f)) / (2 * h);
  };
  // 1e-13 of D over h, next to derivatives of about D / omega_m
  EXPECT_NEAR(growth.d1(0.5).derivative[0], difference(d1), 1e-5);
  EXPECT_NEAR(growth.d2(0.5).derivative[0], difference(d2), 1e-5);
}

TEST(DerivativesByScale, AreThoseOfTheGrowthFunctions) {
  // dD/da = D' / a. The slope of a cubic errs by up to h^3 / (72 sqrt 3) of the fourth derivative,
  // h = 1/128
  using D1 = coir::Dual<double, 1>;
  Growth<D1> const growth(parameters_as<D1>(planck15()));
  for (double const a : {0.01, 0.5, 1.0}) {
    auto const v = growth.at(D1::variable(a));
    EXPECT_CLOSE(v.d1.derivative[0] * a, v.d1_prime.value, 1e-7) << a;
    EXPECT_CLOSE(v.d2.derivative[0] * a, v.d2_prime.value, 1e-7) << a;
    EXPECT_CLOSE(v.d1_prime.derivative[0] * a, v.d1_second.value, 1e-7) << a;
  }
}

TEST(DerivativesByScale, OfATableAreItsSlope) {
  using D1 = coir::Dual<double, 1>;
  std::vector<double> const k = {0.1, 0.2, 0.4, 0.8}, p = {80, 40, 20, 10};  // 8 / k
  LinearPower<D1> const power(parameters_as<D1>(planck15()), PowerTable(k, p));
  EXPECT_CLOSE(power(D1::variable(0.3)).derivative[0], -8 / 0.09, 1e-13);
}

TEST(DerivativesByParameters, OfASpectrumNormalisedToSigma8AreExactForIt) {
  // P is proportional to sigma8^2
  D const power = LinearPower<D>(variables(planck15()))(D(0.1));
  EXPECT_CLOSE(power.derivative[4], 2 * power.value / 0.8159, 1e-13);
  EXPECT_NEAR(power.derivative[7], 0, 1e-10 * power.value);  // wa: no effect on the shape today
}

TEST(DerivativesByParameters, ComeByGradToo) {
  auto const rate = [](auto omega_m, auto w0) {
    Parameters<decltype(omega_m)> const p{.omega_m = omega_m, .w0 = w0};
    return expansion_rate(p, 0.5);
  };
  auto const [along_m, along_w] = coir::grad(rate)(0.3, -1.0);
  double const e = std::sqrt(0.3 * 8 + 0.7);
  EXPECT_NEAR(along_m, (8 - 1) / (2 * e), 1e-14);
  EXPECT_NEAR(along_w, 0.7 * 3 * std::log(2) / (2 * e), 1e-14);
}
