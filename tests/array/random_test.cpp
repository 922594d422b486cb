#include "random_impl.hpp"

#include <coir/array/random.hpp>
#include <coir/array/reductions.hpp>

#include <array/host_values.hpp>
#include <array/memory_limit.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <vector>

namespace rng = coir::random;
using coir::testing::message_of;
using coir::testing::to_host;

__extension__ using Wide = unsigned __int128;

namespace {

template <class C>
using Space = typename C::Exec::memory_space;

std::uint64_t fingerprint(void const* data, std::size_t bytes) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  auto const* at = static_cast<unsigned char const*>(data);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}
template <class T>
std::uint64_t fingerprint(std::vector<T> const& values) {
  return fingerprint(values.data(), values.size() * sizeof(T));
}

// Counts are within five standard deviations, as for a right generator in all but one of 1.7
// million draws.
constexpr double sigmas = 5;

}  // namespace

// Vectors from the file kat_vectors of Random123 1.14.0, lines "threefry4x32 20".
TEST(Random, ReproducesThePublishedVectorOfThreefry) {
  rng::detail::Words const expected = {0x9c6ca96a, 0xe17eae66, 0xfc10ecd4, 0x5256a7d8};
  EXPECT_EQ(rng::detail::words_at({0, 0, 0, 0}, 0, rng::detail::Purpose::numbers), expected);
  auto const bits = to_host(rng::bits(rng::key(0), {4}));
  EXPECT_TRUE(std::equal(bits.begin(), bits.end(), expected.begin(), expected.end()));
}

