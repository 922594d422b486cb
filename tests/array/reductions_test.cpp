#include <coir/array/all.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace coir;
using coir::testing::array_of;
using coir::testing::message_of;
using coir::testing::random_array;
using coir::testing::values;

COIR_TYPED_SUITE(Reductions);

// Whole numbers: sums are exact in any order.
TYPED_TEST(Reductions, AreThoseOfPlainLoops) {
  TYPES_OF_CASE;
  for (std::int64_t n : {1, 2, 31, 32, 33, 513, 1009, 5000, 70001}) {
    auto const a =
        random_array<T, Space>(Shape<1>{n}, static_cast<std::uint32_t>(n), n > 5000 ? 10 : 50);
    auto const x = values(a);
    T total = 0, least = x[0], most = x[0], squares = 0;
    std::int64_t where_least = 0, where_most = 0, count = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      total += x[i];
      squares += x[i] * x[i];
      if (x[i] < least) least = x[where_least = i];
      if (x[i] > most) most = x[where_most = i];
      count += x[i] != 0;
    }
    EXPECT_EQ(sum(a), total) << n;
    EXPECT_EQ(sum(a * a), squares) << n;
    EXPECT_EQ(sum(flip(a)), total) << n;
    EXPECT_EQ(dot(a, a), squares) << n;
    EXPECT_EQ(min(a), least) << n;
    EXPECT_EQ(max(a), most) << n;
    EXPECT_EQ(argmin(a), where_least) << n;
    EXPECT_EQ(argmax(a), where_most) << n;
    EXPECT_EQ(count_nonzero(a), count) << n;
    EXPECT_EQ(any(a > 49), most > 49) << n;
    EXPECT_EQ(all(a > -50), least > -50) << n;
    EXPECT_EQ(any(a != a), false) << n;
    EXPECT_NEAR(norm(a), std::sqrt(squares),
                2 * std::sqrt(squares) * std::numeric_limits<T>::epsilon());
    EXPECT_EQ(mean(a), total / static_cast<T>(n)) << n;
  }
}

// Rows that end within a vector, and such that are longer than what one fold in lanes takes.
TYPED_TEST(Reductions, OfRowsOfAnyLength) {
  TYPES_OF_CASE;
  for (std::int64_t n : {1, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 97, 100, 128, 511, 512, 513}) {
    auto a = random_array<T, Space>(Shape<2>{3, n}, static_cast<std::uint32_t>(n), 50);
    auto const x = values(a);
    std::vector<T> totals, squares, least, most, exponentials;
    for (auto row = x.begin(); row != x.end(); row += n) {
      T total = 0, square = 0, exponential = 0;
      for (auto element = row; element != row + n; ++element) {
        total += *element;
        square += *element * *element;
        exponential += std::exp(*element / 64);
      }
      totals.push_back(total);
      squares.push_back(square);
      exponentials.push_back(exponential);
      least.push_back(*std::min_element(row, row + n));
      most.push_back(*std::max_element(row, row + n));
    }
    EXPECT_EQ(values(sum(a, 1)), totals) << n;
    EXPECT_EQ(values(sum(flip(a, 1), 1)), totals) << n;
    EXPECT_EQ(values(sum(a * a, 1)), squares) << n;
    EXPECT_EQ(values(min(a, 1)), least) << n;
    EXPECT_EQ(values(max(a, 1)), most) << n;
    auto const found = values(sum(exp(a / 64), 1));
    // n additions, and functions that are right to 4 ulp.
    T const tolerance = static_cast<T>(n + 8) * std::numeric_limits<T>::epsilon();
    for (std::size_t r = 0; r < 3; ++r)
      EXPECT_NEAR(found[r], exponentials[r], tolerance * exponentials[r]) << n;
    a(0, 0) = std::numeric_limits<T>::quiet_NaN();
    a(2, n - 1) = std::numeric_limits<T>::quiet_NaN();
    auto const largest = values(max(a, 1));
    EXPECT_TRUE(std::isnan(largest[0]) && largest[1] == most[1] && std::isnan(largest[2])) << n;
  }
}

