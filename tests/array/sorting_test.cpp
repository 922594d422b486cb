#include <coir/array/operators.hpp>
#include <coir/array/sorting.hpp>

#include <array/host_values.hpp>
#include <array/memory_limit.hpp>
#include <support/spaces.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

using coir::testing::from_host;
using coir::testing::random_integers;
using coir::testing::to_host;

namespace {

template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);
}

/// Numbers with many ties, and of each kind that is special.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed) {
  std::int64_t const most = std::is_same_v<T, bool> ? 1 : 100;
  auto const integers = random_integers(count, seed, std::is_signed_v<T> ? -most : 0, most);
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<T>(integers[i]);
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    T const special[] = {Limits::quiet_NaN(),
                         -Limits::quiet_NaN(),
                         Limits::infinity(),
                         -Limits::infinity(),
                         T(-0.0),
                         T(0),
                         Limits::denorm_min(),
                         Limits::lowest(),
                         Limits::max()};
    for (std::size_t i = 0; i < count; i += 7) result[i] = special[i / 7 % 9];
  } else if constexpr (!std::is_same_v<T, bool>) {
    for (std::size_t i = 0; i < count; i += 5)
      result[i] = i % 2 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest();
  }
  return result;
}

template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

std::size_t const sizes[] = {0, 1, 2, 31, 511, 512, 513, 1009, 5000, 70001};

template <class T, class Space>
void expect_sorts() {
  for (std::size_t const n : sizes) {
    std::vector<T> const x = numbers<T>(n, 1);
    coir::Array<T, 1, Space> const array = [&] {
      if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no data()
        std::vector<int> const y(x.begin(), x.end());
        return coir::Array<bool, 1, Space>(from_host<Space>(y, coir::Shape<1>{std::int64_t(n)}) !=
                                           0);
      } else {
        return from_host<Space>(x, coir::Shape<1>{std::int64_t(n)});
      }
    }();
    std::vector<std::int64_t> expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
      return before<T>(x[std::size_t(a)], x[std::size_t(b)]);
    });
    EXPECT_EQ(to_host(coir::argsort(array)), expected) << n;

    auto const sorted = to_host(coir::Array<double, 1, Space>(coir::sort(array) * 1.0));
    ASSERT_EQ(sorted.size(), n);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_TRUE(same(sorted[i], double(x[std::size_t(expected[i])]))) << i << " of " << n;
  }
}

}  // namespace

template <class Exec>
class Sorting : public ::testing::Test {};
TYPED_TEST_SUITE(Sorting, coir::testing::Spaces, coir::testing::SpaceName);

TYPED_TEST(Sorting, AgreesWithTheStandardLibrary) {
  using S = typename TypeParam::memory_space;
  expect_sorts<float, S>();
  expect_sorts<double, S>();
  expect_sorts<std::int8_t, S>();
  expect_sorts<std::uint8_t, S>();
  expect_sorts<std::int16_t, S>();
  expect_sorts<std::uint16_t, S>();
  expect_sorts<int, S>();
  expect_sorts<unsigned, S>();
  expect_sorts<std::int64_t, S>();
  expect_sorts<unsigned long long, S>();
  expect_sorts<bool, S>();
}

// Numbers that differ in their lowest bits alone, beside one that differs in the highest.
TYPED_TEST(Sorting, TellsNeighboursApart) {
  using S = typename TypeParam::memory_space;
  std::vector<double> x(5000, -1e300);
  for (std::size_t i = 1; i < x.size(); ++i)
    x[i] = 1 + double(i * 7919 % 1250) * std::numeric_limits<double>::epsilon();
  auto const array = from_host<S>(x, coir::Shape<1>{std::int64_t(x.size())});
  std::vector<std::int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return x[std::size_t(a)] < x[std::size_t(b)];
  });
  EXPECT_EQ(to_host(coir::argsort(array)), order);
  auto const sorted = to_host(coir::sort(array));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(sorted[i], x[std::size_t(order[i])]) << i;
}