TEST(Random, ReproducesThePublishedVectorsOfOtherCounters) {
  using rng::detail::threefry;
  using rng::detail::Words;
  EXPECT_EQ(threefry({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u, ~0u, ~0u}),
            (Words{0x2a881696, 0x57012287, 0xf6c7446e, 0xa16a6732}));
  EXPECT_EQ(threefry({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                     {0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89}),
            (Words{0x59cd1dbb, 0xb8879579, 0x86b5d00c, 0xac8b6d84}));
}

TEST(Random, KeysAreDerivedWithoutRepetition) {
  auto const key = rng::key(42);
  EXPECT_EQ(key, rng::key(42));
  EXPECT_NE(key, rng::key(43));
  EXPECT_NE(rng::key(std::uint64_t(1) << 32), rng::key(0));

  std::set<std::array<std::uint32_t, 4>> seen = {key.words};
  auto const split = rng::split(key, 1000);
  for (auto const& child : split) EXPECT_TRUE(seen.insert(child.words).second);
  for (std::uint64_t i = 0; i < 1000; ++i)
    EXPECT_TRUE(seen.insert(rng::fold_in(key, i).words).second);
  for (auto const& grandchild : rng::split(split[0], 1000))
    EXPECT_TRUE(seen.insert(grandchild.words).second);

  auto const [a, b] = rng::split<2>(key);
  EXPECT_EQ(a, split[0]);
  EXPECT_EQ(b, split[1]);
  EXPECT_TRUE(rng::split(key, 0).empty());
  EXPECT_THROW(rng::split(key, -1), coir::PreconditionError);
}

COIR_TYPED_SUITE(RandomArrays);

// What the words become, in the plain arithmetic of the documentation.
TYPED_TEST(RandomArrays, AgreeWithAPlainLoop) {
  using T = typename TypeParam::Real;
  using S = Space<TypeParam>;
  constexpr bool single = std::is_same_v<T, float>;
  auto const key = rng::key(7);
  for (std::int64_t const n : {0, 1, 2, 3, 5, 31, 513, 1009, 1024, 5000, 40001}) {
    auto const uniform = to_host(rng::uniform<T, S>(key, {n}));
    auto const normal = to_host(rng::normal<T, S>(key, {n}));
    auto const integer = to_host(rng::integers<int, S>(key, {n}, -3, 1000));
    auto const wide = to_host(rng::integers<std::int64_t, S>(key, {n}, -5, std::int64_t(1) << 62));
    ASSERT_EQ(uniform.size(), static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) {
      auto const words = [&](std::int64_t counter) {
        return rng::detail::words_at(key.words, static_cast<std::uint64_t>(counter),
                                     rng::detail::Purpose::numbers);
      };
      auto const pair = [&](auto const& w, std::size_t i) {
        return w[2 * i] | std::uint64_t(w[2 * i + 1]) << 32;
      };
      auto const at = static_cast<std::size_t>(k);
      auto const w = words(single ? k / 4 : k / 2);
      double const u =
          single ? double(w[k % 4] >> 8) * 0x1p-24 : double(pair(w, k % 2) >> 11) * 0x1p-53;
      ASSERT_EQ(uniform[at], T(u)) << "element " << k << " of " << n;

      auto const half = static_cast<std::size_t>(single ? k % 4 / 2 : 0);
      using Long = long double;
      Long const a =
          single ? (w[2 * half] + 0.5L) * 0x1p-32L : (Long(pair(w, 0) >> 11) + 0.5L) * 0x1p-53L;
      Long const b = single ? w[2 * half + 1] * 0x1p-32L : Long(pair(w, 1)) * 0x1p-64L;
      Long const angle = 2 * std::numbers::pi_v<Long> * b;
      Long const radius = std::sqrt(-2 * std::log(a));
      // In units of eps: 1/2 of u, which is an absolute error of its logarithm; 2 of the logarithm
      // itself, 1 of the root, 3 absolute of sine and cosine, whose angle is rounded three times.
      double const eps = std::numeric_limits<T>::epsilon();
      double const tolerance = eps * static_cast<double>(5 * radius + 1 / radius);
      ASSERT_NEAR(normal[at],
                  static_cast<double>(radius * (k % 2 ? std::sin(angle) : std::cos(angle))),
                  tolerance)
          << "element " << k << " of " << n;

      auto const v = words(k / 2);
      ASSERT_EQ(integer[at], -3 + static_cast<int>(Wide(pair(v, k % 2)) * 1003 >> 64));
      auto const z = words(k);
      std::uint64_t const range = (std::uint64_t(1) << 62) + 5;
      std::uint64_t const carry = Wide(pair(z, 0)) * range >> 64;
      ASSERT_EQ(wide[at], -5 + static_cast<std::int64_t>((Wide(pair(z, 1)) * range + carry) >> 64));
    }
  }
}

TYPED_TEST(RandomArrays, DependOnTheOrderOfElementsAlone) {
  using T = typename TypeParam::Real;
  using S = Space<TypeParam>;
  auto const key = rng::key(3);
  auto const flat = to_host(rng::normal<T, S>(key, {210}));
  EXPECT_EQ(to_host(rng::normal<T, S>(key, {7, 30})), flat);
  EXPECT_EQ(to_host(rng::normal<T, S>(key, coir::Shape<4>{2, 3, 5, 7})), flat);
  auto const longer = to_host(rng::normal<T, S>(key, {100003}));
  EXPECT_TRUE(std::equal(flat.begin(), flat.end(), longer.begin()));
  EXPECT_EQ(to_host(rng::uniform<T, S>(key, {3, 0})).size(), 0u);
}

// Parts of a larger array, wherever they begin and lie.
TYPED_TEST(RandomArrays, FillFromAnyNumberOn) {
  using T = typename TypeParam::Real;
  using S = Space<TypeParam>;
  auto const key = rng::key(3);
  auto const whole = to_host(rng::normal<T, S>(key, {5000}));
  auto const evenly = to_host(rng::uniform<T, S>(key, {5000}));
  for (std::int64_t first : {0, 1, 2, 3, 4, 1023}) {
    coir::Array<T, 2, S> part(coir::Shape<2>{40, 99});
    rng::fill_normal(key, part, T(0), T(1), first);
    auto const normal = to_host(part);
    rng::fill_uniform(key, part, T(0), T(1), first);
    auto const uniform = to_host(part);
    EXPECT_TRUE(std::equal(normal.begin(), normal.end(), whole.begin() + first)) << first;
    EXPECT_TRUE(std::equal(uniform.begin(), uniform.end(), evenly.begin() + first)) << first;
  }
  coir::Array<T, 1, S> part(coir::Shape<1>{4});
  EXPECT_EQ(message_of([&] { rng::fill_normal(key, part, T(0), T(1), -1); }),
            "the first random number must be number 0 of its key or a later one, not -1");
  EXPECT_EQ(message_of([&] { rng::fill_uniform(key, part, T(0), T(1), -1); }),
            "the first random number must be number 0 of its key or a later one, not -1");
}

TYPED_TEST(RandomArrays, FillSlices) {
  using T = typename TypeParam::Real;
  using S = Space<TypeParam>;
  auto const key = rng::key(5);
  coir::Array<T, 2, S> grid(coir::Shape<2>{6, 10});
  grid = T(-1);
  rng::fill_uniform(key, grid(coir::range(1, -1), coir::range(0, coir::end, 3)));
  rng::fill_uniform(key, grid(5));  // contiguous, but not aligned to four numbers
  auto const values = to_host(grid);
  auto const expected = to_host(rng::uniform<T, S>(key, {16}));
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 10; ++j)
      EXPECT_EQ(values[10 * i + j], i >= 1 && j % 3 == 0 ? expected[4 * (i - 1) + j / 3] : T(-1));
  for (std::size_t j = 0; j < 10; ++j) EXPECT_EQ(values[50 + j], expected[j]);
}

