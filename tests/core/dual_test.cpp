#include <coir/core/dual.hpp>
#include <coir/core/loops.hpp>

#include <support/typed_suite.hpp>

#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>
#include <vector>

// Every function is compared with its analytic derivatives in long double, which C++ has on its
// own.

namespace {

using Long = long double;
using coir::Dual;

Long const pi = std::numbers::pi_v<Long>;
Long const ln2 = std::numbers::ln2_v<Long>;
Long const ln10 = std::numbers::ln10_v<Long>;
Long const inv_sqrtpi = std::numbers::inv_sqrtpi_v<Long>;
Long const gamma_constant = std::numbers::egamma_v<Long>;

/// |g(x)| + |x g'(x)|: what one rounding of x and one of the result change.
template <class G>
Long conditioned(G const& g, Long x) {
  Long const h = 1e-5L;
  return std::abs(g(x)) + std::abs(g(x * (1 + h)) - g(x * (1 - h))) / (2 * h);
}

/// Each formula of a first derivative takes at most four functions, of 1 ulp each on their own, and
/// as many roundings; of a second one at most three times that, whose terms may cancel to some
/// extent.
constexpr int first_order = 8;
constexpr int second_order = 40;

template <class T>
using Twice = Dual<Dual<T, 1>, 1>;

/// f, f' and f'' by duals against df and ddf at some points.
template <class T, class F, class G, class H, class K>
void expect_derivatives(char const* name, std::vector<double> const& points, F const& f, G const& g,
                        H const& dg, K const& ddg) {
  Long const eps = std::numeric_limits<T>::epsilon();
  for (double const point : points) {
    T const x = static_cast<T>(point);
    Long const exact = static_cast<Long>(x);
    auto const once = f(Dual<T, 1>::variable(x));
    auto const twice = f(Twice<T>::variable(Dual<T, 1>::variable(x)));
    EXPECT_LE(std::abs(once.value - g(exact)), 4 * eps * conditioned(g, exact)) << name << " " << x;
    EXPECT_LE(std::abs(once.derivative[0] - dg(exact)), first_order * eps * conditioned(dg, exact))
        << name << "' at " << x;
    EXPECT_EQ(twice.value.value, once.value) << name << " " << x;
    // The same formulas, which the compiler may contract to other roundings.
    EXPECT_LE(std::abs(twice.derivative[0].value - once.derivative[0]),
              4 * eps * std::abs(once.derivative[0]))
        << name << "' at " << x;
    EXPECT_LE(std::abs(twice.derivative[0].derivative[0] - ddg(exact)),
              second_order * eps * conditioned(ddg, exact))
        << name << "'' at " << x;
  }
}

template <class T>
class DualNumbers : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DualNumbers, Reals);

}  // namespace

#define EXPECT_DERIVATIVES(points, f, first, second) \
  expect_derivatives<TypeParam>(                     \
      #f, points, [](auto x) { return f(x); },       \
      [](Long x) {                                   \
        using std::abs;                              \
        return std::f(x);                            \
      },                                             \
      [](Long x) -> Long { return first; }, [](Long x) -> Long { return second; })

TYPED_TEST(DualNumbers, ExponentialsAndLogarithms) {
  std::vector<double> const real = {-80,  -20, -3.7, -1,  -1e-3, -1e-9, 1e-9,
                                    0.01, 0.5, 1,    2.3, 20,    80};
  std::vector<double> const positive = {1e-15, 1e-3, 0.3, 0.999, 1.001, 1.7, 33, 1e15};
  EXPECT_DERIVATIVES(real, exp, std::exp(x), std::exp(x));
  EXPECT_DERIVATIVES(real, exp2, std::exp2(x) * ln2, std::exp2(x) * ln2 * ln2);
  EXPECT_DERIVATIVES(real, expm1, std::exp(x), std::exp(x));
  EXPECT_DERIVATIVES(positive, log, 1 / x, -1 / (x * x));
  EXPECT_DERIVATIVES(positive, log2, 1 / (x * ln2), -1 / (x * x * ln2));
  EXPECT_DERIVATIVES(positive, log10, 1 / (x * ln10), -1 / (x * x * ln10));
  EXPECT_DERIVATIVES((std::vector<double>{-0.999, -0.5, -1e-9, 1e-20, 1e-3, 0.3, 7, 1e10}), log1p,
                     1 / (1 + x), -1 / ((1 + x) * (1 + x)));
  EXPECT_DERIVATIVES((std::vector<double>{1e-10, 1e-3, 0.3, 1, 1.7, 33, 1e10}), sqrt,
                     1 / (2 * std::sqrt(x)), -1 / (4 * x * std::sqrt(x)));
  EXPECT_DERIVATIVES((std::vector<double>{-27, -1e-3, 1e-10, 1e-3, 0.3, 1, 33, 1e10}), cbrt,
                     std::cbrt(x) / (3 * x), -2 * std::cbrt(x) / (9 * x * x));
}

