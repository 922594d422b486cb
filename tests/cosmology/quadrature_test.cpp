#include <coir/cosmology/detail/quadrature.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using coir::cosmology::detail::gauss_legendre;

namespace {

double power(double x, int exponent) {
  double result = 1;
  for (int i = 0; i < exponent; ++i) result *= x;
  return result;
}

}  // namespace

TEST(GaussLegendre, IsExactForPolynomialsUpToDegreeNineteen) {
  for (int degree = 0; degree < 20; ++degree) {
    double const exact = (power(3.0, degree + 1) - power(-1.0, degree + 1)) / (degree + 1);
    auto const f = [degree](double x) { return power(x, degree); };
    // a sum of ten terms of one sign or nearly so, and as many roundings in each power
    EXPECT_NEAR(gauss_legendre(f, -1.0, 3.0), exact, 1e-14 * std::abs(exact)) << degree;
  }
  auto const f = [](double x) { return power(x, 20); };
  EXPECT_GT(std::abs(gauss_legendre(f, -1.0, 1.0) - 2.0 / 21), 1e-8);  // the first one that isn't
}

TEST(GaussLegendre, AddsUpPanels) {
  auto const f = [](double x) { return std::sin(x); };
  EXPECT_NEAR(gauss_legendre(f, 0.0, 100 * std::numbers::pi, 101), 0, 1e-12);
  EXPECT_NEAR(gauss_legendre(f, 0.0, 101 * std::numbers::pi, 101), 2, 1e-12);
}

TEST(GaussLegendre, ChangesSignWithTheDirectionAndIsZeroForNothing) {
  auto const f = [](double x) { return std::exp(x); };
  EXPECT_EQ(gauss_legendre(f, 1.0, 0.0), -gauss_legendre(f, 0.0, 1.0));
  EXPECT_EQ(gauss_legendre(f, 1.0, 1.0, 3), 0);
}

TEST(GaussLegendre, WorksInSinglePrecision) {
  auto const f = [](float x) { return std::exp(x); };
  EXPECT_NEAR(gauss_legendre(f, 0.0F, 1.0F), std::numbers::e - 1, 4e-7);
}
