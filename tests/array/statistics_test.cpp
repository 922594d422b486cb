#include <coir/array/nan_reductions.hpp>
#include <coir/array/statistics.hpp>

#include <array/host_values.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

using coir::testing::from_host;
using coir::testing::message_of;
using coir::testing::random_integers;
using coir::testing::to_host;

namespace {

using Limits64 = std::numeric_limits<std::int64_t>;

std::size_t const sizes[] = {0, 1, 2, 31, 513, 1009, 5000, 100003};

/// Quarters, so that many lie on edges.
template <class T>
std::vector<T> quarters(std::size_t count, unsigned seed) {
  auto const integers = random_integers(count, seed, -40, 40);
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = T(integers[i]) / 4;
  return result;
}

template <class T, class Edge>
std::vector<std::int64_t> plain_histogram(std::vector<T> const& x, std::vector<Edge> const& edges) {
  std::size_t const bins = edges.size() - 1;
  std::vector<std::int64_t> counts(bins);
  for (T const v : x)
    for (std::size_t b = 0; b < bins; ++b)
      if (v >= edges[b] && (v < edges[b + 1] || (b == bins - 1 && v == edges[b + 1]))) ++counts[b];
  return counts;
}

template <class Space, class T>
auto line(std::vector<T> const& x) {
  return from_host<Space>(x, coir::Shape<1>{std::int64_t(x.size())});
}

template <class T>
double plain_quantile(std::vector<T> x, double q) {
  std::sort(x.begin(), x.end());
  double const position = q * double(x.size() - 1);
  auto const i = std::size_t(position);
  double const above = i + 1 < x.size() ? double(x[i + 1]) : double(x[i]);
  return double(x[i]) + (above - double(x[i])) * (position - double(i));
}

}  // namespace

COIR_TYPED_SUITE(Statistics);

TYPED_TEST(Statistics, HistogramsAgreeWithAPlainLoop) {
  TYPES_OF_CASE;
  for (std::size_t const n : sizes) {
    auto const x = quarters<T>(n, 1);
    for (std::int64_t const bins : {1, 3, 7, 40, 1000}) {
      auto const h = coir::histogram(line<Space>(x), bins, T(-9), T(8.3));
      auto const edges = to_host(h.edges);
      ASSERT_EQ(edges.size(), std::size_t(bins + 1));
      EXPECT_EQ(edges.front(), T(-9));
      EXPECT_EQ(edges.back(), T(8.3));
      // linspace rounds three times.
      for (std::int64_t i = 0; i <= bins; ++i)
        EXPECT_NEAR(edges[std::size_t(i)], -9 + double(i) * (double(T(8.3)) + 9) / double(bins),
                    2 * 17.3 * std::numeric_limits<T>::epsilon());
      EXPECT_EQ(to_host(h.counts), plain_histogram(x, edges)) << n << ", " << bins;
    }
  }
}

TYPED_TEST(Statistics, EdgesOfAnotherTypeAreComparedByValue) {
  TYPES_OF_CASE;
  auto const x = line<Space>(std::vector<int>{-1, 0, 3, 5});
  auto const edges = line<Space>(std::vector<unsigned>{0, 4, 4000000000});
  EXPECT_EQ(to_host(coir::histogram(x, edges).counts), (std::vector<std::int64_t>{2, 1}));
}

TYPED_TEST(Statistics, HistogramsBetweenTheExtremesCountEverything) {
  TYPES_OF_CASE;
  auto const x = quarters<T>(5000, 2);
  auto const h = coir::histogram(from_host<Space>(x, coir::Shape<2>{50, 100}));
  EXPECT_EQ(to_host(h.edges).front(), T(-10));
  EXPECT_EQ(to_host(h.edges).back(), T(10));
  std::int64_t sum = 0;
  for (auto const count : to_host(h.counts)) sum += count;
  EXPECT_EQ(sum, 5000);

  auto const same = coir::histogram(line<Space>(std::vector<T>{3, 3}), 2);
  EXPECT_EQ(to_host(same.edges), (std::vector<T>{2.5, 3, 3.5}));
  EXPECT_EQ(to_host(same.counts), (std::vector<std::int64_t>{0, 2}));
  auto const none = coir::histogram(line<Space>(std::vector<T>{}), 2);
  EXPECT_EQ(to_host(none.edges), (std::vector<T>{0, 0.5, 1}));
  EXPECT_EQ(to_host(none.counts), (std::vector<std::int64_t>{0, 0}));
}

