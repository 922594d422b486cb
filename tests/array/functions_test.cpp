#include <coir/array/all.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <complex>
#include <limits>

using namespace coir;
using coir::testing::array_of;
using coir::testing::values;

template <class Case>
class Functions : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Space = typename Case::Exec::memory_space;

  /// Points across [low, high]: more than one stretch of a row and an odd number of them.
  static std::vector<T> points(double low, double high, int count = 1009) {
    std::vector<T> result;
    for (int i = 0; i < count; ++i)
      result.push_back(static_cast<T>(low + (high - low) * i / std::max(count - 1, 1)));
    return result;
  }

  /// The distance in units of the last place of the exact value, which is known to more digits.
  static double ulps(T value, long double exact) {
    if (std::isnan(exact)) return std::isnan(value) ? 0 : 1e9;
    T const rounded = static_cast<T>(exact);
    if (value == rounded) return 0;
    if (!std::isfinite(rounded) || !std::isfinite(value)) return 1e9;
    T const size = std::max(std::abs(rounded), std::numeric_limits<T>::min());
    T const ulp = std::nextafter(size, std::numeric_limits<T>::infinity()) - size;
    return static_cast<double>(std::abs((static_cast<long double>(value) - exact) / ulp));
  }

  using Exact = long double (*)(long double);

  /// Both as a whole, and through strides, whose elements are gathered first.
  template <class F>
  static void compare(F const& f, Exact exact, double low, double high, double tolerance) {
    auto const x = points(low, high);
    auto const a = array_of<Space>(x, Shape<1>{static_cast<std::int64_t>(x.size())});
    compare(x, values(f(a)), values(f(flip(a))), exact, tolerance);
  }

  static void compare(std::vector<T> const& x, std::vector<T> const& together,
                      std::vector<T> const& apart, Exact exact, double tolerance) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      long double const right = exact(static_cast<long double>(x[i]));
      EXPECT_LE(ulps(together[i], right), tolerance) << "at " << x[i];
      EXPECT_LE(ulps(apart[x.size() - 1 - i], right), tolerance) << "at " << x[i] << ", backwards";
    }
  }
};
TYPED_TEST_SUITE(Functions, coir::testing::Cases, coir::testing::CaseName);

