#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/scan.hpp>
#include <coir/array/slices.hpp>

#include <array/host_values.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

using coir::testing::from_host;
using coir::testing::message_of;
using coir::testing::random_integers;
using coir::testing::to_host;

COIR_TYPED_SUITE(Scan);

// Integers small enough are added without rounding.
TYPED_TEST(Scan, SumsAgreeWithAPlainLoop) {
  TYPES_OF_CASE;
  for (std::size_t const n : {0, 1, 2, 31, 63, 64, 65, 513, 1009, 4096, 5000, 300001}) {
    std::int64_t const most = n > 5000 ? 1 : 100;
    auto const numbers = random_integers(n, 1, -most, most);
    std::vector<T> x(numbers.begin(), numbers.end());
    auto const sums = to_host(coir::cumsum(from_host<Space>(x, coir::Shape<1>{std::int64_t(n)})));
    ASSERT_EQ(sums.size(), n);
    T sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += x[i];
      ASSERT_EQ(sums[i], sum) << i << " of " << n;
    }
  }
}

TYPED_TEST(Scan, RunsAlongEachAxis) {
  TYPES_OF_CASE;
  std::int64_t const shapes[][3] = {{1, 1, 1},    {2, 3, 5},   {130, 1, 3}, {3, 200, 2},
                                    {2, 67, 300}, {5, 4, 129}, {2, 0, 3},   {70, 65, 1}};
  for (auto const& extents : shapes) {
    coir::Shape<3> const shape = {extents[0], extents[1], extents[2]};
    auto const numbers = random_integers(std::size_t(coir::size_of(shape)), 2, -50, 50);
    std::vector<T> const x(numbers.begin(), numbers.end());
    auto const strides = coir::c_strides(shape);
    for (int axis = -3; axis < 3; ++axis) {
      std::size_t const d = std::size_t(axis < 0 ? axis + 3 : axis);
      auto expected = x;
      for (std::int64_t i = 0; i < std::int64_t(x.size()); ++i)
        if (i / strides[d] % shape[d] > 0)
          expected[std::size_t(i)] += expected[std::size_t(i - strides[d])];
      EXPECT_EQ(to_host(coir::cumsum(from_host<Space>(x, shape), axis)), expected)
          << coir::in_words(shape) << ", axis " << axis;
    }
  }
}

TYPED_TEST(Scan, TakesExpressionsAndSlices) {
  TYPES_OF_CASE;
  std::vector<T> const x = {1, 2, 3, 4, 5, 6};
  auto const a = from_host<Space>(x, coir::Shape<1>{6});
  EXPECT_EQ(to_host(coir::cumsum(a * a)), (std::vector<T>{1, 5, 14, 30, 55, 91}));
  EXPECT_EQ(to_host(coir::cumsum(a(coir::range(coir::end, coir::end, -2)))),
            (std::vector<T>{6, 10, 12}));
  EXPECT_EQ(to_host(coir::cumprod(a)), (std::vector<T>{1, 2, 6, 24, 120, 720}));
}

// An element passes through at most 64 operations of each level of groups, and one more to join
// them, each of which rounds by half an epsilon: 65 levels eps / 2 with levels = ceil(log n / log
// 16).
TYPED_TEST(Scan, SumsAreAccurate) {
  TYPES_OF_CASE;
  std::size_t const n = 1'000'003;
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = T(1) / T(i + 1);
  auto const sums = to_host(coir::cumsum(from_host<Space>(x, coir::Shape<1>{std::int64_t(n)})));
  double const bound = 65 * 5 * 0.5 * std::numeric_limits<T>::epsilon();
  long double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += x[i];
    ASSERT_NEAR(double(sums[i]), double(sum), bound * double(sum)) << i;
  }
}

// Products of n numbers in any order have relative errors of at most n eps / 2, to first order.
TYPED_TEST(Scan, ProductsAgreeWithAPlainLoop) {
  TYPES_OF_CASE;
  for (std::size_t const n : {1, 2, 31, 64, 65, 1009}) {
    std::vector<T> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = i % 2 ? T(1.25) : T(-0.8);
    auto const products =
        to_host(coir::cumprod(from_host<Space>(x, coir::Shape<1>{std::int64_t(n)})));
    long double product = 1;
    for (std::size_t i = 0; i < n; ++i) {
      product *= x[i];
      ASSERT_NEAR(double(products[i]), double(product),
                  double(i + 1) * 0.5 * std::numeric_limits<T>::epsilon() *
                      std::abs(double(product)) * 1.01);
    }
  }
}

// Powers of two: exact.
TYPED_TEST(Scan, ProductsNeitherOverflowNorVanishOnTheWay) {
  TYPES_OF_CASE;
  using Limits = std::numeric_limits<T>;
  for (int const size : {40, 30})
    for (std::int64_t const n : {20, 63, 64, 65, 1009, 5000}) {
      // Far down and up again, beyond both ends of the range.
      std::vector<T> x, expected;
      int exponent = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        int const step = i < n / 4 ? -size : i < 3 * (n / 4) ? size : -size;
        exponent += step;
        x.push_back(std::ldexp(T(1), step));
        expected.push_back(std::ldexp(T(1), exponent));
      }
      auto const a = from_host<Space>(x, coir::Shape<1>{n});
      EXPECT_EQ(to_host(coir::cumprod(a)), expected) << n;
      auto const products = to_host(coir::cumprod(
          coir::evaluate(coir::broadcast_to(a(coir::range(), coir::newaxis), {n, 3})), 0));
      for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(products[3 * i + 1], expected[i]);
    }
  EXPECT_EQ(to_host(coir::cumprod(from_host<Space>(
                std::vector<T>{2, Limits::infinity(), T(0.5), 0, 1}, coir::Shape<1>{5})))[2],
            Limits::infinity());
}

