#include <autodiff/array_grad.hpp>

#include <string>

using coir::Array;
using coir::PreconditionError;
using coir::Shape;
using coir::testing::ArrayGrad;
using coir::testing::on_host;
using coir::testing::scattered;
using coir::testing::sizes;

TYPED_TEST_SUITE(ArrayGrad, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(ArrayGrad, SumOfAFunctionIsItsDerivativeElementByElement) {
  USING_CASE;
  for (std::int64_t const n : sizes) {
    auto const x = this->numbers(n, -1, 2);
    auto const [value, slope] =
        coir::value_and_grad([](auto x) { return sum(square(cos(x)) * exp(-x)); })(x);
    auto const x_h = on_host(x);
    double total = 0;
    for (double const v : x_h) total += std::cos(v) * std::cos(v) * std::exp(-v);
    // Each term to 4 ulp for each of two functions and some roundings, and their pairwise sum.
    EXPECT_NEAR(value, total, 32 * eps * (total + 1)) << n;
    ASSERT_EQ(slope.shape(), x.shape());
    this->expect_near(
        slope,
        [&](std::size_t i) {
          double const c = std::cos(x_h[i]), s = std::sin(x_h[i]);
          return -c * (2 * s + c) * std::exp(-x_h[i]);
        },
        24, 4);
  }
}

TYPED_TEST(ArrayGrad, ValueIsWhatTheReductionItselfGives) {
  USING_CASE;
  for (std::int64_t const n : sizes) {
    auto const x = this->numbers(n, -1, 2);
    // Copies and halves are exact, so that nothing can be rounded differently.
    auto const f = [](auto const& x) { return sum(T(0.5) * x); };
    EXPECT_EQ(coir::value_and_grad(f)(x).value, f(x)) << n;
  }
}

TYPED_TEST(ArrayGrad, SeveralArgumentsHaveAGradientEach) {
  USING_CASE;
  for (std::int64_t const n : sizes) {
    auto const x = this->numbers(n, 0.5, 2), y = this->numbers(n, -1, 1, 1);
    auto const z = this->numbers(n, 1, 3, 2), captured = this->numbers(n, 0, 1, 3);
    auto const [value, slopes] = coir::value_and_grad([&](auto x, auto y, auto z) {
      return sum(log(x) * y / z + captured * y) - 2 * dot(x, z) / 3 + 1;
    })(x, y, z);
    auto const a = on_host(x), b = on_host(y), c = on_host(z), w = on_host(captured);
    double total = 1, size = 1;
    for (std::size_t i = 0; i < a.size(); ++i) {
      double const term = std::log(a[i]) * b[i] / c[i] + w[i] * b[i] - 2 * a[i] * c[i] / 3;
      total += term;
      size += 2 * a[i] * c[i];
    }
    EXPECT_NEAR(value, total, 32 * eps * size) << n;
    auto const& [dx, dy, dz] = slopes;
    this->expect_near(dx, [&](std::size_t i) { return b[i] / (a[i] * c[i]) - 2 * c[i] / 3; }, 8, 2);
    this->expect_near(dy, [&](std::size_t i) { return std::log(a[i]) / c[i] + w[i]; }, 8, 1);
    this->expect_near(
        dz, [&](std::size_t i) { return -std::log(a[i]) * b[i] / (c[i] * c[i]) - 2 * a[i] / 3; }, 8,
        2);
  }
}

TYPED_TEST(ArrayGrad, MeanDividesByTheNumberOfElements) {
  USING_CASE;
  for (std::int64_t const n : sizes) {
    if (n == 0) continue;
    auto const x = this->numbers(n, -2, 2);
    auto const [value, slope] = coir::value_and_grad([](auto x) { return mean(square(x)); })(x);
    auto const x_h = on_host(x);
    double total = 0;
    for (double const v : x_h) total += v * v / double(n);
    EXPECT_NEAR(value, total, 32 * eps * total);
    this->expect_near(slope, [&](std::size_t i) { return 2 * x_h[i] / double(n); }, 4);
  }
}

TYPED_TEST(ArrayGrad, NormIsAUnitVector) {
  USING_CASE;
  for (std::int64_t const n : sizes) {
    auto const x = this->numbers(n, -2, 2);
    auto const [value, slope] = coir::value_and_grad([](auto x) { return norm(x); })(x);
    auto const x_h = on_host(x);
    double squares = 0;
    for (double const v : x_h) squares += v * v;
    EXPECT_NEAR(value, std::sqrt(squares), 32 * eps * std::sqrt(squares));
    this->expect_near(slope, [&](std::size_t i) { return x_h[i] / std::sqrt(squares); }, 32);
  }
  auto const at_zero =
      coir::grad([](auto x) { return norm(x); })(Array<T, 1, Space>(coir::zeros<T, Space>(5)));
  this->expect_near(at_zero, [](std::size_t) { return 0.0; }, 0);
}

TYPED_TEST(ArrayGrad, ExtremesShareTheirDerivative) {
  USING_CASE;
  for (std::int64_t const n : sizes) {
    if (n == 0) continue;
    auto const x = this->numbers(n, -2, 2);
    auto const x_h = on_host(x);
    auto const [low, low_slope] = coir::value_and_grad([](auto x) { return min(3 * x); })(x);
    auto const [high, high_slope] = coir::value_and_grad([](auto x) { return max(x); })(x);
    double const least = *std::min_element(x_h.begin(), x_h.end());
    double const largest = *std::max_element(x_h.begin(), x_h.end());
    EXPECT_EQ(low, T(3) * T(least));
    EXPECT_EQ(high, T(largest));
    this->expect_near(low_slope, [&](std::size_t i) { return x_h[i] == least ? 3 : 0; }, 0);
    this->expect_near(high_slope, [&](std::size_t i) { return x_h[i] == largest ? 1 : 0; }, 0);

    auto const ties = coir::grad([](auto x) { return max(minimum(floor(x), -1) + x * 0); })(x);
    this->expect_near(ties, [](std::size_t) { return 0; }, 0);
    // All equal: each has 1 / n. On devices and hosts alike the count is exact here.
    auto const equal =
        coir::grad([](auto x) { return max(x); })(Array<T, 1, Space>(0 * x + T(1.5)));
    this->expect_near(equal, [&](std::size_t) { return 1 / double(n); }, 1);
  }
}

TYPED_TEST(ArrayGrad, ProductsAreTakenApartAtZeros) {
  USING_CASE;
  auto const f = coir::value_and_grad([](auto x) { return prod(x); });
  for (std::int64_t const n :
       {std::int64_t(0), std::int64_t(1), std::int64_t(2), std::int64_t(31)}) {
    auto const x = this->numbers(n, 0.8, 1.3);
    auto const x_h = on_host(x);
    double product = 1;
    for (double const v : x_h) product *= v;
    auto const [value, slope] = f(x);
    EXPECT_NEAR(value, product, 32 * eps * product);
    this->expect_near(slope, [&](std::size_t i) { return product / x_h[i]; }, 34);

    if (n < 2) continue;
    Array<T, 1, Space> one_zero = x;
    one_zero(coir::range(1, 2)) = 0;
    auto const [zero, one_slope] = f(one_zero);
    EXPECT_EQ(zero, 0);
    this->expect_near(one_slope, [&](std::size_t i) { return i == 1 ? product / x_h[1] : 0; }, 34);
    Array<T, 1, Space> two_zeros = x;
    two_zeros(coir::range(0, 2)) = 0;
    auto const [zero_too, two_slope] = f(two_zeros);
    EXPECT_EQ(zero_too, 0);
    this->expect_near(two_slope, [](std::size_t) { return 0; }, 0);
  }
}

TYPED_TEST(ArrayGrad, MatricesSlicesAndExpressionsAreArgumentsToo) {
  USING_CASE;
  for (auto const& shape : std::vector<Shape<2>>{{1, 1}, {3, 0}, {17, 61}, {61, 17}, {3, 1009}}) {
    auto const x = scattered<T, Space, 2>(shape, -1, 1);
    auto const row = scattered<T, Space, 1>({shape[1]}, 0, 1, 5);
    // A captured row is stretched over the argument.
    auto const slope = coir::grad([&](auto x) { return sum(x * x * row); })(x);
    ASSERT_EQ(slope.shape(), shape);
    auto const x_h = on_host(x), row_h = on_host(row), slope_h = on_host(slope);
    for (std::size_t i = 0; i < x_h.size(); ++i)
      ASSERT_NEAR(slope_h[i], 2 * x_h[i] * row_h[i % row_h.size()], 4 * eps);

    // Every second column, backwards, beside a contiguous array.
    auto const part = x(coir::range(), coir::range(coir::end, coir::end, -2));
    Array<T, 2, Space> const w = part * 0 + 2;
    auto const [value, slopes] =
        coir::value_and_grad([](auto x, auto w) { return sum(x * w); })(part, w);
    Array<T, 2, Space> const copied = part;
    EXPECT_EQ(on_host(slopes[0]), on_host(w));
    EXPECT_EQ(on_host(slopes[1]), on_host(copied));
    auto const doubled = coir::grad([](auto x) { return sum(x * x); })(2 * x);
    auto const doubled_h = on_host(doubled);
    for (std::size_t i = 0; i < x_h.size(); ++i) ASSERT_EQ(doubled_h[i], T(4) * T(x_h[i]));
  }
}

TYPED_TEST(ArrayGrad, ArraysOfRankZeroAreArgumentsToo) {
  USING_CASE;
  Array<T, 0, Space> x(Shape<0>{});
  x = 3;
  auto const [value, slope] = coir::value_and_grad([](auto x) { return sum(x * x); })(x);
  EXPECT_EQ(value, 9);
  EXPECT_EQ(slope.item(), 6);
}

TYPED_TEST(ArrayGrad, ArgumentsThatDoNotEnterHaveTheGradientZero) {
  USING_CASE;
  auto const x = this->numbers(31, 0, 1), y = this->numbers(31, 0, 1, 1);
  auto const slopes = coir::grad([](auto x, auto) { return sum(x); })(x, y);
  this->expect_near(slopes[0], [](std::size_t) { return 1; }, 0);
  this->expect_near(slopes[1], [](std::size_t) { return 0; }, 0);
}

TYPED_TEST(ArrayGrad, CapturedDoublesKeepTheirPrecisionUntilTheGradientIsStored) {
  USING_CASE;
  auto const x = this->numbers(31, 0, 1);
  auto const w = scattered<double, Space, 1>({31}, 0, 1, 2);
  auto const [value, slope] = coir::value_and_grad([&](auto x) { return sum(x * w); })(x);
  EXPECT_TRUE((std::is_same_v<std::remove_const_t<decltype(value)>, double>));
  auto const w_h = on_host(w), slope_h = on_host(slope);
  for (std::size_t i = 0; i < 31; ++i) EXPECT_EQ(slope_h[i], double(T(w_h[i])));
}

namespace {

template <class Call>
void expect_message(Call const& call, std::string const& text) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (PreconditionError const& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace

TYPED_TEST(ArrayGrad, ErrorsNameTheShapes) {
  USING_CASE;
  auto const x = this->numbers(3, 0, 1), y = this->numbers(4, 0, 1), one = this->numbers(1, 0, 1);
  auto const matrix = scattered<T, Space, 2>({5, 3}, 0, 1);
  auto const thin = scattered<T, Space, 2>({1, 3}, 0, 1);
  expect_message([&] { coir::grad([](auto x, auto) { return sum(x); })(x, y); },
                 "one shape, not (3,) and (4,)");
  expect_message([&] { coir::grad([&](auto x) { return sum(x * y); })(one); },
                 "an argument of shape (1,) can't be stretched to shape (4,)");
  expect_message([&] { coir::grad([&](auto x) { return norm(x * matrix); })(thin); },
                 "an argument of shape (1, 3) can't be stretched to shape (5, 3)");
  expect_message([&] { coir::grad([&](auto x) { return sum(x * y); })(x); }, "don't broadcast");
  expect_message([&] { coir::grad([](auto x) { return mean(x); })(this->numbers(0, 0, 1)); },
                 "(0,)");
  expect_message([&] { coir::grad([](auto x) { return max(x); })(this->numbers(0, 0, 1)); },
                 "(0,)");
  expect_message([&] { coir::grad([](auto x) { return min(x); })(this->numbers(0, 0, 1)); },
                 "(0,)");
  expect_message([&] { coir::grad([](auto x) { return sum(x); })(none); }, "no memory");
}