TYPED_TEST(DualNumbers, TrigonometricFunctions) {
  std::vector<double> const real = {-9,   -3.14, -1.5, -0.7, -1e-3, -1e-9,
                                    1e-9, 0.01,  0.8,  1.6,  3.2,   30};
  EXPECT_DERIVATIVES(real, sin, std::cos(x), -std::sin(x));
  EXPECT_DERIVATIVES(real, cos, -std::sin(x), -std::cos(x));
  EXPECT_DERIVATIVES(real, tan, 1 + std::tan(x) * std::tan(x),
                     2 * std::tan(x) * (1 + std::tan(x) * std::tan(x)));
  std::vector<double> const unit = {-0.9999, -0.8, -0.3, -1e-5, 1e-9, 0.01, 0.5, 0.7, 0.99};
  EXPECT_DERIVATIVES(unit, asin, 1 / std::sqrt((1 - x) * (1 + x)),
                     x / std::pow((1 - x) * (1 + x), 1.5L));
  EXPECT_DERIVATIVES(unit, acos, -1 / std::sqrt((1 - x) * (1 + x)),
                     -x / std::pow((1 - x) * (1 + x), 1.5L));
  EXPECT_DERIVATIVES((std::vector<double>{-1e6, -20, -1, -0.1, -1e-9, 1e-9, 0.4, 1, 3, 1e6}), atan,
                     1 / (1 + x * x), -2 * x / ((1 + x * x) * (1 + x * x)));
}

namespace {

Long sinc(Long x) {
  return x == 0 ? 1 : std::sin(Long(std::numbers::pi_v<Long>) * x) / (std::numbers::pi_v<Long> * x);
}

}  // namespace

// The series is used up to 0.2.
TYPED_TEST(DualNumbers, CardinalSine) {
  Long const pi = std::numbers::pi_v<Long>;
  auto const first = [&](Long x) { return (std::cos(pi * x) - sinc(x)) / x; };
  auto const second = [&](Long x) {
    return -pi * pi * sinc(x) - 2 * (std::cos(pi * x) - sinc(x)) / (x * x);
  };
  expect_derivatives<TypeParam>(
      "sinc", {-2.7, -0.5, -0.21, -0.19, 0.1, 0.19, 0.21, 0.9, 1.5, 3.3},
      [](auto x) {
        using coir::math::sinc;
        return sinc(x);
      },
      [](Long x) { return sinc(x); }, first, second);
  using D = Dual<Dual<TypeParam, 1>, 1>;
  auto const at_zero = sinc(D::variable(Dual<TypeParam, 1>::variable(TypeParam(0))));
  EXPECT_EQ(at_zero.value.value, 1);
  EXPECT_EQ(at_zero.derivative[0].value, 0);
  EXPECT_NEAR(at_zero.derivative[0].derivative[0], double(-pi * pi / 3),
              8 * double(std::numeric_limits<TypeParam>::epsilon()));
}