TYPED_TEST(RandomArrays, UniformNumbersStayInTheirInterval) {
  using T = typename TypeParam::Real;
  auto const key = rng::key(11);
  for (T const x : to_host(rng::uniform<T, Space<TypeParam>>(key, {100000}, -2, 3))) {
    ASSERT_GE(x, T(-2));
    ASSERT_LT(x, T(3));
  }
  // The interval holds two numbers: rounding must not reach the upper bound.
  T const low = 1, high = std::nextafter(T(1), T(2));
  for (T const x : to_host(rng::uniform<T, Space<TypeParam>>(key, {1000}, low, high)))
    ASSERT_EQ(x, low);
}

TYPED_TEST(RandomArrays, MeanAndDeviationAreScales) {
  using T = typename TypeParam::Real;
  using S = Space<TypeParam>;
  auto const key = rng::key(2);
  auto const standard = to_host(rng::normal<T, S>(key, {1009}));
  auto const scaled = to_host(rng::normal<T, S>(key, {1009}, 10, 3));
  for (std::size_t i = 0; i < scaled.size(); ++i)
    EXPECT_EQ(scaled[i], std::fma(standard[i], T(3), T(10)));
}

namespace {

template <class T, class Space>
void expect_all_integers_equally_likely(T low, T high) {
  std::int64_t const n = 200'000;
  auto const x = to_host(rng::integers<T, Space>(rng::key(4), {n}, low, high));
  std::vector<double> counts(static_cast<std::size_t>(high - low));
  for (T const v : x) {
    ASSERT_GE(v, low);
    ASSERT_LT(v, high);
    counts[static_cast<std::size_t>(v - low)] += 1;
  }
  // A count is binomial.
  double const p = 1.0 / static_cast<double>(counts.size());
  for (double const count : counts)
    EXPECT_NEAR(count, double(n) * p, sigmas * std::sqrt(double(n) * p * (1 - p)));
}

}  // namespace

template <class Exec>
class RandomIntegers : public ::testing::Test {};
TYPED_TEST_SUITE(RandomIntegers, coir::testing::Spaces, coir::testing::SpaceName);

TYPED_TEST(RandomIntegers, AreEquallyLikely) {
  using S = typename TypeParam::memory_space;
  expect_all_integers_equally_likely<signed char, S>(-3, 4);
  expect_all_integers_equally_likely<std::uint8_t, S>(0, 200);
  expect_all_integers_equally_likely<std::int16_t, S>(-50, 51);
  expect_all_integers_equally_likely<std::uint16_t, S>(65530, 65535);
  expect_all_integers_equally_likely<int, S>(-2, 0);
  expect_all_integers_equally_likely<unsigned, S>(7, 8);
  expect_all_integers_equally_likely<std::int64_t, S>(-500, 500);
  expect_all_integers_equally_likely<unsigned long long, S>(1, 11);
}

// Numbers of this kind, to the last bit, on every backend and any number of threads.
TYPED_TEST(RandomIntegers, SameBitsEverywhere) {
  using S = typename TypeParam::memory_space;
  auto const key = rng::key(2024);
  std::int64_t const n = 100'003;
  EXPECT_EQ(fingerprint(to_host(rng::bits<std::uint32_t, S>(key, {n}))), 12574888726645851785u);
  EXPECT_EQ(fingerprint(to_host(rng::bits<std::uint64_t, S>(key, {n}))), 2748371967094773647u);
  EXPECT_EQ(fingerprint(to_host(rng::uniform<float, S>(key, {n}, -1, 2))), 13856310260882183800u);
  EXPECT_EQ(fingerprint(to_host(rng::uniform<double, S>(key, {n}, -1, 2))), 12488224148635579332u);
  EXPECT_EQ(fingerprint(to_host(rng::normal<float, S>(key, {n}, 1, 3))), 9755359979771786839u);
  EXPECT_EQ(fingerprint(to_host(rng::normal<double, S>(key, {n}, 1, 3))), 18317883211260308347u);
  EXPECT_EQ(fingerprint(to_host(rng::integers<int, S>(key, {n}, -7, 1000))), 3531415045453604098u);
  EXPECT_EQ(
      fingerprint(to_host(rng::integers<std::int64_t, S>(key, {n}, -7, std::int64_t(1) << 60))),
      12317289168556134179u);
}

