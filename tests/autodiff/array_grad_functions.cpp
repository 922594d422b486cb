// Functions of elements and of reductions: apart from array_grad_test.cpp, because compilers take
// gigabytes for them.

#include <autodiff/array_grad.hpp>

using coir::Array;
using coir::testing::ArrayGrad;
using coir::testing::on_host;
using coir::testing::sizes;

TYPED_TEST_SUITE(ArrayGrad, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(ArrayGrad, FunctionsOfReductionsFollowTheChainRule) {
  USING_CASE;
  for (std::int64_t const n : sizes) {
    if (n == 0) continue;
    auto const x = this->numbers(n, -1, 1);
    auto const x_h = on_host(x);
    double sum_exp = 0, squares = 0;
    for (double const v : x_h) {
      sum_exp += std::exp(v);
      squares += v * v;
    }
    // log-sum-exp: its gradient is softmax.
    auto const [value, softmax] = coir::value_and_grad([](auto x) { return log(sum(exp(x))); })(x);
    EXPECT_NEAR(value, std::log(sum_exp), 32 * eps * (1 + std::abs(std::log(sum_exp))));
    this->expect_near(softmax, [&](std::size_t i) { return std::exp(x_h[i]) / sum_exp; }, 40);
    // A product and a quotient of sums, and a power.
    auto const [mixed, slope] = coir::value_and_grad([](auto x) {
      auto const s = sum(x * x);
      auto const e = sum(exp(x));
      return s * e - 2 / e + pow(s / e, 3) - sqrt(e);
    })(x);
    double const s = squares, e = sum_exp, r = s / e;
    double const size = s * e + r * r * r + std::sqrt(e) + 2 / e;
    EXPECT_NEAR(mixed, s * e - 2 / e + r * r * r - std::sqrt(e), 96 * eps * size) << n;
    this->expect_near(
        slope,
        [&](std::size_t i) {
          double const ds = 2 * x_h[i], de = std::exp(x_h[i]);
          return ds * e + s * de + 2 * de / (e * e) + 3 * r * r * (ds * e - s * de) / (e * e) -
                 de / (2 * std::sqrt(e));
        },
        128, e + s + 2);
  }
}

TYPED_TEST(ArrayGrad, FunctionsOfTwoReductionsFollowTheChainRule) {
  USING_CASE;
  for (std::int64_t const n : {std::int64_t(1), std::int64_t(31), std::int64_t(1009)}) {
    auto const x = this->numbers(n, 0.5, 2);
    auto const x_h = on_host(x);
    double s = 0, q = 0;
    for (double const v : x_h) {
      s += v / double(n);
      q += v * v / double(n);
    }
    auto const [value, slope] = coir::value_and_grad([](auto x) {
      auto const s = mean(x);
      auto const q = mean(x * x);
      return hypot(s, 3) + atan2(s, q) + pow(q, s) + pow(2, s) + 5 * maximum(q, s * s - 1) -
             minimum(7, q);
    })(x);
    double const h = std::hypot(s, 3), r = s * s + q * q, p = std::pow(q, s), e = std::exp2(s);
    EXPECT_NEAR(value, h + std::atan2(s, q) + p + e + 4 * q, 64 * eps * (h + p + e + 4 * q)) << n;
    double const along_s = s / h + q / r + p * std::log(q) + e * std::log(2.0);
    double const along_q = -s / r + p * s / q + 4;
    this->expect_near(
        slope, [&](std::size_t i) { return (along_s + 2 * x_h[i] * along_q) / double(n); }, 128);
  }
}

TYPED_TEST(ArrayGrad, ElementwiseFunctionsWorkOnDuals) {
  USING_CASE;
  auto const x = this->numbers(1009, 0.1, 0.9);
  auto const x_h = on_host(x);
  auto const slope_of = [&](auto f) { return coir::grad([f](auto x) { return sum(f(x)); })(x); };
  auto const check = [&](auto f, std::function<double(double)> slope) {
    this->expect_near(slope_of(f), [&](std::size_t i) { return slope(x_h[i]); }, 24, 1);
  };
  check([](auto x) { return sin(x) + tan(x) - atan(x); },
        [](double x) { return std::cos(x) + 1 / (std::cos(x) * std::cos(x)) - 1 / (1 + x * x); });
  check([](auto x) { return asin(x) * acos(x); },
        [](double x) { return (std::acos(x) - std::asin(x)) / std::sqrt(1 - x * x); });
  check([](auto x) { return sinh(x) + cosh(x) + tanh(x); },
        [](double x) { return std::exp(x) + 1 / (std::cosh(x) * std::cosh(x)); });
  check([](auto x) { return log2(x) * 0 + log1p(x) + expm1(x) + exp2(x); },
        [](double x) { return 1 / (1 + x) + std::exp(x) + std::exp2(x) * std::log(2.0); });
  check([](auto x) { return pow(x, 2.5) + pow(2, x) + pow(x, x); },
        [](double x) {
          return 2.5 * std::pow(x, 1.5) + std::exp2(x) * std::log(2.0) +
                 std::pow(x, x) * (1 + std::log(x));
        });
  check([](auto x) { return sqrt(x) / (1 + x) + 1 / x; },
        [](double x) { return (1 - x) / (2 * std::sqrt(x) * (1 + x) * (1 + x)) - 1 / (x * x); });
  check([](auto x) { return where(x > 0.5, square(x), 3 * x) + abs(x - 0.5); },
        [](double x) { return (x > 0.5 ? 2 * x : 3) + (x > 0.5 ? 1 : -1); });
  check([](auto x) { return clip(x, 0.3, 0.7) + maximum(x, 0.5) - minimum(0.25, x); },
        [](double x) { return (x > 0.3 && x < 0.7) + (x > 0.5) - (x < 0.25); });
  check([](auto x) { return hypot(x, 1) + atan2(x, 2) + fmax(x, 0) + erf(x); },
        [](double x) {
          return x / std::hypot(x, 1) + 2 / (4 + x * x) + 1 +
                 2 / std::sqrt(M_PI) * std::exp(-x * x);
        });
  check([](auto x) { return floor(5 * x) + mod(5 * x, 1) + where(isfinite(x), x, 0.0); },
        [](double) { return 6; });
  check([](auto x) { return -x + x * x / 2 - 3 / (1 + x) + cbrt(x) * 0 + (x - 1) * (2 - x); },
        [](double x) { return -1 + x + 3 / ((1 + x) * (1 + x)) + 3 - 2 * x; });
}