template <class Exec>
class ScanTypes : public ::testing::Test {};
TYPED_TEST_SUITE(ScanTypes, coir::testing::Spaces, coir::testing::SpaceName);

TYPED_TEST(ScanTypes, IntegersAreAddedIn64Bits) {
  using Space = typename TypeParam::memory_space;
  std::vector<std::int8_t> const small = {100, 100, 100, -128};
  auto const sums = coir::cumsum(from_host<Space>(small, coir::Shape<1>{4}));
  static_assert(std::is_same_v<coir::value_t<decltype(sums)>, std::int64_t>);
  EXPECT_EQ(to_host(sums), (std::vector<std::int64_t>{100, 200, 300, 172}));

  std::vector<unsigned> const large = {4000000000u, 4000000000u};
  auto const products = coir::cumprod(from_host<Space>(large, coir::Shape<1>{2}));
  static_assert(std::is_same_v<coir::value_t<decltype(products)>, std::uint64_t>);
  EXPECT_EQ(to_host(products), (std::vector<std::uint64_t>{4000000000u, 16000000000000000000u}));

  auto const a = from_host<Space>(small, coir::Shape<1>{4});
  EXPECT_EQ(to_host(coir::cumsum(a > 0)), (std::vector<std::int64_t>{1, 2, 3, 3}));
}

TYPED_TEST(ScanTypes, ComplexNumbers) {
  using Space = typename TypeParam::memory_space;
  using Complex = Kokkos::complex<double>;
  std::vector<Complex> const x(200, Complex(0, 1));
  auto const a = from_host<Space>(x, coir::Shape<1>{200});
  auto const sums = to_host(coir::cumsum(a));
  auto const products = to_host(coir::cumprod(a));
  Complex const powers[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(sums[i], Complex(0, double(i + 1)));
    EXPECT_EQ(products[i], powers[(i + 1) % 4]);
  }
}

// A group of elements that begins at `first`, whose threads have `each` elements.
struct ScannedGroup {
  std::vector<float> of_thread;   // sums up to each element of a thread
  std::vector<float> to_threads;  // sums up to the last element of each thread

  ScannedGroup(std::vector<float> const& x, std::size_t first, std::size_t threads,
               std::size_t each)
      : of_thread(threads * each), to_threads(threads) {
    for (std::size_t i = 0; i < of_thread.size(); ++i) {
      float const element = first + i < x.size() ? x[first + i] : 0;
      of_thread[i] = i % each == 0 ? element : of_thread[i - 1] + element;
      to_threads[i / each] = of_thread[i];
    }
    for (std::size_t width = 1; width < threads; width *= 2)
      for (std::size_t t = threads - 1; t >= width; --t) to_threads[t] += to_threads[t - width];
  }
};

// Known bits, whatever the number of threads.
TYPED_TEST(ScanTypes, SameBitsForAnyThreadCount) {
  using Space = typename TypeParam::memory_space;
  std::size_t const n = 300'007;
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 1.0f / float(i % 1000 + 1);
  auto const sums = to_host(coir::cumsum(from_host<Space>(x, coir::Shape<1>{std::int64_t(n)})));

  // The scheme in one loop for each level. On devices each thread of a group adds up `each`
  // elements, and adds the sums of the threads before in pairs of growing distance.
  std::vector<std::vector<float>> levels = {x};
  std::vector<std::size_t> threads;
  std::size_t const each = coir::runs_on_host<TypeParam> ? 64 : 16;
  for (;;) {
    std::vector<float> const& level = levels.back();
    threads.push_back(coir::runs_on_host<TypeParam> ? 1 : 32);
    while (!coir::runs_on_host<TypeParam> && threads.back() < 256 &&
           threads.back() * each < level.size())
      threads.back() *= 2;
    std::size_t const group = threads.back() * each;
    if (level.size() <= group) break;
    std::vector<float> totals;
    for (std::size_t i = 0; i < level.size(); i += group)
      totals.push_back(ScannedGroup(level, i, threads.back(), each).to_threads.back());
    levels.push_back(totals);
  }
  for (std::size_t l = levels.size(); l-- > 0;) {
    std::size_t const group = threads[l] * each, size = levels[l].size();
    for (std::size_t first = 0; first < size; first += group) {
      float const before = first > 0 ? levels[l + 1][first / group - 1] : 0;
      ScannedGroup const sums_here(levels[l], first, threads[l], each);
      for (std::size_t i = 0; i < group && first + i < size; ++i)
        levels[l][first + i] = (i < each ? before : before + sums_here.to_threads[i / each - 1]) +
                               sums_here.of_thread[i];
    }
  }
  EXPECT_EQ(sums, levels[0]);
}

TYPED_TEST(ScanTypes, RefusesAnAxisThatIsNot) {
  using Space = typename TypeParam::memory_space;
  auto const a = from_host<Space>(std::vector<int>(6), coir::Shape<2>{2, 3});
  EXPECT_EQ(message_of([&] { coir::cumsum(a, 2); }), "axis 2 is none of an array of shape (2, 3)");
  EXPECT_THROW(coir::cumprod(a, -3), coir::PreconditionError);
}