TYPED_TEST(Reductions, IndicesCountInCOrder) {
  TYPES_OF_CASE;
  auto a = zeros<T, Space>(50, 70);
  a(13, 69) = 5;
  a(49, 0) = 5;
  a(20, 20) = -1;
  EXPECT_EQ(argmax(a), 13 * 70 + 69);
  EXPECT_EQ(argmin(a), 20 * 70 + 20);
  EXPECT_EQ(argmax(transpose(a)), 49);
}

// Devices read long rows 16 bytes at a time where addresses and lengths allow it.
TYPED_TEST(Reductions, OfVeryLongRows) {
  TYPES_OF_CASE;
  std::int64_t const n = (1 << (runs_on_host<typename Space::execution_space> ? 20 : 22)) + 16,
                     top = n - 100'001;
  auto x = zeros<T, Space>(n);
  x = cast<T>(indices<0>(x.shape()) % 3 - 1);
  x(range(top, top + 1)) = 7;
  for (auto const& [first, last] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, n}, {8, n - 8}, {1, n - 7}, {8, n - 5}}) {
    SCOPED_TRACE("from " + std::to_string(first) + " to " + std::to_string(last));
    std::int64_t total = 0, positive = 0;
    for (std::int64_t i = first; i < last; ++i) {
      std::int64_t const value = i == top ? 7 : i % 3 - 1;
      total += value;
      positive += value > 0;
    }
    auto const part = x(range(first, last));
    EXPECT_EQ(sum(part), static_cast<T>(total));
    EXPECT_EQ(max(part), T(7));
    EXPECT_EQ(argmax(part), top - first);
    EXPECT_EQ(count_nonzero(part > 0), positive);
    EXPECT_TRUE(any(part > 6) && !any(part > 7));
    EXPECT_EQ(static_cast<T>(sum(part, 0)), static_cast<T>(total));
    EXPECT_EQ(static_cast<T>(max(part, 0)), T(7));
    EXPECT_EQ(static_cast<std::int64_t>(argmax(part, 0)), top - first);
  }
}

// One element that differs, at the places where blocks and vectors begin and end.
TYPED_TEST(Reductions, OfMasks) {
  TYPES_OF_CASE;
  for (std::int64_t const n : {1, 63, 64, 129, 1023, 1025, 40000}) {
    Array<bool, 1, Space> none(Shape<1>{n}), all_true(Shape<1>{n});
    none = false;
    all_true = true;
    EXPECT_FALSE(any(none));
    EXPECT_TRUE(all(all_true));
    EXPECT_EQ(sum(all_true), n);
    EXPECT_EQ(count_nonzero(all_true), n);
    EXPECT_EQ(values(nonzero(all_true)).size(), static_cast<std::size_t>(n));
    for (std::int64_t const at : {std::int64_t(0), n / 2, n - 1}) {
      auto one = copy(none), but_one = copy(all_true);
      one(at) = true;
      but_one(at) = false;
      EXPECT_TRUE(any(one)) << n << ' ' << at;
      EXPECT_FALSE(all(but_one)) << n << ' ' << at;
      EXPECT_TRUE(any(!but_one)) << n << ' ' << at;
      EXPECT_TRUE(all(!one || one)) << n << ' ' << at;
      EXPECT_EQ(sum(one), 1) << n << ' ' << at;
      EXPECT_EQ(count_nonzero(but_one), n - 1) << n << ' ' << at;
      EXPECT_EQ(values(nonzero(one)), std::vector<std::int64_t>{at}) << n;
      auto const rows = with_axis(one, 0);
      EXPECT_EQ(values(any(rows, 1)), std::vector<bool>{true}) << n << ' ' << at;
      EXPECT_EQ(values(sum(rows, 1)), std::vector<std::int64_t>{1}) << n << ' ' << at;
    }
  }
}

TYPED_TEST(Reductions, NaNIsTheExtreme) {
  TYPES_OF_CASE;
  T const nan = std::numeric_limits<T>::quiet_NaN();
  for (std::int64_t n : {1, 40, 5000}) {
    auto a = zeros<T, Space>(n);
    a = cast<T>(indices<0>(a.shape()));
    a(n / 2) = nan;
    EXPECT_TRUE(std::isnan(max(a)));
    EXPECT_TRUE(std::isnan(min(a)));
    EXPECT_TRUE(std::isnan(sum(a)));
    EXPECT_EQ(argmax(a), n / 2);
    EXPECT_EQ(argmin(a), n / 2);
  }
  auto infinite = full<T, Space>(Shape<1>{100}, -std::numeric_limits<T>::infinity());
  EXPECT_EQ(max(infinite), -std::numeric_limits<T>::infinity());
  EXPECT_EQ(argmax(infinite), 0);
}