TYPED_TEST(Statistics, HistogramsOfGivenEdgesAgreeWithAPlainLoop) {
  TYPES_OF_CASE;
  std::vector<T> const edges = {-7, -7, -2.25, 0, T(0.1), 5, 9};
  for (std::size_t const n : sizes) {
    auto const x = quarters<T>(n, 3);
    auto const h = coir::histogram(line<Space>(x), line<Space>(edges));
    EXPECT_EQ(to_host(h.counts), plain_histogram(x, edges)) << n;
    EXPECT_EQ(to_host(h.edges), edges);
  }
}

TYPED_TEST(Statistics, HistogramsLeaveOutNanAndWhatLiesOutside) {
  TYPES_OF_CASE;
  using Limits = std::numeric_limits<T>;
  auto const x =
      line<Space>(std::vector<T>{Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), -1,
                                 0, 1, 2, std::nextafter(T(2), T(3))});
  EXPECT_EQ(to_host(coir::histogram(x, 2, T(0), T(2)).counts), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(to_host(coir::histogram(x, line<Space>(std::vector<T>{0, 1, 2})).counts),
            (std::vector<std::int64_t>{1, 2}));
}

TYPED_TEST(Statistics, HistogramsOfRangesThatRoundingCantCutAreRefused) {
  TYPES_OF_CASE;
  using Limits = std::numeric_limits<T>;
  T const large = std::ldexp(T(1), Limits::digits + 2);  // neighbours are 8 apart
  auto const same = coir::full<T, Space>({4}, large);
  EXPECT_THROW(coir::histogram(same), coir::PreconditionError);
  EXPECT_THROW(coir::histogram(same, 1 << 20), coir::PreconditionError);
  EXPECT_THROW(coir::histogram(same, 5, large, large + 32), coir::PreconditionError);
  EXPECT_EQ(to_host(coir::histogram(same, 4, large, large + 32).counts),
            (std::vector<std::int64_t>{4, 0, 0, 0}));
  EXPECT_THROW(coir::histogram(same, 3, T(0), 2 * Limits::denorm_min()), coir::PreconditionError);
  EXPECT_THROW(coir::histogram(same, 3, Limits::lowest(), Limits::max()), coir::PreconditionError);
  EXPECT_THROW(coir::histogram(same, 3, Limits::quiet_NaN(), T(1)), coir::PreconditionError);
}

TYPED_TEST(Statistics, HistogramsOfDenormalNumbersCountAllOfThem) {
  TYPES_OF_CASE;
  T const least = std::numeric_limits<T>::denorm_min();
  std::int64_t const steps = 1000;
  T const high = least * T(steps);
  std::vector<T> x(4001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = least * T(i % (steps + 1));
  for (std::int64_t const bins : {1, 7, 100, 999, 1000}) {
    auto const h = coir::histogram(line<Space>(x), bins, T(0), high);
    EXPECT_EQ(to_host(h.counts), plain_histogram(x, to_host(h.edges))) << bins;
  }
  auto const ends = coir::histogram(line<Space>(std::vector<T>{0, high, high}), 100, T(0), high);
  std::vector<std::int64_t> expected(100);
  expected.front() = 1;
  expected.back() = 2;
  EXPECT_EQ(to_host(ends.counts), expected);
}

TYPED_TEST(Statistics, HistogramsOfVeryLargeNumbersCountAllOfThem) {
  TYPES_OF_CASE;
  T const most = std::numeric_limits<T>::max();
  std::vector<T> const x{-most / 2, -most / 4, 0, most / 4, most / 2};
  for (std::int64_t const bins : {1, 2, 5, 1 << 20}) {
    auto const h = coir::histogram(line<Space>(x), bins, -most / 2, most / 2);
    auto const counts = to_host(h.counts);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t(0)), 5) << bins;
    if (bins < 100) {
      EXPECT_EQ(counts, plain_histogram(x, to_host(h.edges))) << bins;
    }
  }
}