TYPED_TEST(DualNumbers, HyperbolicFunctions) {
  std::vector<double> const real = {-30, -8, -2, -0.5, -1e-3, -1e-9, 1e-9, 0.01, 0.7, 1.1, 5, 30};
  EXPECT_DERIVATIVES(real, sinh, std::cosh(x), std::sinh(x));
  EXPECT_DERIVATIVES(real, cosh, std::sinh(x), std::cosh(x));
  EXPECT_DERIVATIVES(real, tanh, 1 / (std::cosh(x) * std::cosh(x)),
                     -2 * std::tanh(x) / (std::cosh(x) * std::cosh(x)));
  EXPECT_DERIVATIVES((std::vector<double>{-1e9, -20, -1, -0.1, -1e-9, 1e-9, 0.4, 1, 3, 1e9}), asinh,
                     1 / std::sqrt(x * x + 1), -x / std::pow(x * x + 1, 1.5L));
  EXPECT_DERIVATIVES((std::vector<double>{1.001, 1.25, 2, 7, 1e9}), acosh,
                     1 / std::sqrt((x - 1) * (x + 1)), -x / std::pow((x - 1) * (x + 1), 1.5L));
  EXPECT_DERIVATIVES((std::vector<double>{-0.999, -0.5, -1e-9, 1e-9, 0.1, 0.7, 0.999}), atanh,
                     1 / ((1 - x) * (1 + x)), 2 * x / ((1 - x) * (1 - x) * (1 + x) * (1 + x)));
  // Large arguments, where naive formulas overflow or cancel.
  using T = TypeParam;
  T const huge = std::numeric_limits<T>::max() / 4;
  EXPECT_EQ(asinh(Dual<T, 1>::variable(huge)).derivative[0], 1 / huge);
  EXPECT_NEAR(acosh(Dual<T, 1>::variable(huge)).derivative[0] * huge, 1,
              4 * std::numeric_limits<T>::epsilon());
  EXPECT_EQ(tanh(Dual<T, 1>::variable(huge)).derivative[0], 0);
}

TYPED_TEST(DualNumbers, SecondDerivativesWhereFunctionsOverflow) {
  using T = TypeParam;
  auto const second = [](auto const& f, T x) {
    return f(Twice<T>::variable(Dual<T, 1>::variable(x))).derivative[0].derivative[0];
  };
  T const infinity = std::numeric_limits<T>::infinity();
  // cosh overflows at 89.4 in float and at 710.5 in double.
  T const overflow = std::is_same_v<T, float> ? T(89.5) : T(711);
  for (T const x : std::vector<T>{overflow, 712, 1e4, std::numeric_limits<T>::max() / 4}) {
    EXPECT_EQ(second([](auto const& d) { return tanh(d); }, x), 0) << x;
    EXPECT_EQ(second([](auto const& d) { return tanh(d); }, -x), 0) << x;
  }
  for (T const x : std::vector<T>{std::numeric_limits<T>::max(), -std::numeric_limits<T>::max()}) {
    EXPECT_EQ(second([](auto const& d) { return atan(d); }, x), 0) << x;
    EXPECT_EQ(second([](auto const& d) { return erf(d); }, x), 0) << x;
    EXPECT_EQ(second([](auto const& d) { return erfc(d); }, x), 0) << x;
  }
  T const large = 712;
  EXPECT_EQ(second([](auto const& d) { return exp(d); }, large), infinity);
  EXPECT_EQ(second([](auto const& d) { return sinh(d); }, -large), -infinity);
  EXPECT_EQ(second([](auto const& d) { return cosh(d); }, large), infinity);
}