// Pairwise sums: at most log2(n) + 30 roundings of the sum of absolute values (each lane adds 16
// terms, and lanes, stretches and groups are joined pairwise). A running sum of a million would be
// off by thousands.
TYPED_TEST(Reductions, SumsAreAccurate) {
  TYPES_OF_CASE;
  for (std::int64_t n : {1000, 100'003, 3'000'000}) {
    Array<T, 1, Space> a(Shape<1>{n});
    a = cast<T>(0.1 + 0.01 * sin(cast<double>(indices<0>(a.shape()))));
    long double exact = 0;
    for (T const x : values(a)) exact += static_cast<long double>(x);
    double const bound = (std::log2(double(n)) + 30) * std::numeric_limits<T>::epsilon() / 2;
    EXPECT_NEAR(static_cast<double>(sum(a) / exact), 1, bound) << n;
    EXPECT_NEAR(static_cast<double>(sum(reshape(a(range(0, n / 10 * 10)), Shape<2>{-1, 10}), 0)(3)),
                static_cast<double>(sum(a(range(3, n / 10 * 10, 10)))),
                2 * bound * static_cast<double>(exact) / 10)
        << n;
  }
}

// A lone integer is an axis: ddof has to be named.
static_assert(!std::is_convertible_v<int, Ddof>);

TYPED_TEST(Reductions, DeviationsAreThoseOfTwoPasses) {
  TYPES_OF_CASE;
  for (std::int64_t n : {2, 31, 5000}) {
    Array<T, 1, Space> a(Shape<1>{n});
    a = cast<T>(1000 + sin(cast<double>(indices<0>(a.shape()))));
    long double middle = 0, squares = 0;
    for (T const x : values(a)) middle += static_cast<long double>(x) / n;
    for (T const x : values(a)) squares += (x - middle) * (x - middle);
    // Differences from a mean of 1000 are known to 1000 epsilon each.
    double const tolerance = 2000 * std::numeric_limits<T>::epsilon();
    EXPECT_NEAR(var(a), double(squares / n), 2 * tolerance);
    EXPECT_NEAR(var(a, ddof(1)), double(squares / (n - 1)), 4 * tolerance);
    EXPECT_NEAR(std_dev(a), std::sqrt(double(squares / n)), 4 * tolerance);
  }
  EXPECT_EQ(message_of([] { var(ones<T, Space>(1), ddof(1)); }),
            "a variance needs more elements than ddof = 1, not 1");
  EXPECT_EQ(message_of([] { ddof(std::numeric_limits<std::int64_t>::min()); }),
            "ddof must be at least -2^62, not -9223372036854775808");
}

// Small integers are widened before they are multiplied and added. Beside array_numpy_test:
// operands of two types, and an axis.
template <class Space>
void check_small_integers() {
  auto const bytes = full<std::uint8_t, Space>(Shape<1>{5}, std::uint8_t(200));
  auto const small = array<std::int8_t, Space>({-128, 127, -128, 127, -128});
  static_assert(std::is_same_v<decltype(dot(bytes, bytes)), std::uint64_t>);
  EXPECT_EQ(vdot(bytes, bytes), 200000u);
  static_assert(std::is_same_v<decltype(dot(small, small)), std::int64_t>);
  EXPECT_EQ(dot(small, bytes), 200 * -130);
  EXPECT_EQ(dot(bytes > 3, small), -130);
  EXPECT_EQ(norm(small(range(0, 1))), 128);
  EXPECT_EQ(values(sum(full<std::int8_t, Space>({2, 3}, std::int8_t(100)), 1)),
            (std::vector<std::int64_t>{300, 300}));
}

TEST(ReductionsOfSmallIntegers, DontWrapAround) {
  check_small_integers<Kokkos::HostSpace>();
  check_small_integers<DefaultSpace>();
}

template <class Space>
void check_other_types() {
  auto const i =
      array_of<Space>(std::vector<std::int32_t>{2'000'000'000, 2'000'000'000, -3}, Shape<1>{3});
  static_assert(std::is_same_v<decltype(sum(i)), std::int64_t>);
  EXPECT_EQ(prod(i(range(0, 1)) * 2), -294'967'296);  // elements stay 32 bits wide
  EXPECT_EQ(sum(i > 0), 2);
  using Z = Kokkos::complex<double>;
  auto const z = array_of<Space>(std::vector<Z>{Z(3, 4), Z(0, 1), Z(-1, 0)}, Shape<1>{3});
  EXPECT_EQ(norm(z), std::sqrt(27.0));
  EXPECT_EQ(dot(z, z), Z(-7, 24) + Z(-1, 0) + Z(1, 0));
  EXPECT_EQ(vdot(z, z), Z(27, 0));
  double const inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(prod(array_of<Space>(std::vector<Z>{Z(inf, 0)}, Shape<1>{1})), Z(inf, 0));
  EXPECT_EQ(prod(array_of<Space>(std::vector<Z>{Z(1, 0), Z(3, inf)}, Shape<1>{2})), Z(3, inf));
}

TEST(ReductionsOfOtherTypes, AreThoseOfPlainLoops) {
  check_other_types<Kokkos::HostSpace>();
  check_other_types<DefaultSpace>();
}

TYPED_TEST(Reductions, ErrorsNameTheShapes) {
  TYPES_OF_CASE;
  EXPECT_EQ(message_of([] { max(zeros<T, Space>(0, 3)); }),
            "there is no maximum of an array of shape (0, 3): it has no elements");
  EXPECT_EQ(message_of([] { mean(zeros<T, Space>(0)); }),
            "there is no mean of an array of shape (0,): it has no elements");
  EXPECT_EQ(message_of([] { dot(zeros<T, Space>(3), zeros<T, Space>(4)); }),
            "dot takes two arrays of one shape, not (3,) and (4,)");
  EXPECT_EQ(message_of([] { sum(zeros<T, Space>(3, 4), 2); }),
            "axis 2 is none of an array of shape (3, 4)");
  EXPECT_EQ(
      message_of([] { max(zeros<T, Space>(0, 4), 0); }),
      "there is no maximum along axis 0 of an array of shape (0, 4): it has no elements there");
}

template <class T, class Space>
void check_axes(Shape<3> const& shape) {
  auto const a = random_array<T, Space>(shape, 3, 50);
  auto const x = coir::testing::naive(a);
  for (int axis = -3; axis < 3; ++axis) {
    int const d = axis < 0 ? axis + 3 : axis;
    auto const sums = coir::testing::naive(sum(a, axis));
    auto const squares = coir::testing::naive(sum(a * a, axis));
    auto const least = coir::testing::naive(min(a, axis)),
               most = coir::testing::naive(max(a, axis));
    auto const first = coir::testing::naive(argmin(a, axis)),
               last = coir::testing::naive(argmax(a, axis));
    auto const anys = coir::testing::naive(cast<int>(any(a > 40, axis))),
               alls = coir::testing::naive(cast<int>(all(a < 40, axis)));
    auto const counts = coir::testing::naive(count_nonzero(a, axis));
    auto const backwards = coir::testing::naive(sum(flip(a), axis));
    coir::testing::for_each_index(sums.shape, [&](auto const& at) {
      std::vector<std::int64_t> i = at;
      i.insert(i.begin() + d, 0);
      T total = 0, total_squares = 0, low = x.at(i), high = x.at(i);
      std::int64_t where_low = 0, where_high = 0, count = 0;
      bool some = false, every = true;
      for (std::int64_t k = 0; k < shape[d]; ++k) {
        i[d] = k;
        T const value = x.at(i);
        total += value;
        total_squares += value * value;
        count += value != 0;
        some = some || value > 40;
        every = every && value < 40;
        if (value < low) low = value, where_low = k;
        if (value > high) high = value, where_high = k;
      }
      ASSERT_EQ(sums.at(at), total);
      ASSERT_EQ(squares.at(at), total_squares);
      ASSERT_EQ(least.at(at), low);
      ASSERT_EQ(most.at(at), high);
      ASSERT_EQ(first.at(at), where_low);
      ASSERT_EQ(last.at(at), where_high);
      ASSERT_EQ(counts.at(at), count);
      ASSERT_EQ(anys.at(at), some);
      ASSERT_EQ(alls.at(at), every);
      std::vector<std::int64_t> mirrored = at;
      for (std::size_t e = 0; e < at.size(); ++e) mirrored[e] = sums.shape[e] - 1 - at[e];
      ASSERT_EQ(backwards.at(mirrored), total);
    });
  }
}

// Few long rows, many short ones, long axes that are shared among threads, axes of one element.
// Few results of many rows are folded in parts.
TYPED_TEST(Reductions, ExtremesOfBoolAlongAnAxis) {
  TYPES_OF_CASE;
  for (std::int64_t const rows : {1, 5, 40000})
    for (std::int64_t const hit : {std::int64_t(-1), rows / 2, rows - 1}) {
      auto const at = coir::indices<0>(Shape<2>{rows, 3});
      auto const one = coir::indices<1>(Shape<2>{rows, 3}) == 1;
      Array<bool, 2, Space> const some = at == hit && one, rest = !some;
      EXPECT_EQ(values(cast<int>(max(some, 0))), (std::vector<int>{0, hit >= 0, 0}));
      EXPECT_EQ(values(cast<int>(min(rest, 0))), (std::vector<int>{1, hit < 0, 1}));
      EXPECT_EQ(sum(max(some, 1)), hit >= 0);
      EXPECT_EQ(sum(min(rest, -1)), rows - (hit >= 0));
    }
}

TYPED_TEST(Reductions, AlongAxesAreThoseOfPlainLoops) {
  TYPES_OF_CASE;
  Shape<3> const shapes[] = {{1, 1, 1},     {5, 7, 9},    {2, 3, 1009}, {1500, 2, 3}, {2, 700, 5},
                             {130, 130, 1}, {1, 40, 513}, {5000, 1, 2}, {2, 2, 5000}, {7, 11, 4}};
  for (auto const& shape : shapes) {
    SCOPED_TRACE(in_words(shape));
    check_axes<T, Space>(shape);
  }
}

TYPED_TEST(Reductions, MeansAndDeviationsAlongAxes) {
  TYPES_OF_CASE;
  auto const a = random_array<T, Space>(Shape<2>{40, 70}, 3, 50);
  auto const middle = mean(a, 1);
  auto const spread = std_dev(a, 1), size = norm(a, 1);
  auto const other = var(a, 0, ddof(1));
  for (int i = 0; i < 40; ++i) {
    // The same terms, added in another order: at most 70 roundings of values below 2500 * 70.
    T const tolerance = T(70 * 70 * 2500) * std::numeric_limits<T>::epsilon();
    EXPECT_NEAR(T(middle(i)), mean(a(i)), tolerance / 2500);
    EXPECT_NEAR(T(spread(i)), std_dev(a(i)), tolerance);
    EXPECT_NEAR(T(size(i)), norm(a(i)), tolerance);
    EXPECT_NEAR(T(other(i)), var(a(range(), i), ddof(1)), tolerance);
  }
  // The result broadcasts against the array with its axis put back.
  auto const centred = evaluate(a - with_axis(middle, 1));
  EXPECT_LE(max(abs(mean(centred, 1))), 70 * 50 * std::numeric_limits<T>::epsilon());
}

TYPED_TEST(Reductions, HaveTheSameBitsInEveryRun) {
  TYPES_OF_CASE;
  Array<T, 1, Space> a(Shape<1>{1'000'003});
  a = cast<T>(sin(cast<double>(indices<0>(a.shape()))));
  auto const matrix = reshape(a(range(0, 1'000'000)), Shape<2>{1000, 1000});
  T const first = sum(a);
  auto const down = values(sum(matrix, 0)), along = values(sum(matrix, 1));
  for (int repeat = 0; repeat < 5; ++repeat) {
    EXPECT_EQ(sum(a), first);
    EXPECT_EQ(values(sum(matrix, 0)), down);
    EXPECT_EQ(values(sum(matrix, 1)), along);
  }
}

namespace {

/// Powers of two with signs in some order, whose product is `product`; sizes are from 2^-most to
/// 2^most.
template <class T>
std::vector<T> factors_of(T product, std::int64_t count, int most, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<T> factors;
  for (std::int64_t i = 0; i + 1 < count; i += 2) {
    T const factor = std::ldexp(T(1), static_cast<int>(generator() % (2 * most + 1)) - most);
    factors.insert(factors.end(), {-factor, T(-1) / factor});
  }
  if (count % 2 == 1) factors.push_back(1);
  factors.back() *= product;
  // Alternating ones first, then all large ones before all small ones, then any order.
  if (seed % 3 == 1) std::sort(factors.begin(), factors.end());
  if (seed % 3 == 2) std::shuffle(factors.begin(), factors.end(), generator);
  return factors;
}

}  // namespace

TYPED_TEST(Reductions, ProductsNeitherOverflowNorVanishOnTheWay) {
  TYPES_OF_CASE;
  int const most = std::numeric_limits<T>::max_exponent - 2;
  for (std::int64_t n : {2, 8, 20, 31, 32, 33, 65, 513, 1009, 5000, 70001})
    for (int const size : {3, 40, most})
      for (std::uint32_t seed = 0; seed < 3; ++seed) {
        SCOPED_TRACE(std::to_string(n) + " factors up to 2^" + std::to_string(size) + ", order " +
                     std::to_string(seed));
        auto const x = factors_of<T>(T(0.5), n, size, seed);
        auto const a = array_of<Space>(x, Shape<1>{n});
        EXPECT_EQ(prod(a), T(0.5));
        EXPECT_EQ(prod(flip(a)), T(0.5));
        auto const rows = stack(0, a, a, T(2) * a);
        std::vector<T> const expected{
            T(0.5), T(0.5), std::ldexp(T(0.5), static_cast<int>(std::min<std::int64_t>(n, 5000)))};
        auto const along = values(prod(rows, 1)), across = values(prod(transpose(rows), 0));
        auto const down = values(prod(stack(1, a, a, a), 0));
        EXPECT_EQ(along, expected);
        EXPECT_EQ(across, expected);
        EXPECT_EQ(down, std::vector<T>(3, T(0.5)));
      }
  // The same across a row of many columns, which a host multiplies side by side.
  auto const x = factors_of<T>(T(3), 100, most, 2);
  auto const a = array_of<Space>(x, Shape<1>{100});
  EXPECT_EQ(values(prod(broadcast_to(a(range(), newaxis), {100, 700}), 0)),
            std::vector<T>(700, T(3)));
}

TYPED_TEST(Reductions, ProductsThatDontFitAreInfiniteOrZero) {
  TYPES_OF_CASE;
  using Limits = std::numeric_limits<T>;
  int const digits = Limits::digits,
            least = Limits::min_exponent - digits;  // 2^least is the smallest
  for (std::int64_t n : {40, 5000, 70000}) {
    auto a = full<T, Space>({n}, T(2));
    a(range(0, 1)) = std::ldexp(T(1), Limits::max_exponent - 1);
    EXPECT_EQ(prod(a), Limits::infinity());
    EXPECT_EQ(prod(-a), n % 2 == 0 ? Limits::infinity() : -Limits::infinity());
    EXPECT_EQ(prod(T(1) / a / a), T(0));
    a(range(n / 2, n / 2 + 1)) = T(0);
    EXPECT_EQ(prod(a), T(0));
    a(range(3, 4)) = Limits::infinity();
    EXPECT_TRUE(std::isnan(prod(a)));
  }
  EXPECT_EQ(prod(full<T, Space>({-least}, T(0.5))), Limits::denorm_min());
  EXPECT_EQ(prod(full<T, Space>({1 - least}, T(0.5))), T(0));  // half of it, to the even one
  EXPECT_EQ(prod(array<T, Space>({Limits::denorm_min(), std::ldexp(T(1), -least / 2),
                                  std::ldexp(T(1), -least - -least / 2)})),
            T(1));
  EXPECT_EQ(prod(full<T, Space>({0}, T(2))), T(1));
  using Complex = Kokkos::complex<T>;
  T const huge = std::ldexp(T(1), Limits::max_exponent - 2);
  EXPECT_EQ(prod(array<Complex, Space>({Complex(0, huge), Complex(huge, huge), Complex(0, 1 / huge),
                                        Complex(1 / huge, 0)})),
            Complex(-1, -1));
}

TYPED_TEST(Reductions, SumsOfFewHugeNumbersOfAlternatingSigns) {
  TYPES_OF_CASE;
  // Threads of devices add doubles in an order of Kokkos'.
  if (!runs_on_host<typename Space::execution_space> && sizeof(T) == 8) GTEST_SKIP();
  T const most = std::numeric_limits<T>::max();
  for (std::int64_t n : {2, 7, 8, 16, 31, 32}) {
    auto const signs = 1 - 2 * (indices<0>(Shape<1>{n}) % 2);
    Array<T, 1, Space> const a(most * cast<T>(signs));
    EXPECT_EQ(sum(a), n % 2 == 0 ? T(0) : most) << n;
    EXPECT_EQ(mean(a), n % 2 == 0 ? T(0) : most / T(n)) << n;
  }
}

// A product of n numbers is rounded n times.
TYPED_TEST(Reductions, ProductsAreAccurate) {
  TYPES_OF_CASE;
  for (std::int64_t n : {1, 31, 32, 600, 5001, 70000}) {
    Array<T, 1, Space> a(Shape<1>{n});
    a = cast<T>(exp(0.3 * sin(cast<double>(indices<0>(a.shape())))));
    long double exact = 1;
    for (T const x : values(a)) exact *= static_cast<long double>(x);
    EXPECT_NEAR(static_cast<double>(prod(a) / exact), 1,
                static_cast<double>(n) * std::numeric_limits<T>::epsilon())
        << n;
  }
}

// Where numpy.argmax and nanargmax find the extreme of x[first + k stride] for k < n; -1 if all are
// NaN and left out.
template <class T>
std::int64_t place_of_extreme(std::vector<T> const& x, std::int64_t first, std::int64_t stride,
                              std::int64_t n, bool largest, bool skips_nan) {
  std::int64_t found = -1;
  T best{};
  for (std::int64_t k = 0; k < n; ++k) {
    T const value = x[static_cast<std::size_t>(first + k * stride)];
    if (value != value && skips_nan) continue;
    if (found < 0 || (best == best && (largest ? value > best : value < best)) ||
        (value != value && best == best)) {
      found = k;
      best = value;
    }
  }
  return found;
}

// Few different numbers, so that most are equal to others, infinities among them, and NaN if there
// are any.
template <class T>
std::vector<T> few_numbers(std::int64_t n, int nan_in, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& value : x) {
    value = static_cast<T>(random() % 7);
    if constexpr (std::is_floating_point_v<T>) {
      constexpr T infinity = std::numeric_limits<T>::infinity();
      if (random() % 50 == 0) value = random() % 2 ? infinity : -infinity;
      if (nan_in > 0 && random() % static_cast<unsigned>(nan_in) == 0) value = T(NAN);
    }
  }
  return x;
}

