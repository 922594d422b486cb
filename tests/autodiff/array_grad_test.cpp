#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>

#include <support/spaces.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

// Gradients are compared with plain loops over analytic derivatives, in double.

namespace {

using coir::Array;
using coir::PreconditionError;
using coir::Shape;

template <class T, class Space, int Rank>
std::vector<double> on_host(Array<T, Rank, Space> const& array) {
  Kokkos::View<T const*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const view(
      array.data(), static_cast<std::size_t>(array.size()));
  auto const copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  return {copy.data(), copy.data() + copy.size()};
}

/// Numbers in (low, high) without a pattern, the same on every machine.
template <class T, class Space, int Rank = 1>
Array<T, Rank, Space> scattered(Shape<Rank> const& shape, double low, double high, int seed = 0) {
  Array<T, Rank, Space> result(shape);
  Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const view(
      result.data(), static_cast<std::size_t>(result.size()));
  auto const values = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double const fraction = std::fmod(0.618033988749895 * double(i + 1) + 0.37 * seed, 1.0);
    values(i) = static_cast<T>(low + (high - low) * fraction);
  }
  Kokkos::deep_copy(view, values);
  return result;
}

std::vector<std::int64_t> const sizes = {0, 1, 2, 31, 513, 1009, 5000};

template <class C>
class ArrayGrad : public ::testing::Test {
 public:
  using T = typename C::Real;
  using Space = typename C::Exec::memory_space;
  static constexpr double eps = std::numeric_limits<T>::epsilon();

  static Array<T, 1, Space> numbers(std::int64_t n, double low, double high, int seed = 0) {
    return scattered<T, Space, 1>({n}, low, high, seed);
  }

  /// Each element within `tolerance` eps of `scale`, or of the element if that is more.
  static void expect_near(Array<T, 1, Space> const& got,
                          std::function<double(std::size_t)> expected, double tolerance,
                          double scale = 0) {
    auto const values = on_host(got);
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const exact = expected(i);
      ASSERT_NEAR(values[i], exact, tolerance * eps * std::max(std::abs(exact), scale))
          << "at " << i << " of " << values.size();
    }
  }
};
TYPED_TEST_SUITE(ArrayGrad, coir::testing::Cases, coir::testing::CaseName);

#define USING_CASE                             \
  using T = typename TestFixture::T;           \
  using Space = typename TestFixture::Space;   \
  [[maybe_unused]] auto const eps = this->eps; \
  [[maybe_unused]] Array<T, 1, Space> const none

}  // namespace

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
                 "an argument of shape (1,) is stretched to shape (4,)");
  expect_message([&] { coir::grad([&](auto x) { return norm(x * matrix); })(thin); },
                 "an argument of shape (1, 3) is stretched to shape (5, 3)");
  expect_message([&] { coir::grad([&](auto x) { return sum(x * y); })(x); }, "don't broadcast");
  expect_message([&] { coir::grad([](auto x) { return mean(x); })(this->numbers(0, 0, 1)); },
                 "(0,)");
  expect_message([&] { coir::grad([](auto x) { return max(x); })(this->numbers(0, 0, 1)); },
                 "(0,)");
  expect_message([&] { coir::grad([](auto x) { return min(x); })(this->numbers(0, 0, 1)); },
                 "(0,)");
  expect_message([&] { coir::grad([](auto x) { return sum(x); })(none); }, "no memory");
}
