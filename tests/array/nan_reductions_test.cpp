#include <coir/array/nan_reductions.hpp>

#include <array/naive.hpp>
#include <support/spaces.hpp>

#include <cmath>
#include <limits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::values;

template <class Case>
class NanReductions : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Space = typename Case::Exec::memory_space;
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();

  // [[1, nan, 3], [nan, nan, nan], [4, -2, nan]]
  static auto numbers() { return array<T, Space>({{1, nan, 3}, {nan, nan, nan}, {4, -2, nan}}); }

  /// Equal, or NaN both.
  template <class E>
  static void expect_same(E const& found, std::vector<T> const& expected) {
    auto const elements = values(found);
    ASSERT_EQ(elements.size(), expected.size());
    for (std::size_t i = 0; i < elements.size(); ++i)
      EXPECT_TRUE(elements[i] == expected[i] ||
                  (std::isnan(elements[i]) && std::isnan(expected[i])))
          << i << ": " << elements[i] << " and not " << expected[i];
  }
};
TYPED_TEST_SUITE(NanReductions, coir::testing::Cases, coir::testing::CaseName);

#define TYPES                                \
  using T = typename TestFixture::T;         \
  using Space = typename TestFixture::Space; \
  T const nan = TestFixture::nan;            \
  auto const x = this->numbers();            \
  auto const none = full<T, Space>({2}, nan)

// Expected numbers are those of NumPy's functions of the same names (nanstd: to the last bits).

TYPED_TEST(NanReductions, SumsAndProducts) {
  TYPES;
  EXPECT_EQ(nansum(x), T(6));
  this->expect_same(nansum(x, 0), {5, -2, 3});
  this->expect_same(nansum(2 * x, 1), {8, 0, 4});
  EXPECT_EQ(nanprod(x), T(-24));
  this->expect_same(nanprod(x, 1), {3, 1, -8});
  EXPECT_EQ(nansum(none), T(0));
  EXPECT_EQ(nanprod(none(range(0, 0))), T(1));
  EXPECT_EQ(nansum(array<int, Space>({1, 2})), 3);
  using Complex = Kokkos::complex<T>;
  EXPECT_EQ(nansum(array<Complex, Space>({Complex(1, 2), Complex(nan, 1), Complex(3, nan)})),
            Complex(1, 2));
}

TYPED_TEST(NanReductions, Extremes) {
  TYPES;
  EXPECT_EQ(nanmin(x), T(-2));
  EXPECT_EQ(nanmax(x), T(4));
  this->expect_same(nanmin(x, 0), {1, -2, 3});
  this->expect_same(nanmin(x, 1), {1, nan, -2});
  this->expect_same(nanmax(x, 0), {4, -2, 3});
  this->expect_same(nanmax(x, 1), {3, nan, 4});
  EXPECT_TRUE(std::isnan(nanmin(none)));
  EXPECT_EQ(nanmax(array<int, Space>({-3, -2})), -2);
  T const infinity = std::numeric_limits<T>::infinity();
  EXPECT_EQ(nanmin(array<T, Space>({nan, infinity})), infinity);
  EXPECT_EQ(nanmax(array<T, Space>({-infinity, nan})), -infinity);
  EXPECT_EQ(nanargmin(x), 7);
  EXPECT_EQ(values(nanargmax(x, 0)), (std::vector<std::int64_t>{2, 2, 0}));
  // Infinities are numbers, also beside NaN that come first.
  EXPECT_EQ(nanargmin(array<T, Space>({nan, infinity, infinity})), 1);
  EXPECT_EQ(nanargmax(array<T, Space>({nan, nan, -infinity})), 2);
  EXPECT_EQ(values(nanargmax(array<T, Space>({{nan, -infinity}, {3, nan}}), 1)),
            (std::vector<std::int64_t>{1, 0}));
  for (std::int64_t n : {31, 40, 4096}) {  // blocks of NaN alone
    auto late = full<T, Space>({n}, nan);
    EXPECT_EQ(message_of([&] { nanargmax(late); }), "there is no extreme element among NaN alone");
    late(range(1, 2)) = T(-7);
    EXPECT_EQ(nanargmax(late), 1) << n;
    EXPECT_EQ(nanargmin(late), 1) << n;
    EXPECT_EQ(values(nanargmax(reshape(late, {1, -1}), 1)), std::vector<std::int64_t>{1}) << n;
  }
  EXPECT_EQ(nanargmin(array<int, Space>({3, -1, -1})), 1);
  EXPECT_EQ(values(nanargmax(array<int, Space>({{3, 5}, {7, 7}}), 1)),
            (std::vector<std::int64_t>{1, 0}));
  EXPECT_THROW(nanmin(none(range(0, 0))), PreconditionError);
  EXPECT_THROW(nanargmin(none(range(0, 0))), PreconditionError);
  EXPECT_THROW(nanargmin(zeros<T, Space>(3, 0), 1), PreconditionError);
  EXPECT_EQ(message_of([&] { nanargmin(none); }), "there is no extreme element among NaN alone");
  EXPECT_EQ(message_of([&] { nanargmax(x, 1); }),
            "there is no extreme element where an array is NaN all along the axis");
}