template <class T>
void check_places_of_extremes() {
  using Space = Kokkos::HostSpace;
  for (int const nan_in : {0, 2, 3000})
    for (Shape<2> const shape :
         {Shape<2>{5, 3}, {3001, 5}, {70, 700}, {3, 9000}, {200, 33}, {40, 31}}) {
      std::int64_t const rows = shape[0], columns = shape[1], n = rows * columns;
      auto const x = few_numbers<T>(n, nan_in, static_cast<unsigned>(n + nan_in));
      Array<T, 2, Space> a(shape);
      std::copy(x.begin(), x.end(), a.data());
      EXPECT_EQ(argmax(a), place_of_extreme(x, 0, 1, n, true, false));
      EXPECT_EQ(argmin(a), place_of_extreme(x, 0, 1, n, false, false));
      EXPECT_EQ(argmax(map(detail::Cast<T>{}, a)), place_of_extreme(x, 0, 1, n, true, false));
      EXPECT_EQ(nanargmax(a), place_of_extreme(x, 0, 1, n, true, true));
      auto const down = values(argmin(a, 0)), along = values(argmax(a, 1)),
                 mirrored = values(argmax(flip(a), 1));
      for (std::int64_t c = 0; c < columns; ++c)
        ASSERT_EQ(down[c], place_of_extreme(x, c, columns, rows, false, false)) << c;
      for (std::int64_t r = 0; r < rows; ++r) {
        ASSERT_EQ(along[r], place_of_extreme(x, r * columns, 1, columns, true, false)) << r;
        ASSERT_EQ(mirrored[rows - 1 - r],
                  place_of_extreme(x, (r + 1) * columns - 1, -1, columns, true, false))
            << r;
      }
      if (nan_in == 2 && rows < 10) continue;  // some may be all NaN
      auto const numbers_down = values(nanargmax(a, 0));
      for (std::int64_t c = 0; c < columns; ++c)
        ASSERT_EQ(numbers_down[c], place_of_extreme(x, c, columns, rows, true, true)) << c;
    }
}
TEST(ReductionsOnHost, PlacesOfExtremesAreThoseOfPlainLoops) {
  check_places_of_extremes<float>();
  check_places_of_extremes<double>();
  check_places_of_extremes<std::int8_t>();
  check_places_of_extremes<std::uint64_t>();
}