TYPED_TEST(DualNumbers, ErrorAndGammaFunctions) {
  std::vector<double> const real = {-3, -0.9, -0.1, -1e-9, 1e-9, 0.2, 0.5, 1, 2.5, 5};
  EXPECT_DERIVATIVES(real, erf, 2 * inv_sqrtpi * std::exp(-x * x),
                     -4 * inv_sqrtpi * x * std::exp(-x * x));
  EXPECT_DERIVATIVES(real, erfc, -2 * inv_sqrtpi * std::exp(-x * x),
                     4 * inv_sqrtpi * x * std::exp(-x * x));

  // Known values of psi and psi', and their recurrences and reflection; see polygamma.hpp for the
  // bounds.
  using T = TypeParam;
  double const eps = std::numeric_limits<T>::epsilon();
  Long harmonic = 0, squares = 0;
  for (int n = 1; n < 40; ++n) {
    Long const psi = harmonic - gamma_constant, psi1 = pi * pi / 6 - squares;
    auto const x = Twice<T>::variable(Dual<T, 1>::variable(static_cast<T>(n)));
    auto const y = lgamma(x);
    EXPECT_NEAR(y.derivative[0].value, double(psi), 16 * eps * (1 + std::abs(double(psi)))) << n;
    EXPECT_NEAR(y.derivative[0].derivative[0], double(psi1), 16 * eps * double(psi1)) << n;
    if (n < 20) {
      auto const z = tgamma(x);
      double const g = std::tgamma(double(n));
      EXPECT_NEAR(z.derivative[0].value, g * double(psi),
                  24 * eps * g * (1 + std::abs(double(psi))));
      EXPECT_NEAR(z.derivative[0].derivative[0], g * double(psi * psi + psi1),
                  64 * eps * g * (1 + double(psi * psi + psi1)));
    }
    harmonic += Long(1) / n;
    squares += Long(1) / (Long(n) * n);
  }
  Long const at_half = -gamma_constant - 2 * ln2;  // psi(1/2)
  Long shifted = at_half;
  for (int n = 0; n < 10; ++n) {  // psi(-1/2 - n) = psi(1/2 - n) + 1 / (1/2 + n)
    EXPECT_NEAR(coir::math::digamma(T(0.5) - n), double(shifted),
                16 * eps * (1 + std::abs(double(shifted))));
    shifted += 1 / (Long(0.5) + n);
  }
  EXPECT_NEAR(coir::math::trigamma(T(0.5)), double(pi * pi / 2), 16 * eps * 5);
  EXPECT_NEAR(coir::math::trigamma(T(-0.5)), double(pi * pi / 2 + 4), 16 * eps * 10);
  EXPECT_NEAR(coir::math::digamma(T(0.25)), double(-gamma_constant - pi / 2 - 3 * ln2),
              16 * eps * 5.2);
  EXPECT_TRUE(std::isnan(coir::math::digamma(T(-3))));
  EXPECT_EQ(coir::math::digamma(T(0)), -std::numeric_limits<T>::infinity());
  EXPECT_TRUE(std::isnan(coir::math::digamma(std::numeric_limits<T>::quiet_NaN())));
}

TYPED_TEST(DualNumbers, KinksAndDomainEdgesAreAsDocumented) {
  using T = TypeParam;
  using D = Dual<T, 1>;
  T const infinity = std::numeric_limits<T>::infinity();
  auto const at = [](T x) { return D::variable(x); };
  EXPECT_EQ(abs(at(0)).derivative[0], 0);
  EXPECT_EQ(abs(at(-2)).derivative[0], -1);
  EXPECT_EQ(abs(at(3)).derivative[0], 1);
  EXPECT_EQ(sqrt(at(0)).derivative[0], infinity);
  EXPECT_EQ(cbrt(at(0)).derivative[0], infinity);
  EXPECT_EQ(asin(at(1)).derivative[0], infinity);
  EXPECT_EQ(asin(at(-1)).derivative[0], infinity);
  EXPECT_EQ(acos(at(1)).derivative[0], -infinity);
  EXPECT_EQ(acosh(at(1)).derivative[0], infinity);
  EXPECT_EQ(atanh(at(1)).derivative[0], infinity);
  EXPECT_EQ(log(at(0)).derivative[0], infinity);
  EXPECT_EQ(log1p(at(-1)).derivative[0], infinity);
  for (T const x : std::vector<T>{-2, -0.5, 0, 0.5, 1.7}) {
    EXPECT_EQ(floor(at(x)).derivative[0], 0);
    EXPECT_EQ(ceil(at(x)).derivative[0], 0);
    EXPECT_EQ(trunc(at(x)).derivative[0], 0);
    EXPECT_EQ(rint(at(x)).derivative[0], 0);
    EXPECT_EQ(round(at(x)).derivative[0], 0);
    EXPECT_EQ(sign(at(x)).derivative[0], 0);
    EXPECT_EQ(floor(at(x)).value, std::floor(x));
    EXPECT_EQ(ceil(at(x)).value, std::ceil(x));
    EXPECT_EQ(trunc(at(x)).value, std::trunc(x));
    EXPECT_EQ(rint(at(x)).value, std::rint(x));
    EXPECT_EQ(round(at(x)).value, std::round(x));
    EXPECT_EQ(sign(at(x)).value, x > 0 ? 1 : x < 0 ? -1 : 0);
  }
  EXPECT_TRUE(std::isnan(sign(at(std::numeric_limits<T>::quiet_NaN())).value));

  // An infinite slope stays in its own direction.
  auto const sum = sqrt(Dual<T, 2>::variable(0, 0)) + Dual<T, 2>::variable(1, 1);
  EXPECT_EQ(sum.derivative[0], infinity);
  EXPECT_EQ(sum.derivative[1], 1);

  // max(x, 1 - x) at 1/2, and its kin.
  EXPECT_EQ(maximum(at(0.5), 1 - at(0.5)).derivative[0], 0);
  EXPECT_EQ(minimum(at(0.5), 1 - at(0.5)).derivative[0], 0);
  EXPECT_EQ(maximum(at(2), 2).derivative[0], T(0.5));
  EXPECT_EQ(minimum(2, at(2)).derivative[0], T(0.5));
  EXPECT_EQ(fmax(at(2), 2).derivative[0], T(0.5));
  EXPECT_EQ(fmin(at(2), 2).derivative[0], T(0.5));
  EXPECT_EQ(fdim(at(2), 2).derivative[0], T(0.5));
  EXPECT_EQ(fdim(at(3), 2).derivative[0], 1);
  EXPECT_EQ(fdim(at(1), 2).derivative[0], 0);
  EXPECT_EQ(clip(at(2), 0, 2).derivative[0], T(0.5));
  EXPECT_EQ(clip(at(1), 0, 2).derivative[0], 1);
  EXPECT_EQ(clip(at(5), 0, 2).derivative[0], 0);
  EXPECT_EQ(clip(at(5), 0, 2).value, 2);
  T const nan = std::numeric_limits<T>::quiet_NaN();
  EXPECT_TRUE(std::isnan(maximum(at(1), nan).value));
  EXPECT_TRUE(std::isnan(minimum(nan, at(1)).value));
  EXPECT_EQ(fmax(at(1), nan).value, 1);
  EXPECT_EQ(fmax(at(1), nan).derivative[0], 1);
  EXPECT_EQ(fmin(nan, at(1)).derivative[0], 1);

  EXPECT_EQ(where(true, at(3), 1).derivative[0], 1);
  EXPECT_EQ(where(false, at(3), 1).derivative[0], 0);
}