// Those that the cases of array_numpy_test leave out. glibc's vectorised functions are within 4
// ulp, CUDA's within 2 (most); half of one is the rounding.
#define CHECK(name, low, high, tolerance)                                                   \
  {                                                                                         \
    SCOPED_TRACE(#name);                                                                    \
    TestFixture::compare([](auto const& x) { return name(x); },                             \
                         [](long double x) { return std::name(x); }, low, high, tolerance); \
  }

TYPED_TEST(Functions, AreWithinFourUlp) {
  CHECK(exp, -20, 20, 4.5);
  CHECK(sin, -10, 10, 4.5);
  CHECK(erf, -3, 3, 4.5);
  CHECK(erfc, -3, 3, 4.5);
  CHECK(round, -3, 3, 0.5);
}

// tgamma: glibc's bound is 5 ulp or less, CUDA's 10; lgamma away from its zeros likewise.
TYPED_TEST(Functions, GammaFunctions) {
  TYPES_OF_CASE;
  TestFixture::compare([](auto const& x) { return tgamma(x); },
                       [](long double x) { return std::tgamma(x); }, 0.5, 20, 11);
  TestFixture::compare([](auto const& x) { return tgamma(x); },
                       [](long double x) { return std::tgamma(x); }, -6, -5.0625, 11);
  T const inf = std::numeric_limits<T>::infinity();
  auto const special =
      values(tgamma(array<T, Space>({inf, -inf, T(-3), T(NAN), T(0), -T(0), T(1000)})));
  EXPECT_EQ(special[0], inf);
  for (int i : {1, 2, 3}) EXPECT_TRUE(std::isnan(special[i])) << i;
  EXPECT_EQ(special[4], inf);
  EXPECT_EQ(special[5], -inf);
  EXPECT_EQ(special[6], inf);
  TestFixture::compare([](auto const& x) { return lgamma(x); },
                       [](long double x) { return std::lgamma(x); }, 3, 60, 11);
}

// What NumPy 2 says, which is what Python does where Python divides at all.
TYPED_TEST(Functions, FloorDivisionIsPythons) {
  TYPES_OF_CASE;
  T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  T const tenth = T(0.1), huge = T(1e30), tiny = std::numeric_limits<T>::denorm_min();
  struct Row {
    T x, y, quotient, rest;
  };
  std::vector<Row> const rows{
      {1, tenth, 9, std::fmod(T(1), tenth)},
      {-1, inf, -1, inf},
      {1, inf, 0, 1},
      {1, -inf, -1, -inf},
      {-1, -inf, 0, -1},
      {0, inf, 0, 0},
      {-T(0), inf, -T(0), 0},
      {inf, 2, nan, nan},
      {-inf, 2, nan, nan},
      {inf, inf, nan, nan},
      {nan, 1, nan, nan},
      {1, nan, nan, nan},
      {1, 0, inf, nan},
      {-1, 0, -inf, nan},
      {1, -T(0), -inf, nan},
      {0, 0, nan, nan},
      {-T(0), 2, -T(0), 0},
      {T(0), -2, -T(0), -T(0)},
      {-4, 2, -2, 0},
      {4, -2, -2, -T(0)},
      {-7, 2, -4, 1},
      {7, -2, -4, -1},
      {tiny, -1, -1, -1},
      {-tiny, 1, -1, 1},
      {huge, 1, huge, 0},
      {huge, tiny, inf, 0},
      {-tiny, huge, -1, huge},
  };
  std::vector<T> x, y;
  for (Row const& row : rows) {
    x.push_back(row.x);
    y.push_back(row.y);
  }
  Shape<1> const shape{static_cast<std::int64_t>(rows.size())};
  auto const a = array_of<Space>(x, shape), b = array_of<Space>(y, shape);
  auto const [both_quotients, both_rests] = divmod(a, b);
  auto const quotients = values(floor_divide(a, b)), rests = values(mod(a, b));
  auto const same = [](T p, T q) {
    return std::isnan(p) ? std::isnan(q) : p == q && std::signbit(p) == std::signbit(q);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(same(quotients[i], rows[i].quotient))
        << x[i] << " // " << y[i] << " is " << quotients[i];
    EXPECT_TRUE(same(rests[i], rows[i].rest)) << x[i] << " % " << y[i] << " is " << rests[i];
    EXPECT_TRUE(same(values(both_quotients)[i], quotients[i]));
    EXPECT_TRUE(same(values(both_rests)[i], rests[i]));
  }
}

// Quotients that round to an integer which they don't reach, and rests, which are exact.
TYPED_TEST(Functions, FloorDivisionRoundsTheExactQuotient) {
  TYPES_OF_CASE;
  std::vector<T> x, y;
  T divisor = T(0.7);
  for (int i = 0; i < 3000; ++i) {
    divisor = std::nextafter(divisor, T(2));
    T const multiple =
        divisor * std::ldexp(T(1 + i % 13), i % (std::numeric_limits<T>::digits - 7));
    for (T const near : {multiple, std::nextafter(multiple, T(0)), -multiple, multiple / 2}) {
      x.push_back(near);
      y.push_back(i % 2 == 0 ? divisor : -divisor);
    }
  }
  Shape<1> const shape{static_cast<std::int64_t>(x.size())};
  auto const a = array_of<Space>(x, shape), b = array_of<Space>(y, shape);
  auto const found = values(floor_divide(a, b)), rests = values(fmod(a, b)),
             nearest = values(remainder(a, b));
  auto const same = [](T one, T other) {
    return one == other && std::signbit(one) == std::signbit(other);
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    // Exact: the rest is, and what is left is a multiple of y.
    T rest = std::fmod(x[i], y[i]);
    long double exact = (static_cast<long double>(x[i]) - rest) / y[i];
    if (rest != 0 && std::signbit(rest) != std::signbit(y[i])) exact -= 1;
    ASSERT_EQ(found[i], static_cast<T>(std::round(exact))) << x[i] << " // " << y[i];
    ASSERT_TRUE(same(rests[i], std::fmod(x[i], y[i]))) << x[i] << " fmod " << y[i];
    ASSERT_TRUE(same(nearest[i], std::remainder(x[i], y[i]))) << x[i] << " rem " << y[i];
  }
}

// The same bits as those of the C library, signs of zeros among them; in vectors of the widest
// kind.
TYPED_TEST(Functions, RoundAsTheCLibraryDoes) {
  TYPES_OF_CASE;
  T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN(),
          large = std::ldexp(T(1), std::numeric_limits<T>::digits - 1);
  std::vector<T> x{T(0), inf, nan, large + 1, large / 2 + T(0.5), std::nextafter(T(0.5), T(0))};
  for (int i = 1; i < 60; ++i) {
    x.push_back(static_cast<T>(i) / 4);
    x.push_back(std::nextafter(static_cast<T>(i), T(0)));
  }
  for (std::size_t i = 0, size = x.size(); i < size; ++i) x.push_back(-x[i]);
  Shape<1> const shape{static_cast<std::int64_t>(x.size())};
  auto const a = array_of<Space>(x, shape);
  auto const down = values(floor(a)), up = values(ceil(a)), to_zero = values(trunc(a)),
             nearest = values(round(a)), smaller = values(fmin(a, flip(a))),
             larger = values(fmax(a, flip(a))), positive = values(fdim(a, T(3)));
  auto const same = [](T found, T expected) {
    return (found != found && expected != expected) ||
           (found == expected && std::signbit(found) == std::signbit(expected));
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    T const other = x[x.size() - 1 - i];
    EXPECT_TRUE(same(down[i], std::floor(x[i]))) << x[i];
    EXPECT_TRUE(same(up[i], std::ceil(x[i]))) << x[i];
    EXPECT_TRUE(same(to_zero[i], std::trunc(x[i]))) << x[i];
    EXPECT_TRUE(same(nearest[i], std::round(x[i]))) << x[i];
    EXPECT_TRUE(same(positive[i], std::fdim(x[i], T(3)))) << x[i];
    if (x[i] == other) continue;  // zeros of both signs: either of them
    EXPECT_TRUE(same(smaller[i], std::fmin(x[i], other))) << x[i] << ' ' << other;
    EXPECT_TRUE(same(larger[i], std::fmax(x[i], other))) << x[i] << ' ' << other;
  }
}

// In vectors of the widest kind, too.
TYPED_TEST(Functions, KindsOfNumbers) {
  TYPES_OF_CASE;
  T const inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> x;
  for (int i = 0; i < 40; ++i) x.insert(x.end(), {nan, inf, -inf, T(0), T(-1), T(2)});
  auto const a = array_of<Space>(x, Shape<1>{240});
  auto const nans = values(isnan(a)), infs = values(isinf(a)), finites = values(isfinite(a));
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(nans[i], std::isnan(x[i]));
    EXPECT_EQ(infs[i], std::isinf(x[i]));
    EXPECT_EQ(finites[i], std::isfinite(x[i]));
  }
}