// Few results are folded in parts there, in up to three kernels.
TEST(ReductionsOnHost, ByTheKernelsOfDevicesAreTheSame) {
  using Space = Kokkos::HostSpace;
  for (Shape<3> const shape : {Shape<3>{1, 300007, 1},
                               {20000, 1, 16},
                               {3, 20000, 5},
                               {2000, 40, 1},
                               {7, 3, 11},
                               {4, 0, 2}}) {
    Array<double, 3, Space> a(shape);
    auto const x = few_numbers<std::int32_t>(a.size(), 0, 7);
    std::copy(x.begin(), x.end(), a.data());
    for (int axis = 0; axis < 3; ++axis) {
      using Total = detail::Sum<double, true>;
      EXPECT_EQ(values(detail::reduce_axis_by<true>(operand(a), axis, Total{})),
                values(sum(a, axis)));
      if (a.size() == 0) continue;
      using Largest = detail::ArgExtreme<double, true>;
      EXPECT_EQ(values(detail::reduce_axis_by<true>(operand(a), axis, Largest{})),
                values(argmax(a, axis)));
      EXPECT_EQ(values(detail::reduce_axis_by<true>(operand(transpose(a)), axis, Largest{})),
                values(argmax(transpose(a), axis)));
    }
  }
}

#ifdef COIR_KOKKOS_HAS_SERIAL
// Run with several numbers of threads: one thread, and plain loops in the order that the shape
// fixes, make the same bits.
TEST(ReductionsOnHost, HaveTheSameBitsForAnyThreadCount) {
  using Space = Kokkos::HostSpace;
  Array<float, 1, Space> a(Shape<1>{1'000'003});
  a = cast<float>(sin(cast<double>(indices<0>(a.shape()))));
  float const* const x = a.data();
  float serial = 0;
  reduce(
      "coir::test::sum", Kokkos::Serial{}, box({std::int64_t(1'000'003)}),
      [=](std::int64_t i, float& value) { value += x[i]; }, Kokkos::Sum<float>(serial));
  EXPECT_EQ(sum(a), serial);

  auto const down = values(sum(reshape(a(range(0, 1'000'000)), Shape<2>{1000, 1000}), 0));
  std::int64_t const parts = detail::parts_of_axis(2, detail::gathered_stretch, 1000);
  ASSERT_GT(parts, 16);  // so that each is added in turn
  for (int column = 0; column < 1000; ++column) {
    std::vector<float> partial(static_cast<std::size_t>(parts), 0.0f);
    for (std::int64_t part = 0; part < parts; ++part)
      for (std::int64_t row = 1000 * part / parts; row < 1000 * (part + 1) / parts; ++row)
        partial[part] += x[row * 1000 + column];
    for (std::int64_t width = 1; width < parts; width *= 2)
      for (std::int64_t part = 0; part + width < parts; part += 2 * width)
        partial[part] += partial[part + width];
    ASSERT_EQ(down[column], partial[0]) << column;
  }
}
#endif