TYPED_TEST(DualNumbers, PowersAlsoAtZero) {
  using T = TypeParam;
  using D = Dual<T, 2>;
  double const eps = std::numeric_limits<T>::epsilon();
  T const infinity = std::numeric_limits<T>::infinity();
  for (double const px : {0.01, 0.7, 1.0, 2.5, 30.0})
    for (double const py : {-3.0, -0.5, 0.0, 0.3, 1.0, 2.0, 5.5}) {
      T const x = static_cast<T>(px), y = static_cast<T>(py);
      D const a = D::variable(x, 0), b = D::variable(y, 1);
      Long const v = std::pow(Long(x), Long(y)), l = std::log(Long(x));
      double const wide =
          8 * eps * (1 + std::abs(double(y * l)));  // x^y amplifies errors by y log x
      double const dx = double(y * v / x), dy = double(v * l);
      EXPECT_NEAR(pow(a, b).value, double(v), wide * double(v));
      EXPECT_NEAR(pow(a, b).derivative[0], dx, wide * (std::abs(dx) + double(v)));
      EXPECT_NEAR(pow(a, b).derivative[1], dy, wide * (std::abs(dy) + double(v)));
      EXPECT_NEAR(pow(a, y).derivative[0], dx, wide * (std::abs(dx) + double(v)));
      EXPECT_EQ(pow(a, y).derivative[1], 0);
      EXPECT_NEAR(pow(x, b).derivative[1], dy, wide * (std::abs(dy) + double(v)));
      EXPECT_EQ(pow(x, b).derivative[0], 0);
      auto const twice = pow(Dual<D, 2>::variable(a, 0), Dual<D, 2>::variable(b, 1));
      double const dxx = double(y * (y - 1) * v / x / x), dxy = double(v / x * (1 + y * l)),
                   dyy = double(v * l * l);
      double const scale = double(v) * (1 + double(1 / x / x)) * (1 + double(y * y + l * l));
      EXPECT_NEAR(twice.derivative[0].derivative[0], dxx, 4 * wide * scale);
      EXPECT_NEAR(twice.derivative[0].derivative[1], dxy, 4 * wide * scale);
      EXPECT_NEAR(twice.derivative[1].derivative[0], dxy, 4 * wide * scale);
      EXPECT_NEAR(twice.derivative[1].derivative[1], dyy, 4 * wide * scale);
    }

  D const zero = D::variable(0, 0);
  EXPECT_EQ(pow(zero, 0).value, 1);
  EXPECT_EQ(pow(zero, 0).derivative[0], 0);
  EXPECT_EQ(pow(zero, 1).derivative[0], 1);
  EXPECT_EQ(pow(zero, 2).derivative[0], 0);
  EXPECT_EQ(pow(zero, 1.5).derivative[0], 0);
  EXPECT_EQ(pow(zero, 0.5).derivative[0], infinity);
  for (double const y : {0.0, 0.5, 1.0, 2.0}) {
    auto const p = pow(zero, D::variable(static_cast<T>(y), 1));
    EXPECT_EQ(p.derivative[1], 0) << y;
    EXPECT_EQ(p.derivative[0], pow(zero, y).derivative[0]) << y;
    EXPECT_EQ(pow(0, D::variable(static_cast<T>(y), 1)).derivative[1], 0) << y;
  }
  EXPECT_EQ(pow(0, D::variable(-1, 1)).derivative[1], -infinity);

  // Negative bases: integer exponents are fine along x, and only along x.
  EXPECT_EQ(pow(D::variable(-2, 0), 3).value, -8);
  EXPECT_EQ(pow(D::variable(-2, 0), 3).derivative[0], 12);
  EXPECT_EQ(pow(D::variable(-2, 0), D(3)).derivative[0], 12);
  EXPECT_EQ(pow(D::variable(-2, 0), D::variable(3, 1)).derivative[0], 12);
  EXPECT_TRUE(std::isnan(pow(D::variable(-2, 0), D::variable(3, 1)).derivative[1]));

  // Second derivatives at 0: along y there is nothing, in those of the first along x neither.
  using DD = Dual<D, 2>;
  for (double const y : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0}) {
    D const x_inner = D::variable(0, 0), y_inner = D::variable(static_cast<T>(y), 1);
    auto const p = pow(DD::variable(x_inner, 0), DD::variable(y_inner, 1));
    EXPECT_EQ(p.derivative[0].value, pow(zero, y).derivative[0]) << y;
    EXPECT_EQ(p.derivative[0].derivative[1], 0) << y;
    EXPECT_EQ(p.derivative[1].derivative[0], 0) << y;
    EXPECT_EQ(p.derivative[1].derivative[1], 0) << y;
  }
  auto const twice = [](double n) {
    return pow(Twice<T>::variable(Dual<T, 1>::variable(0)), n).derivative[0].derivative[0];
  };
  EXPECT_EQ(twice(0), 0);
  EXPECT_EQ(twice(1), 0);
  EXPECT_EQ(twice(2), 2);
  EXPECT_EQ(twice(3), 0);
  EXPECT_EQ(twice(1.5), infinity);
}