TYPED_TEST(Functions, WhereTakesArraysExpressionsAndNumbers) {
  TYPES_OF_CASE;
  for (int n : {0, 1, 31, 513, 5000}) {
    auto const x = TestFixture::points(-2, 3, n);
    auto const a = array_of<Space>(x, Shape<1>{n});
    auto const selu = values(1.05 * where(a > 0, a, 1.67 * exp(a) - 1.67));
    auto const sides = values(where(a > 1, 1, where(a < -1, -1, T(0))));
    for (std::size_t i = 0; i < x.size(); ++i) {
      double const exact = 1.05 * (x[i] > 0 ? x[i] : 1.67 * std::exp(double(x[i])) - 1.67);
      // exp, two products and a difference of numbers below 1.67.
      EXPECT_NEAR(selu[i], exact,
                  (std::abs(exact) + 1.67 * 4) * std::numeric_limits<T>::epsilon() * 2);
      EXPECT_EQ(sides[i], x[i] > 1 ? 1 : x[i] < -1 ? -1 : 0);
    }
  }
}

template <class Space, class T>
std::vector<T> mapped(std::vector<T> const& x) {
  auto const a = array_of<Space>(x, Shape<1>{static_cast<std::int64_t>(x.size())});
  return values(map(KOKKOS_LAMBDA(T p, T q) { return p > q ? p - q : q * q; }, a, a * a));
}