TYPED_TEST(NanReductions, OfManyElementsAgreeWithThoseWithoutNan) {
  TYPES;
  for (std::int64_t n : {1, 2, 31, 1009, 40000}) {
    auto const whole = coir::testing::random_array<T, Space>(Shape<1>{n}, 3);
    auto const holes = evaluate(where(whole > 50, nan, whole));
    auto const rest = compress(whole, whole <= 50);
    if (rest.size() == 0) continue;
    EXPECT_EQ(nansum(holes), sum(rest));
    EXPECT_EQ(nanmin(holes), min(rest));
    EXPECT_EQ(nanmax(holes), max(rest));
    EXPECT_EQ(values(whole)[static_cast<std::size_t>(nanargmin(holes))], min(rest));
    EXPECT_EQ(nanmedian(holes), median(rest));
    EXPECT_NEAR(nanvar(holes), var(rest), 1e-4 * var(rest));
  }
}

TYPED_TEST(NanReductions, MeansAndVariances) {
  TYPES;
  EXPECT_EQ(nanmean(x), T(1.5));
  this->expect_same(nanmean(x, 0), {2.5, -2, 3});
  this->expect_same(nanmean(x, 1), {2, nan, 1});
  EXPECT_EQ(nanvar(x), T(5.25));
  EXPECT_EQ(nanvar(x, ddof(1)), T(7));
  this->expect_same(nanvar(x, 0), {2.25, 0, 0});
  this->expect_same(nanvar(x, 1, ddof(1)), {2, nan, 18});
  EXPECT_NEAR(nanstd(x), 2.29128784747792, 1e-6);
  this->expect_same(nanstd(x, 1), {1, nan, 3});
  EXPECT_TRUE(std::isnan(nanmean(none)));
  EXPECT_TRUE(std::isnan(nanvar(x(range(0, 1), 0), ddof(1))));
  EXPECT_EQ(nanmean(array<int, Space>({1, 2})), 1.5);
}

/// Its argument, and counts how often it is called.
template <class Space>
struct Counted {
  Kokkos::View<std::int64_t, Space> calls;
  template <class T>
  KOKKOS_FUNCTION T operator()(T const& x) const {
    Kokkos::atomic_add(calls.data(), std::int64_t(1));
    return x;
  }
};

TYPED_TEST(NanReductions, OfExpressionsComputeEachElementOnce) {
  TYPES;
  auto const calls = Kokkos::View<std::int64_t, Space>("calls");
  auto const counted = map(Counted<Space>{calls}, x);
  auto const expect_calls = [&](std::int64_t expected) {
    auto const found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), calls);
    EXPECT_EQ(found(), expected);
  };
  EXPECT_EQ(nanmean(counted), T(1.5));
  expect_calls(9);
  this->expect_same(nanmean(counted, 0), {2.5, -2, 3});
  expect_calls(18);
  EXPECT_EQ(nanvar(counted, ddof(1)), T(7));
  expect_calls(27);
  this->expect_same(nanstd(counted, 1), {1, nan, 3});
  expect_calls(36);
}

TYPED_TEST(NanReductions, ScansAndQuantiles) {
  TYPES;
  this->expect_same(nancumsum(x, 1), {1, 1, 4, 0, 0, 0, 4, 2, 2});
  this->expect_same(nancumprod(x(2, range())), {4, -8, -8});
  EXPECT_EQ(nanmedian(x), T(2));
  EXPECT_NEAR(nanpercentile(x, 30), 0.7, 1e-6);
  EXPECT_TRUE(std::isnan(nanmedian(none)));
  EXPECT_THROW(nanquantile(x, 2), PreconditionError);
  this->expect_same(nanmedian(x, 0), {2.5, -2, 3});
  this->expect_same(nanmedian(x, 1), {2, nan, 1});
  this->expect_same(nanquantile(x, {0, 1, 0.25}), {-2, 4, 0.25});
  EXPECT_EQ(nanquantile(x, {0.5, 0.25}, 1).shape(), (Shape<2>{2, 3}));
  this->expect_same(nanquantile(x, {0.5, 0.25}, 1), {2, nan, 1, 1.5, nan, -0.5});
  this->expect_same(nanpercentile(x, {50., 25.}, -1), {2, nan, 1, 1.5, nan, -0.5});
  this->expect_same(nanpercentile(x, {50., 100.}), {2, 4});
  EXPECT_TRUE(std::isnan(nanmedian(zeros<T, Space>(0))));
  this->expect_same(nanmedian(zeros<T, Space>(2, 0), 1), {nan, nan});
}