TYPED_TEST(DualNumbers, FunctionsOfTwoNumbers) {
  using T = TypeParam;
  using D = Dual<T, 2>;
  double const eps = std::numeric_limits<T>::epsilon();
  for (double const px : {-7.5, -1.0, -0.02, 0.3, 2.0, 40.0})
    for (double const py : {-3.0, -0.6, 0.05, 1.0, 9.0}) {
      T const x = static_cast<T>(px), y = static_cast<T>(py);
      D const a = D::variable(x, 0), b = D::variable(y, 1);
      double const xx = x, yy = y, r2 = xx * xx + yy * yy, r = std::sqrt(r2);
      auto const near = [&](D const& d, double value, double dx, double dy) {
        EXPECT_NEAR(d.value, value, 4 * eps * std::abs(value)) << x << " " << y;
        EXPECT_NEAR(d.derivative[0], dx, 6 * eps * std::abs(dx)) << x << " " << y;
        EXPECT_NEAR(d.derivative[1], dy, 6 * eps * std::abs(dy)) << x << " " << y;
      };
      near(atan2(b, a), std::atan2(yy, xx), -yy / r2, xx / r2);
      near(hypot(a, b), r, xx / r, yy / r);
      // The larger number and the logarithm may cancel, and rounding x - y counts |x - y| times in
      // the exponential.
      D const joined = logaddexp(a, b);
      double const bound = 6 * eps * (1 + std::abs(xx - yy));
      EXPECT_NEAR(joined.value, std::max(xx, yy) + std::log1p(std::exp(-std::abs(xx - yy))),
                  4 * eps * (1 + std::max(std::abs(xx), std::abs(yy))));
      EXPECT_NEAR(joined.derivative[0] * (1 + std::exp(yy - xx)), 1, bound) << x << " " << y;
      EXPECT_NEAR(joined.derivative[1] * (1 + std::exp(xx - yy)), 1, bound) << x << " " << y;
      Long const n = std::rint((Long(x) - std::fmod(x, y)) / y);
      EXPECT_EQ(fmod(a, b).value, std::fmod(x, y));
      EXPECT_EQ(fmod(a, b).derivative[0], 1);
      EXPECT_EQ(fmod(a, b).derivative[1], -n) << x << " " << y;
      Long const m = std::rint((Long(x) - std::remainder(x, y)) / y);
      EXPECT_EQ(remainder(a, b).value, std::remainder(x, y));
      EXPECT_EQ(remainder(a, b).derivative[0], 1);
      EXPECT_EQ(remainder(a, b).derivative[1], -m) << x << " " << y;
      EXPECT_EQ(copysign(a, b).value, std::copysign(x, y));
      EXPECT_EQ(copysign(a, b).derivative[0], (x < 0) == (y < 0) ? 1 : -1);
      EXPECT_EQ(copysign(a, b).derivative[1], 0);
      EXPECT_EQ(maximum(a, b).value, std::max(x, y));
      EXPECT_EQ(maximum(a, b).derivative[0], x > y ? 1 : x < y ? 0 : 0.5);
      EXPECT_EQ(minimum(a, b).derivative[0], x < y ? 1 : x > y ? 0 : 0.5);
      EXPECT_EQ(fdim(a, b).derivative[1], x > y ? -1 : x < y ? 0 : -0.5);
      EXPECT_EQ(fma(a, b, a).value, std::fma(x, y, x));
      EXPECT_EQ(fma(a, b, a).derivative[0], y + 1);
      EXPECT_EQ(fma(a, b, a).derivative[1], x);
      EXPECT_EQ(fma(x, b, 2).derivative[1], x);

      // d^2 r / dx dy = -x y / r^3, d^2 atan2 / dx dy = (y^2 - x^2) / r^4
      using DD = Dual<D, 2>;
      DD const aa = DD::variable(a, 0), bb = DD::variable(b, 1);
      EXPECT_NEAR(hypot(aa, bb).derivative[0].derivative[1], -xx * yy / (r * r2), 8 * eps / r);
      EXPECT_NEAR(hypot(aa, bb).derivative[0].derivative[0], yy * yy / (r * r2), 8 * eps / r);
      EXPECT_NEAR(atan2(bb, aa).derivative[1].derivative[0], (yy * yy - xx * xx) / (r2 * r2),
                  16 * eps / r2);
    }
  EXPECT_EQ(hypot(D::variable(0, 0), D::variable(0, 1)).derivative[0], 0);
  EXPECT_EQ(hypot(D::variable(0, 0), D::variable(0, 1)).derivative[1], 0);
  EXPECT_TRUE(std::isnan(atan2(D::variable(0, 0), D::variable(0, 1)).derivative[0]));
  // What has no slope along x and y has one along others.
  using D3 = Dual<T, 3>;
  auto const beside = D3::variable(5, 2) * atan2(D3::variable(0, 0), D3::variable(0, 1));
  EXPECT_TRUE(std::isnan(beside.derivative[0]));
  EXPECT_TRUE(std::isnan(beside.derivative[1]));
  EXPECT_EQ(beside.derivative[2], 0);
  EXPECT_EQ((atan2(D3::variable(0, 0), T(0)) + D3::variable(5, 2)).derivative[2], 1);
  EXPECT_EQ(copysign(D::variable(0, 0), D::variable(-2, 1)).derivative[0], 0);
  EXPECT_TRUE(std::signbit(copysign(D::variable(0, 0), D::variable(-2, 1)).value));
}