TYPED_TEST(Functions, MapTakesTheUsersOwn) {
  using T = typename TestFixture::T;
  auto const x = TestFixture::points(-2, 3, 700);
  auto const found = mapped<typename TestFixture::Space>(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    T const square = x[i] * x[i];
    T const expected = x[i] > square ? x[i] - square : square * square;
    // The compiler may fuse the product into the difference.
    EXPECT_NEAR(found[i], expected, std::abs(square) * std::numeric_limits<T>::epsilon());
  }
}

TYPED_TEST(Functions, PartsOfComplexNumbers) {
  TYPES_OF_CASE;
  using Z = Kokkos::complex<T>;
  std::vector<Z> z;
  for (double x : {-3.0, -0.7, 0.0, 0.4, 1.0, 2.5})
    for (double y : {-2.0, -0.3, 0.2, 1.1, 3.0}) z.push_back(Z(T(x), T(y)));
  auto const a = array_of<Space>(z, Shape<1>{static_cast<std::int64_t>(z.size())});
  auto const sizes = values(abs(a)), angles = values(angle(a)), reals = values(real(a)),
             imags = values(imag(a));
  auto const conjugates = values(conj(a)), squares = values(square(a)),
             sums = values(2 * a + Z(0, 1));
  // Some roundings of products below 9.
  double const tolerance = 32 * double(std::numeric_limits<T>::epsilon());
  for (std::size_t i = 0; i < z.size(); ++i) {
    T const x = z[i].real(), y = z[i].imag();
    std::complex<double> const c(x, y);
    EXPECT_LE(TestFixture::ulps(sizes[i], std::abs(c)), 4.5);
    EXPECT_LE(TestFixture::ulps(angles[i], std::arg(c)), 4.5);
    EXPECT_EQ(reals[i], x);
    EXPECT_EQ(imags[i], y);
    EXPECT_EQ(conjugates[i], Z(x, -y));
    EXPECT_EQ(sums[i], Z(2 * x, 2 * y + 1));
    EXPECT_LE(std::abs(std::complex<double>(squares[i].real(), squares[i].imag()) - c * c),
              tolerance);
  }
}

TYPED_TEST(Functions, CastsDegreesAndReciprocals) {
  TYPES_OF_CASE;
  auto const x = array_of<Space>(std::vector<T>{T(-1.5), T(0.5), T(2), T(180)}, Shape<1>{4});
  EXPECT_EQ(values(cast<int>(x)), (std::vector<int>{-1, 0, 2, 180}));
  EXPECT_EQ(values(cast<T>(cast<bool>(x))), (std::vector<T>{1, 1, 1, 1}));
  EXPECT_EQ(values(reciprocal(x))[2], T(0.5));
  EXPECT_LE(TestFixture::ulps(values(radians(x))[3], std::numbers::pi_v<long double>), 1.5);
  EXPECT_LE(TestFixture::ulps(values(degrees(radians(x)))[3], 180.0L), 3);
}