// Weights are whole numbers: sums are exact.
TYPED_TEST(Statistics, HistogramsAddWeights) {
  TYPES_OF_CASE;
  for (std::size_t const n : sizes) {
    auto const x = quarters<T>(n, 7);
    auto const whole = random_integers(n, 8, -100, 100);
    auto const check = [&](auto const& h, auto const& w) {
      using W = std::remove_cvref_t<decltype(w[0])>;
      auto const edges = to_host(h.edges);
      std::vector<coir::value_t<decltype(h.counts)>> expected(edges.size() - 1);
      for (std::size_t b = 0; b + 1 < edges.size(); ++b)
        for (std::size_t i = 0; i < n; ++i)
          if (x[i] >= edges[b] &&
              (x[i] < edges[b + 1] || (b + 2 == edges.size() && x[i] == edges[b + 1])))
            expected[b] += static_cast<coir::value_t<decltype(h.counts)>>(W(w[i]));
      EXPECT_EQ(to_host(h.counts), expected) << n;
    };
    std::vector<T> const reals(whole.begin(), whole.end());
    std::vector<std::int8_t> const bytes(whole.begin(), whole.end());
    for (std::int64_t const bins : {1, 7, 300}) {
      check(coir::histogram(line<Space>(x), bins, T(-9), T(8.3), coir::weights(line<Space>(reals))),
            reals);
      auto const h =
          coir::histogram(line<Space>(x), bins, T(-9), T(8.3), coir::weights(line<Space>(bytes)));
      static_assert(std::is_same_v<coir::value_t<decltype(h.counts)>, std::int64_t>);
      check(h, bytes);
    }
    check(coir::histogram(line<Space>(x), 10, coir::weights(T(1) * line<Space>(reals))), reals);
    std::vector<T> const edges = {-7, -7, -2.25, 0, T(0.1), 5, 9};
    check(coir::histogram(line<Space>(x), line<Space>(edges), coir::weights(line<Space>(reals))),
          reals);
  }
  auto const x = line<Space>(std::vector<int>{2, 0, 2});
  auto const w = line<Space>(std::vector<T>{1, 2, std::numeric_limits<T>::infinity()});
  EXPECT_EQ(to_host(coir::bincount(x, coir::weights(w), 4)),
            (std::vector<T>{2, 0, std::numeric_limits<T>::infinity(), 0}));
  EXPECT_THROW(coir::bincount(x, coir::weights(w(coir::range(0, 2)))), coir::PreconditionError);
}