TYPED_TEST(DualNumbers, OperatorsFollowTheRulesOfCalculus) {
  using T = TypeParam;
  using D = Dual<T, 2>;
  T const x = 3, y = -2;  // products and sums of these are exact
  D const a = D::variable(x, 0), b = D::variable(y, 1);
  auto const is = [](D const& d, double value, double dx, double dy) {
    return d.value == T(value) && d.derivative[0] == T(dx) && d.derivative[1] == T(dy);
  };
  EXPECT_TRUE(is(a + b, 1, 1, 1));
  EXPECT_TRUE(is(a - b, 5, 1, -1));
  EXPECT_TRUE(is(a * b, -6, -2, 3));
  EXPECT_TRUE(is(a / b, -1.5, -0.5, -0.75));
  EXPECT_TRUE(is(-a, -3, -1, 0));
  EXPECT_TRUE(is(+a, 3, 1, 0));
  EXPECT_TRUE(is(a + 1, 4, 1, 0) && is(1 + a, 4, 1, 0));
  EXPECT_TRUE(is(a - 1, 2, 1, 0) && is(1 - a, -2, -1, 0));
  EXPECT_TRUE(is(a * 2.5, 7.5, 2.5, 0) && is(2.5 * a, 7.5, 2.5, 0));
  EXPECT_TRUE(is(b / 2, -1, 0, 0.5) && is(2 / b, -1, 0, -0.5));
  EXPECT_TRUE(is(square(b), 4, 0, -4));
  D c = a;
  c += b;
  c *= 2;
  c -= 1;
  c /= a;
  EXPECT_NEAR(c.value, 1 / 3., 1e-7);
  EXPECT_TRUE((std::is_same_v<decltype(2.5 * Dual<float, 1>()), Dual<float, 1>>));
  EXPECT_TRUE(a > b && a >= b && b < a && b <= a && a != b && !(a == b));
  EXPECT_TRUE(a > 2 && 2 < a && a == 3 && 3 == a && a != 4 && 4 != a && a <= 3.5 && a >= 3);
  EXPECT_TRUE(a == D(3));  // by value: derivatives don't count
  EXPECT_TRUE(isfinite(a) && !isnan(a) && isinf(a / T(0)));
  EXPECT_EQ(static_cast<T>((Dual<double, 2>(a).derivative[0])), 1);

  using DD = Dual<D, 2>;
  DD const p = DD::variable(a, 0), q = DD::variable(b, 1);
  auto const f = p * p * q / (1 + q) - 2 * p;  // d2/dx2 = 2 y / (1 + y) = 4
  EXPECT_EQ(f.derivative[0].derivative[0], 4);
  EXPECT_EQ(f.derivative[0].derivative[1], 6);  // 2 x / (1 + y)^2
  EXPECT_EQ(f.derivative[1].derivative[0], 6);
  EXPECT_EQ(f.derivative[1].derivative[1], 18);  // -2 x^2 / (1 + y)^3
  EXPECT_EQ((p * a).derivative[0].value, 3);     // what a dual is made of is a constant for it
  EXPECT_EQ((a * p).derivative[0].derivative[0], 1);
}