TYPED_TEST(Functions, NumPysOwn) {
  TYPES_OF_CASE;
  using Z = Kokkos::complex<T>;
  using Limits = std::numeric_limits<T>;
  T const inf = Limits::infinity(), nan = Limits::quiet_NaN(), ln2 = std::numbers::ln2_v<T>;
  auto const near = [](std::vector<T> const& found, std::vector<T> const& right) {
    ASSERT_EQ(found.size(), right.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_LE(TestFixture::ulps(found[i], right[i]), 6) << i;
  };
  auto const of = [](std::vector<T> const& x) {
    return array_of<Space>(x, Shape<1>{static_cast<std::int64_t>(x.size())});
  };
  near(values(logaddexp(of({0, 1000, -1000, inf, -inf, inf, nan, 3}),
                        of({0, 1000, 0, inf, -inf, -inf, 1, nan}))),
       {ln2, 1000 + ln2, 0, inf, -inf, inf, nan, nan});
  near(values(sinc(of({0, -T(0), T(0.5), T(-0.25), nan}))),
       {1, 1, T(2 / std::numbers::pi), T(4 / std::numbers::pi * std::numbers::sqrt2 / 2), nan});
  EXPECT_EQ(values(cast<int>(signbit(of({0, -T(0), -1, 1, -inf, inf})))),
            (std::vector<int>{0, 1, 1, 0, 1, 0}));
  EXPECT_EQ(values(cast<int>(signbit(array<int, Space>({-3, 0, 3})))), (std::vector<int>{1, 0, 0}));
  EXPECT_EQ(values(nan_to_num(of({1, nan, inf, -inf}))),
            (std::vector<T>{1, 0, Limits::max(), Limits::lowest()}));
  EXPECT_EQ(values(nan_to_num(of({1, nan, inf, -inf}), 7, 8, -9)), (std::vector<T>{1, 7, 8, -9}));
  EXPECT_EQ(values(nan_to_num(of({nan, inf}), nan, inf, 0))[1], inf);
  if (sizeof(T) == 4) EXPECT_THROW(nan_to_num(of({inf}), 0, 1e300, -1e300), PreconditionError);
  EXPECT_EQ(values(nan_to_num(array<int, Space>({1, -2}))), (std::vector<int>{1, -2}));
  auto const z = array_of<Space>(std::vector<Z>{Z(nan, inf), Z(1, 2)}, Shape<1>{2});
  EXPECT_EQ(values(nan_to_num(z)), (std::vector<Z>{Z(0, Limits::max()), Z(1, 2)}));
  EXPECT_EQ(evaluate(sum(z(range(1, 2)))), Z(1, 2));
  EXPECT_EQ(values(degrees(array<int, Space>({0, 1}))),
            (std::vector<double>{0, 180 / std::numbers::pi}));
  EXPECT_EQ(values(radians(array<int, Space>({0, 180}))),
            (std::vector<double>{0, std::numbers::pi}));

  auto const m = array<T, Space>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(trace(m), T(6));
  EXPECT_EQ(trace(m, 1), T(8));
  EXPECT_EQ(trace(transpose(m), -1), T(8));
  EXPECT_EQ(trace(m, 3), T(0));
  EXPECT_EQ(trace(array<std::int8_t, Space>({{100, 0}, {0, 100}})), 200);
  EXPECT_THROW(trace(m, 4), PreconditionError);
}

// Numbers beside arrays are given as they are: 3.0f as a float, 2 as an int.
struct TimesPlus {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x, float factor, int more) const {
    return x * T(factor) + T(more);
  }
  void operator()(auto, double, auto) const = delete;
  void operator()(auto, auto, double) const = delete;
};

TYPED_TEST(Functions, MapTakesNumbersBesideArrays) {
  using T = typename TestFixture::T;
  auto const x = array<T, typename TestFixture::Space>({1, 2, -4});
  EXPECT_EQ(values(map(TimesPlus{}, x, 3.0f, 2)), (std::vector<T>{5, 8, -10}));
}