// What devices do with many bins, here with few and many elements in a bin, and some in none.
TYPED_TEST(Statistics, WeightsOfManyBinsAreAddedInTheOrderOfElements) {
  TYPES_OF_CASE;
  for (std::size_t const n : {0, 1, 1009, 2048, 30'000}) {
    auto bins = random_integers(n, 9, -2, 40);
    for (std::size_t i = 0; i < n; i += 2) bins[i] = 3;  // several whole groups
    auto const whole = random_integers(n, 10, -100, 100);
    std::vector<double> expected(1000);
    for (std::size_t i = 0; i < n; ++i)
      if (bins[i] >= 0)
        expected[static_cast<std::size_t>(bins[i])] += static_cast<double>(whole[i]);
    auto const x = line<Space>(bins);
    auto const w = line<Space>(std::vector<T>(whole.begin(), whole.end()));
    using Integer = coir::value_t<decltype(x)>;
    auto sums = coir::full<double, Space>({1000}, 99);
    coir::detail::add_in_order(Exec{}, x.data(), w.data(), x.size(), sums,
                               coir::detail::OwnBin<Integer>{});
    EXPECT_EQ(to_host(sums), expected) << n;
  }
  // Through bincount, of 10^6 bins.
  auto const counts = coir::bincount(line<Space>(std::vector<int>{7, 999'999, 7}),
                                     coir::weights(line<Space>(std::vector<T>{1, 2, 3})));
  EXPECT_EQ(counts.size(), 1'000'000);
  EXPECT_EQ(T(counts(7)), T(4));
  EXPECT_EQ(T(counts(999'999)), T(2));
  EXPECT_EQ(coir::sum(counts), T(6));
}

// A running sum of floats would stop at 2^24.
TYPED_TEST(Statistics, WeightsAreAddedInDouble) {
  TYPES_OF_CASE;
  auto w = coir::ones<T, Space>(1001);
  w(coir::range(0, 1)) = T(1 << 24);
  auto const counts = coir::bincount(coir::zeros<std::int8_t, Space>(1001), coir::weights(w));
  EXPECT_EQ(to_host(counts), (std::vector<T>{T((1 << 24) + 1000)}));
}

TYPED_TEST(Statistics, DigitizeIsThatOfNumPy) {
  TYPES_OF_CASE;
  using Indices = std::vector<std::int64_t>;
  T const nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  auto const x = line<Space>(std::vector<T>{0.5, 1, 1.5, 2, 4, -infinity, infinity, nan});
  auto const up = line<Space>(std::vector<T>{1, 2, 2, 3}),
             down = line<Space>(std::vector<T>{3, 2, 1});
  EXPECT_EQ(to_host(coir::digitize(x, up)), (Indices{0, 1, 1, 3, 4, 0, 4, 4}));
  EXPECT_EQ(to_host(coir::digitize(x, up, true)), (Indices{0, 0, 1, 1, 4, 0, 4, 4}));
  EXPECT_EQ(to_host(coir::digitize(x, down)), (Indices{3, 2, 2, 1, 0, 3, 0, 0}));
  EXPECT_EQ(to_host(coir::digitize(x, down, true)), (Indices{3, 3, 2, 2, 0, 3, 0, 0}));
  EXPECT_EQ(to_host(coir::digitize(x, up(coir::range(0, 0)))), Indices(8, 0));
  EXPECT_EQ(to_host(coir::digitize(line<Space>(std::vector<int>{0, 1, 7}), up)),
            (Indices{0, 1, 4}));
  EXPECT_EQ(coir::digitize(coir::zeros<T, Space>(2, 3), up).shape(), (coir::Shape<2>{2, 3}));
  EXPECT_THROW(coir::digitize(x, line<Space>(std::vector<T>{1, 3, 2})), coir::PreconditionError);
  EXPECT_THROW(coir::digitize(x, line<Space>(std::vector<T>{1, nan})), coir::PreconditionError);
  EXPECT_THROW(coir::digitize(x, line<Space>(std::vector<T>{nan})), coir::PreconditionError);
  EXPECT_EQ(to_host(coir::digitize(x, up(coir::range(0, 1))))[0], 0);
}

// A quantile rounds its position's fraction, a difference, a product and a sum, none of them
// above 20.
TYPED_TEST(Statistics, QuantilesAgreeWithAPlainLoop) {
  TYPES_OF_CASE;
  double const tolerance = 4 * 20 * std::numeric_limits<T>::epsilon();
  for (std::size_t const n : sizes) {
    if (n == 0) continue;
    std::vector<T> different(n);
    for (std::size_t i = 0; i < n; ++i) different[i] = T(20 * std::sin(double(i * i)));
    for (auto const& x : {quarters<T>(n, 4), different}) {
      auto const array = line<Space>(x);
      for (double const q : {0.0, 0.1, 0.25, 0.5, 0.77, 1.0}) {
        EXPECT_NEAR(coir::quantile(array, q), plain_quantile(x, q), tolerance) << n << ", " << q;
        EXPECT_NEAR(coir::percentile(array, 100 * q), plain_quantile(x, q), tolerance);
      }
      EXPECT_NEAR(coir::median(array), plain_quantile(x, 0.5), tolerance);
    }
  }
}

TYPED_TEST(Statistics, QuantilesRunAlongEachAxis) {
  TYPES_OF_CASE;
  coir::Shape<3> const shape = {5, 7, 600};
  auto const x = quarters<T>(std::size_t(coir::size_of(shape)), 5);
  auto const array = from_host<Space>(x, shape);
  auto const strides = coir::c_strides(shape);
  double const tolerance = 4 * 20 * std::numeric_limits<T>::epsilon();
  for (int axis = -3; axis < 3; ++axis) {
    std::size_t const d = std::size_t(axis < 0 ? axis + 3 : axis);
    auto const result = coir::quantile(array, 0.3, axis);
    auto const percentiles = to_host(coir::percentile(array, 30, axis));
    auto const medians = to_host(coir::median(array, axis));
    coir::Shape<2> expected_shape = {shape[d == 0 ? 1 : 0], shape[d == 2 ? 1 : 2]};
    ASSERT_EQ(result.shape(), expected_shape);
    auto const values = to_host(result);
    std::size_t at = 0;
    for (std::int64_t start = 0; start < std::int64_t(x.size()); ++start) {
      if (start / strides[d] % shape[d] != 0) continue;
      std::vector<T> elements;
      for (std::int64_t i = 0; i < shape[d]; ++i)
        elements.push_back(x[std::size_t(start + i * strides[d])]);
      ASSERT_NEAR(values[at], plain_quantile(elements, 0.3), tolerance) << axis;
      ASSERT_NEAR(percentiles[at], plain_quantile(elements, 0.3), tolerance) << axis;
      ASSERT_NEAR(medians[at], plain_quantile(elements, 0.5), tolerance) << axis;
      ++at;
    }
    EXPECT_EQ(at, values.size());
  }
}

TYPED_TEST(Statistics, QuantilesOfNanAndInfinities) {
  TYPES_OF_CASE;
  T const nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  EXPECT_TRUE(std::isnan(coir::quantile(line<Space>(std::vector<T>{1, nan, 2}), 0)));
  EXPECT_EQ(coir::quantile(line<Space>(std::vector<T>{infinity, infinity}), 0.5), infinity);
  EXPECT_EQ(coir::quantile(line<Space>(std::vector<T>{1, 2, infinity}), 0.5), T(2));
  auto const below = line<Space>(std::vector<T>{-infinity, 1}),
             above = line<Space>(std::vector<T>{1, infinity});
  for (double const q : {0.1, 0.5, 0.9}) {
    EXPECT_EQ(coir::quantile(above, q), infinity) << q;
    EXPECT_EQ(coir::quantile(below, q), -infinity) << q;
    EXPECT_TRUE(std::isnan(coir::quantile(line<Space>(std::vector<T>{-infinity, infinity}), q)));
  }
  // A fraction that becomes 1 in float.
  EXPECT_EQ(coir::quantile(line<Space>(std::vector<T>{-infinity, 5}), 0.999999999), -infinity);
  EXPECT_EQ(coir::quantile(line<Space>(std::vector<T>{5, infinity}), 0.999999999), infinity);
  EXPECT_EQ(coir::quantile(above, 0), T(1));
  EXPECT_EQ(coir::quantile(below, 1), T(1));
  EXPECT_EQ(coir::median(line<Space>(std::vector<T>{infinity, 1, 3, -infinity})), T(2));
}

TYPED_TEST(Statistics, QuantilesOfTheLargestNumbersInLongRows) {
  TYPES_OF_CASE;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::size_t const size : {129, 1009, 5000})
    for (T const large : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::max()}) {
      std::vector<T> x(size);
      std::iota(x.begin(), x.end(), T(0));
      std::fill(x.end() - 5, x.end(), large);
      EXPECT_EQ(coir::median(line<Space>(x)), T(size - 1) / 2);
      EXPECT_EQ(coir::quantile(line<Space>(x), 1), large);
      x[0] = nan;
      EXPECT_TRUE(std::isnan(coir::median(line<Space>(x))));
      EXPECT_EQ(coir::nanmedian(line<Space>(x)), T(size) / 2);
    }
}

TYPED_TEST(Statistics, QuantilesBetweenNumbersFarApart) {
  TYPES_OF_CASE;
  using Limits = std::numeric_limits<T>;
  T const most = Limits::max(), least = Limits::denorm_min();
  auto const far = line<Space>(std::vector<T>{-most, most});
  EXPECT_EQ(coir::median(far), T(0));
  EXPECT_NEAR(coir::quantile(far, 0.25) / most, -0.5, Limits::epsilon());
  EXPECT_NEAR(coir::quantile(far, 0.75) / most, 0.5, Limits::epsilon());
  EXPECT_EQ(coir::median(line<Space>(std::vector<T>{most, most})), most);
  EXPECT_NEAR(coir::median(line<Space>(std::vector<T>{most, most / 2})) / most, 0.75,
              Limits::epsilon());
  EXPECT_EQ(coir::median(line<Space>(std::vector<T>{least, 3 * least})), 2 * least);
  T last = -most;
  for (int i = 0; i <= 64; ++i) {
    T const now = coir::quantile(far, i / 64.0);
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_EQ(coir::median(line<Space>(std::vector<std::int64_t>{Limits64::min(), Limits64::max()})),
            0);
}

TYPED_TEST(Statistics, SeveralQuantilesAtOnce) {
  TYPES_OF_CASE;
  auto const x = from_host<Space>(quarters<T>(3 * 5 * 600, 9), coir::Shape<3>{3, 5, 600});
  std::vector<double> const q{0.75, 0, 1, 0.5, 0.5};
  auto const all = to_host(coir::quantile(x, q));
  auto const percentiles = to_host(coir::percentile(x, {75, 0, 100, 50, 50}));
  ASSERT_EQ(all.size(), q.size());
  for (std::size_t k = 0; k < q.size(); ++k) EXPECT_EQ(all[k], coir::quantile(x, q[k]));
  EXPECT_EQ(percentiles, all);
  for (int axis = -3; axis < 3; ++axis) {
    auto const found = coir::quantile(x, q, axis);
    auto const one = coir::quantile(x, 0.75, axis);
    EXPECT_EQ(found.shape(), (coir::Shape<3>{5, one.shape()[0], one.shape()[1]}));
    auto const values = to_host(found);
    for (std::size_t k = 0; k < q.size(); ++k) {
      auto const expected = to_host(coir::quantile(x, q[k], axis));
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                             values.begin() + std::ptrdiff_t(k * expected.size())));
    }
  }
  EXPECT_EQ(to_host(coir::quantile(x, {0.5})), std::vector<T>{coir::median(x)});
  EXPECT_EQ(coir::quantile(x, std::vector<double>{}).size(), 0);
  EXPECT_EQ(coir::percentile(x, {25, 75}, 1).shape(), (coir::Shape<3>{2, 3, 600}));
  EXPECT_THROW(coir::quantile(x, {0.5, 1.5}), coir::PreconditionError);
  EXPECT_THROW(coir::quantile(x, {0.5, std::nan("")}, 0), coir::PreconditionError);
}

template <class Exec>
class StatisticsOfIntegers : public ::testing::Test {};
TYPED_TEST_SUITE(StatisticsOfIntegers, coir::testing::Spaces, coir::testing::SpaceName);

TYPED_TEST(StatisticsOfIntegers, BincountAgreesWithAPlainLoop) {
  using Space = typename TypeParam::memory_space;
  for (std::size_t const n : sizes) {
    auto const integers = random_integers(n, 6, 0, 100);
    std::vector<unsigned char> const x(integers.begin(), integers.end());
    std::vector<std::int64_t> expected;
    for (unsigned char const v : x) {
      if (v >= expected.size()) expected.resize(v + 1u);
      ++expected[v];
    }
    EXPECT_EQ(to_host(coir::bincount(line<Space>(x))), expected) << n;
    expected.resize(std::max<std::size_t>(expected.size(), 90));
    EXPECT_EQ(to_host(coir::bincount(line<Space>(x), 90)), expected) << n;
  }
}

TYPED_TEST(StatisticsOfIntegers, HaveEdgesAndQuantilesInDouble) {
  using Space = typename TypeParam::memory_space;
  auto const x = line<Space>(std::vector<int>{4, 1, 3, 2});
  auto const h = coir::histogram(x, 2);
  static_assert(std::is_same_v<coir::value_t<decltype(h.edges)>, double>);
  EXPECT_EQ(to_host(h.edges), (std::vector<double>{1, 2.5, 4}));
  EXPECT_EQ(to_host(h.counts), (std::vector<std::int64_t>{2, 2}));
  static_assert(std::is_same_v<decltype(coir::median(x)), double>);
  EXPECT_EQ(coir::median(x), 2.5);
  EXPECT_EQ(coir::median(x * x), 6.5);
}

TYPED_TEST(StatisticsOfIntegers, RefuseBadParameters) {
  using Space = typename TypeParam::memory_space;
  using coir::PreconditionError;
  double const infinity = std::numeric_limits<double>::infinity();
  auto const x = line<Space>(std::vector<double>{1, 2});
  EXPECT_THROW(coir::histogram(x, 0, 0, 1), PreconditionError);
  EXPECT_THROW(coir::histogram(x, 3, 1, 0), PreconditionError);
  EXPECT_THROW(coir::histogram(x, 3, 0, infinity), PreconditionError);
  EXPECT_THROW(coir::histogram(line<Space>(std::vector<double>{1, infinity})), PreconditionError);
  EXPECT_THROW(coir::histogram(x, line<Space>(std::vector<double>{1})), PreconditionError);
  EXPECT_THROW(coir::histogram(x, line<Space>(std::vector<double>{})), PreconditionError);
  EXPECT_THROW(coir::histogram(x, line<Space>(std::vector<double>{1, 3, 2})), PreconditionError);
  EXPECT_THROW(coir::bincount(line<Space>(std::vector<int>{1}), -1), PreconditionError);
  EXPECT_THROW(
      coir::bincount(line<Space>(std::vector<int>{1}), std::numeric_limits<std::int64_t>::max()),
      PreconditionError);
  EXPECT_THROW(coir::bincount(line<Space>(std::vector<std::int64_t>{std::int64_t(1) << 61})),
               PreconditionError);
  EXPECT_THROW(coir::quantile(x, 1.5), PreconditionError);
  EXPECT_THROW(coir::quantile(x, 0.5, 1), PreconditionError);
  EXPECT_THROW(coir::percentile(x, 101), PreconditionError);
  EXPECT_THROW(coir::median(line<Space>(std::vector<double>{})), PreconditionError);
  EXPECT_THROW(coir::median(from_host<Space>(std::vector<double>{}, coir::Shape<2>{3, 0}), 1),
               PreconditionError);
  EXPECT_EQ(message_of([] { coir::histogram(coir::full<double, Space>({4}, 1e17)); }),
            "the range from 1e+17 to 1e+17 can't be cut into 10 bins, because rounded edges would "
            "be equal: take fewer bins or a wider range");
  EXPECT_THROW(coir::histogram(x, Limits64::max()), PreconditionError);
  EXPECT_EQ(message_of([] { coir::bincount(line<Space>(std::vector<int>{1, -2})); }),
            "bincount counts integers of 0 or more, not -2");
}