TYPED_TEST(RandomIntegers, PermutationsHoldEachIndexOnce) {
  using S = typename TypeParam::memory_space;
  for (std::int64_t const n : {0, 1, 2, 31, 513, 5000}) {
    auto order = to_host(rng::permutation<S>(rng::key(3), n));
    ASSERT_EQ(order.size(), static_cast<std::size_t>(n));
    std::sort(order.begin(), order.end());
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
  }
}

// Random numbers, the order, and as much again to sort them in, which the pool rounds up by an
// eighth at most.
TYPED_TEST(RandomIntegers, PermutationsTakeTheMemoryOfFourNumbersEach) {
  using S = typename TypeParam::memory_space;
  std::int64_t const n = 1 << 20;
  coir::testing::MemoryLimit<S> const limit(36 * n);
  EXPECT_EQ(sum(rng::permutation<S>(rng::key(4), n)), n * (n - 1) / 2);
}

// Each of the six orders of three has a binomial count.
TYPED_TEST(RandomIntegers, PermutationsAreEquallyLikely) {
  using S = typename TypeParam::memory_space;
  int const n = 6000;
  std::map<std::vector<std::int64_t>, int> counts;
  for (auto const& key : rng::split(rng::key(5), n)) ++counts[to_host(rng::permutation<S>(key, 3))];
  EXPECT_EQ(counts.size(), 6u);
  for (auto const& [order, count] : counts)
    EXPECT_NEAR(count, n / 6.0, sigmas * std::sqrt(n * 5.0 / 36));
}

TYPED_TEST(RandomIntegers, RefusesBadParameters) {
  using S = typename TypeParam::memory_space;
  auto const key = rng::key(0);
  double const infinity = std::numeric_limits<double>::infinity();
  using coir::PreconditionError;
  EXPECT_THROW((rng::integers<int, S>(key, {3}, 5, 5)), PreconditionError);
  EXPECT_THROW((rng::uniform<double, S>(key, {3}, 1, 1)), PreconditionError);
  EXPECT_THROW((rng::uniform<double, S>(key, {3}, 0, infinity)), PreconditionError);
  EXPECT_THROW((rng::uniform<double, S>(key, {3}, -1e308, 1e308)), PreconditionError);
  EXPECT_THROW((rng::normal<double, S>(key, {3}, 0, -1)), PreconditionError);
  EXPECT_THROW((rng::normal<double, S>(key, {3}, infinity, 1)), PreconditionError);
  EXPECT_THROW((rng::normal<double, S>(key, {-1})), PreconditionError);
  EXPECT_THROW(rng::permutation<S>(key, -1), PreconditionError);
  EXPECT_EQ(message_of([&] { rng::integers<int, S>(key, {3}, 5, 4); }),
            "random integers need low < high, not 5 and 4");
}

/// `count` numbers of 32 bits that a loop by `each` counters an index, or with one the loop of
/// hosts, writes behind the first `offset` elements, which it leaves alone like those at the end.
template <int each>
std::vector<std::uint32_t> filled(int count, int offset) {
  using Body = coir::random::detail::FillBody<coir::random::detail::Bits32, each>;
  constexpr int most = 1003;
  constexpr std::uint32_t untouched = 7;
  alignas(16) std::uint32_t data[most + 8];
  std::fill(std::begin(data), std::end(data), untouched);
  std::int64_t const counters = (count + 3) / 4;
  Body const body{{{1, 2, 3, 4}}, {}, data + offset, count, (counters + each - 1) / each,
                  offset == 0};
  if constexpr (each == 1)
    body.stretch(0, body.indices);
  else
    for (std::int64_t index = 0; index < body.indices; ++index) body(index);
  auto const is_untouched = [](std::uint32_t x) { return x == untouched; };
  EXPECT_TRUE(std::all_of(data, data + offset, is_untouched)) << count;
  EXPECT_TRUE(std::all_of(data + offset + count, std::end(data), is_untouched)) << count;
  return {data + offset, data + offset + count};
}

// Devices draw from two counters at a time; the last index may have one counter only. They store
// vectors where memory is aligned.
TEST(RandomFill, DevicesDrawFromTwoCountersWhatHostsDrawInBlocks) {
  for (int const offset : {0, 1})
    for (int const count : {1, 3, 4, 5, 7, 8, 9, 12, 13, 1000, 1001, 1002, 1003})
      EXPECT_EQ(filled<2>(count, offset), filled<1>(count, offset)) << count;
}