// Beside the cases of array_numpy_test: shifts beyond the type's bits, logic, and statements that
// change an array.
template <class Space>
void check_integers() {
  using I = std::int32_t;
  auto const a = array_of<Space>(std::vector<I>{7, -7, 0, 12, 5}, Shape<1>{5});
  auto const b = array_of<Space>(std::vector<I>{2, 2, 0, 0, 3}, Shape<1>{5});
  EXPECT_EQ(values(b << 32)[0], 0);
  EXPECT_EQ(values(a >> 40)[1], -1);
  EXPECT_EQ(values(pow(b, -1)), (std::vector<I>{0, 0, 0, 0, 0}));
  auto const yes = evaluate(a > 0), other = evaluate(b > 0);
  EXPECT_EQ(values(cast<I>(yes && other)), (std::vector<I>{1, 0, 0, 0, 1}));
  EXPECT_EQ(values(cast<I>(yes || other)), (std::vector<I>{1, 1, 0, 1, 1}));
  EXPECT_EQ(values(cast<I>(!yes)), (std::vector<I>{0, 1, 1, 0, 0}));
  EXPECT_EQ(values(cast<I>(yes ^ other)), (std::vector<I>{0, 1, 0, 1, 0}));
  EXPECT_EQ(values(yes + other), (std::vector<I>{2, 1, 0, 1, 2}));
  auto const small = array_of<Space>(std::vector<std::uint8_t>{200, 100}, Shape<1>{2});
  EXPECT_EQ(values(small + small), (std::vector<std::uint8_t>{144, 200}));  // wraps around
  auto c = evaluate(a);
  c = 6;
  c += 1;
  c *= b;
  c -= 2;
  c /= 2;
  c %= 5;
  EXPECT_EQ(values(c), (std::vector<I>{1, 1, -1, -1, 4}));
  c = 12;
  c &= 10;
  c |= 1;
  c ^= 3;
  c <<= 2;
  c >>= 1;
  EXPECT_EQ(values(c), std::vector<I>(5, (((12 & 10) | 1) ^ 3) * 2));
}

// Python's quotients by one number, rounded down. 0 and -1 follow the rules of operators.
template <class Space, class I>
void check_quotients_by_one_number() {
  constexpr I least = std::numeric_limits<I>::min(), most = std::numeric_limits<I>::max();
  std::vector<I> x;
  for (I const near : {least, I(0), most, I(most / 3)})
    for (int i = -50; i <= 50; ++i)
      if ((near > least || i >= 0) && (near < most || i <= 0))
        x.push_back(static_cast<I>(near + i));
  auto const a = array_of<Space>(x, Shape<1>{static_cast<std::int64_t>(x.size())});
  for (I const y : {I(1), I(2), I(3), I(7), I(10), I(641), I(most / 2 + 1), I(most - 1), most,
                    I(-1), I(-7), least, I(0)}) {
    auto const found = values(floor_divide(a, y));
    for (std::size_t i = 0; i < x.size(); ++i) {
      I expected = 0;
      if (y == -1)
        expected = x[i] == least ? least : static_cast<I>(-x[i]);
      else if (y != 0)
        expected = static_cast<I>(x[i] / y - (x[i] % y != 0 && (x[i] < 0) != (y < 0) ? 1 : 0));
      ASSERT_EQ(found[i], expected) << x[i] << " // " << y;
    }
  }
}

TEST(Operators, QuotientsByOneNumberAreRoundedDown) {
  check_quotients_by_one_number<Kokkos::HostSpace, std::int32_t>();
  check_quotients_by_one_number<DefaultSpace, std::int64_t>();
}

TEST(Operators, OfIntegers) {
  check_integers<Kokkos::HostSpace>();
  check_integers<DefaultSpace>();
}