TYPED_TEST(Sorting, NegativeZeroComesFirstAndNanLast) {
  using S = typename TypeParam::memory_space;
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> const x = {nan, 0.0, -0.0, -nan, -1.0};
  auto const sorted = to_host(coir::sort(from_host<S>(x, coir::Shape<1>{5})));
  EXPECT_EQ(sorted[0], -1.0);
  EXPECT_TRUE(sorted[1] == 0 && std::signbit(sorted[1]));
  EXPECT_TRUE(sorted[2] == 0 && !std::signbit(sorted[2]));
  EXPECT_TRUE(std::isnan(sorted[3]) && std::isnan(sorted[4]));
}

TYPED_TEST(Sorting, RunsAlongEachAxis) {
  using S = typename TypeParam::memory_space;
  std::int64_t const shapes[][3] = {{1, 1, 1}, {2, 3, 5},  {3000, 2, 3}, {3, 600, 1}, {3, 2, 1009},
                                    {2, 0, 3}, {5, 7, 31}, {3, 3, 48},   {5, 7, 301}};
  for (auto const& extents : shapes) {
    coir::Shape<3> const shape = {extents[0], extents[1], extents[2]};
    auto const x = numbers<int>(std::size_t(coir::size_of(shape)), 2);
    auto const array = from_host<S>(x, shape);
    auto const strides = coir::c_strides(shape);
    for (int axis = -3; axis < 3; ++axis) {
      std::size_t const d = std::size_t(axis < 0 ? axis + 3 : axis);
      std::vector<int> expected = x;
      std::vector<std::int64_t> expected_order(x.size());
      for (std::int64_t start = 0; start < std::int64_t(x.size()); ++start) {
        if (start / strides[d] % shape[d] != 0) continue;
        std::vector<std::pair<int, std::int64_t>> line;
        for (std::int64_t i = 0; i < shape[d]; ++i)
          line.push_back({x[std::size_t(start + i * strides[d])], i});
        std::sort(line.begin(), line.end());
        for (std::int64_t i = 0; i < shape[d]; ++i) {
          expected[std::size_t(start + i * strides[d])] = line[std::size_t(i)].first;
          expected_order[std::size_t(start + i * strides[d])] = line[std::size_t(i)].second;
        }
      }
      EXPECT_EQ(to_host(coir::sort(array, axis)), expected)
          << coir::in_words(shape) << ", axis " << axis;
      EXPECT_EQ(to_host(coir::argsort(array, axis)), expected_order)
          << coir::in_words(shape) << ", axis " << axis;
      EXPECT_EQ(to_host(coir::sort(1.0 * array, axis)),
                std::vector<double>(expected.begin(), expected.end()))
          << coir::in_words(shape) << ", axis " << axis;
    }
  }
}

TYPED_TEST(Sorting, TakesExpressionsAndSlices) {
  using S = typename TypeParam::memory_space;
  auto const x = from_host<S>(std::vector<int>{3, 1, 2, 5, 4}, coir::Shape<1>{5});
  EXPECT_EQ(to_host(coir::sort(-x)), (std::vector<int>{-5, -4, -3, -2, -1}));
  EXPECT_EQ(to_host(coir::sort(x(coir::range(coir::end, coir::end, -2)))),
            (std::vector<int>{2, 3, 4}));
  EXPECT_EQ(to_host(x), (std::vector<int>{3, 1, 2, 5, 4}));
}

TYPED_TEST(Sorting, UniqueAgreesWithAMap) {
  using S = typename TypeParam::memory_space;
  for (std::size_t const n : sizes) {
    auto const x = numbers<int>(n, 3);
    std::map<int, std::int64_t> expected;
    for (int const v : x) ++expected[v];
    auto const unique = coir::unique_counts(from_host<S>(x, coir::Shape<2>{1, std::int64_t(n)}));
    std::vector<int> values;
    std::vector<std::int64_t> counts;
    for (auto const& [value, count] : expected) {
      values.push_back(value);
      counts.push_back(count);
    }
    EXPECT_EQ(to_host(unique.values), values) << n;
    EXPECT_EQ(to_host(unique.counts), counts) << n;
    EXPECT_EQ(to_host(coir::unique(from_host<S>(x, coir::Shape<1>{std::int64_t(n)}))), values);
  }
}