/// d/dx and d^2/dx^2 of x sin(x) at i / 8, computed in a kernel.
template <class Exec, class T>
std::pair<std::vector<T>, std::vector<T>> slopes_in_kernel(int n) {
  Kokkos::View<T*, typename Exec::memory_space> const first("first", n), second("second", n);
  coir::for_each(
      "coir::test::dual", Exec{}, coir::box({n}), KOKKOS_LAMBDA(int i) {
        using D = Dual<Dual<T, 1>, 1>;
        D const x = D::variable(Dual<T, 1>::variable(T(i) / T(8)));
        D const y = x * sin(x) + where(x > 1, pow(x, 2), exp(x) * T(0));
        first(i) = y.derivative[0].value;
        second(i) = y.derivative[0].derivative[0];
      });
  auto const first_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, first);
  auto const second_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, second);
  return {{first_h.data(), first_h.data() + n}, {second_h.data(), second_h.data() + n}};
}

COIR_TYPED_SUITE(DualKernels);

TYPED_TEST(DualKernels, DerivativesInAKernelAreTheAnalyticOnes) {
  using T = typename TypeParam::Real;
  double const eps = std::numeric_limits<T>::epsilon();
  for (int const n : std::vector<int>{0, 1, 31, 1009}) {
    auto const [first, second] = slopes_in_kernel<typename TypeParam::Exec, T>(n);
    for (int i = 0; i < n; ++i) {
      double const x = i / 8., more = x > 1 ? 1 : 0;
      // 4 ulp for sin and cos in a vector, 2 for the sum.
      double const scale = 6 * eps * (3 + 3 * x);
      EXPECT_NEAR(first[i], std::sin(x) + x * std::cos(x) + more * 2 * x, scale) << i;
      EXPECT_NEAR(second[i], 2 * std::cos(x) - x * std::sin(x) + more * 2, scale) << i;
    }
  }
}