TYPED_TEST(Sorting, UniqueJoinsZerosAndNan) {
  using S = typename TypeParam::memory_space;
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> const x = {nan, 0.0f, -0.0f, -nan, 1.0f};
  auto const unique = coir::unique_counts(from_host<S>(x, coir::Shape<1>{5}));
  auto const values = to_host(unique.values);
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 1);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(to_host(unique.counts), (std::vector<std::int64_t>{2, 1, 2}));
}

TYPED_TEST(Sorting, SearchsortedAgreesWithTheStandardLibrary) {
  using S = typename TypeParam::memory_space;
  for (std::size_t const n : sizes) {
    auto x = numbers<double>(n, 4);
    std::sort(x.begin(), x.end(), before<double>);
    auto const sorted = from_host<S>(x, coir::Shape<1>{std::int64_t(n)});
    auto const values = numbers<float>(300, 5);
    auto const array = from_host<S>(values, coir::Shape<2>{20, 15});
    auto const left = to_host(coir::searchsorted(sorted, array));
    auto const right = to_host(coir::searchsorted(sorted, array, coir::Side::right));
    for (std::size_t i = 0; i < values.size(); ++i) {
      double const v = values[i];
      EXPECT_EQ(left[i], std::lower_bound(x.begin(), x.end(), v, before<double>) - x.begin()) << v;
      EXPECT_EQ(right[i], std::upper_bound(x.begin(), x.end(), v, before<double>) - x.begin()) << v;
    }
  }
}

TYPED_TEST(Sorting, SearchsortedFollowsSlices) {
  using S = typename TypeParam::memory_space;
  auto const x = from_host<S>(std::vector<int>{9, 7, 5, 3, 1}, coir::Shape<1>{5});
  auto const values = from_host<S>(std::vector<int>{0, 1, 4, 9, 10}, coir::Shape<1>{5});
  auto const backwards = x(coir::range(coir::end, coir::end, -1));
  EXPECT_EQ(to_host(coir::searchsorted(backwards, values)),
            (std::vector<std::int64_t>{0, 0, 2, 4, 5}));
}

// One answer is right, so this compares with it, whatever the number of threads.
TYPED_TEST(Sorting, SameBitsForAnyThreadCount) {
  using S = typename TypeParam::memory_space;
  std::size_t const n = 100'003;
  auto const x = numbers<float>(n, 6);
  std::vector<std::int64_t> expected(n);
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(), [&](std::int64_t a, std::int64_t b) {
    return before(x[std::size_t(a)], x[std::size_t(b)]);
  });
  EXPECT_EQ(to_host(coir::argsort(from_host<S>(x, coir::Shape<1>{std::int64_t(n)}))), expected);
}

// A copy to sort, and what sorting works in: no number for each element.
TYPED_TEST(Sorting, DifferentBytesTakeTheMemoryOfFewCopies) {
  using S = typename TypeParam::memory_space;
  std::int64_t const n = 1 << 22;
  auto const x = from_host<S>(numbers<std::uint8_t>(n, 7), coir::Shape<1>{n});
  coir::testing::MemoryLimit<S> const limit(5 * n);
  EXPECT_EQ(coir::unique(x).size(), 102);  // 0 to 100, and 255
}

TYPED_TEST(Sorting, OrdersThatDontFitTheMemorySayWhatIsMissing) {
  using S = typename TypeParam::memory_space;
  std::int64_t const n = 1 << 20;
  auto const x = from_host<S>(numbers<float>(n, 8), coir::Shape<1>{n});
  coir::testing::MemoryLimit<S> const limit(8 * n);  // keys, but not the order
  EXPECT_THROW(coir::argsort(x), coir::ResourceError);
}

TYPED_TEST(Sorting, RefusesAnAxisThatIsNot) {
  using S = typename TypeParam::memory_space;
  auto const x = from_host<S>(std::vector<int>(6), coir::Shape<2>{2, 3});
  EXPECT_THROW(coir::sort(x, 2), coir::PreconditionError);
  EXPECT_THROW(coir::argsort(x, -3), coir::PreconditionError);
}
