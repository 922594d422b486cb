#include <coir/array/all.hpp>
#include <coir/array/vmap.hpp>

#include <array/naive.hpp>
#include <support/spaces.hpp>

#include <cmath>
#include <limits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::random_array;
using coir::testing::values;

// What is mapped: structs, because nvcc takes no lambdas inside of tests.

/// scale times the sum of a row, plus a number.
struct Affine {
  template <class T>
  KOKKOS_FUNCTION T operator()(Row<T> const& row, T number, T scale) const {
    return scale * sum(row) + number;
  }
};

struct Square {
  template <class T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x * x;
  }
};

/// All that there is for rows.
struct Describe {
  template <class T>
  KOKKOS_FUNCTION Kokkos::Array<T, 5> operator()(Row<T> const& x, Row<T> const& y) const {
    return {sum(x), dot(x, y), norm(x), min(x), max(x)};
  }
};

struct Least {
  template <class T>
  KOKKOS_FUNCTION Kokkos::Array<T, 2> operator()(Row<T> const& x) const {
    return {min(x), max(x)};
  }
};

struct Size {
  template <class T>
  KOKKOS_FUNCTION int operator()(Row<T> const& x) const {
    return static_cast<int>(x.size());
  }
};

template <class Case>
class Vmap : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Space = typename Case::Exec::memory_space;
};
TYPED_TEST_SUITE(Vmap, coir::testing::Cases, coir::testing::CaseName);

#define TYPES                        \
  using T = typename TestFixture::T; \
  using Space = typename TestFixture::Space

// Whole numbers, and sums below 2^24: exact in any order.
TYPED_TEST(Vmap, IsAPlainLoopOverRowsAndNumbers) {
  TYPES;
  for (std::int64_t n : {1, 2, 31, 513, 5000}) {
    auto const a = random_array<T, Space>(Shape<2>{n, 7}, 1);
    auto const b = random_array<T, Space>(Shape<1>{n}, 2);
    auto const result = vmap(Affine{})(a, b, T(3));
    static_assert(std::same_as<decltype(result), Array<T, 1, Space> const>);
    auto const x = values(a), y = values(b), r = values(result);
    ASSERT_EQ(r.size(), static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < r.size(); ++i) {
      T expected = 0;
      for (std::size_t j = 0; j < 7; ++j) expected += x[i * 7 + j];
      ASSERT_EQ(r[i], 3 * expected + y[i]) << n << " at " << i;
    }
  }
}

TYPED_TEST(Vmap, GivesRowsForVectors) {
  TYPES;
  for (std::int64_t n : {1, 33, 1009}) {
    auto const a = random_array<T, Space>(Shape<2>{n, 13}, 3);
    auto const b = random_array<T, Space>(Shape<2>{n, 13}, 4);
    auto const result = vmap(Describe{})(a, b);
    ASSERT_EQ(result.shape(), (Shape<2>{n, 5}));
    auto const x = values(a), y = values(b), r = values(result);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      T total = 0, product = 0, squares = 0, least = x[i * 13], most = x[i * 13];
      for (std::size_t j = i * 13; j < (i + 1) * 13; ++j) {
        total += x[j];
        product += x[j] * y[j];
        squares += x[j] * x[j];
        least = std::min(least, x[j]);
        most = std::max(most, x[j]);
      }
      ASSERT_EQ(r[i * 5], total);
      ASSERT_EQ(r[i * 5 + 1], product);
      // One rounding of an exact sum; devices' sqrt may be off by one more.
      ASSERT_NEAR(r[i * 5 + 2], std::sqrt(squares),
                  std::sqrt(squares) * std::numeric_limits<T>::epsilon());
      ASSERT_EQ(r[i * 5 + 3], least);
      ASSERT_EQ(r[i * 5 + 4], most);
    }
  }
}

TYPED_TEST(Vmap, TakesSlicesAndExpressions) {
  TYPES;
  auto const a = random_array<T, Space>(Shape<2>{9, 20}, 5);
  auto const b = random_array<T, Space>(Shape<1>{20}, 6);
  auto const result =
      vmap(Affine{})(transpose(a)(range(end, end, -2)), 2 * b(range(0, end, 2)), T(1));
  auto const x = values(a), y = values(b), r = values(result);
  ASSERT_EQ(r.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    T expected = 2 * y[2 * i];
    for (std::size_t j = 0; j < 9; ++j) expected += x[j * 20 + 19 - 2 * i];
    EXPECT_EQ(r[i], expected);
  }
  EXPECT_EQ(values(vmap(Square{})(b + 1))[3], (y[3] + 1) * (y[3] + 1));
}

TYPED_TEST(Vmap, NaNIsTheExtremeOfARow) {
  TYPES;
  auto a = zeros<T, Space>(3, 4);
  a(0, 0) = a(1, 2) = std::numeric_limits<T>::quiet_NaN();
  auto const r = values(vmap(Least{})(a));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(r[i])) << i;
  EXPECT_EQ(r[4], 0);
  EXPECT_EQ(r[5], 0);
}

TYPED_TEST(Vmap, TakesEmptyArrays) {
  TYPES;
  EXPECT_EQ(vmap(Square{})(zeros<T, Space>(0)).shape(), (Shape<1>{0}));
  EXPECT_EQ(vmap(Least{})(zeros<T, Space>(0, 5)).shape(), (Shape<2>{0, 2}));
  EXPECT_EQ(values(vmap(Size{})(zeros<T, Space>(3, 0))), (std::vector<int>{0, 0, 0}));
}

TYPED_TEST(Vmap, NamesLeadingExtentsThatDiffer) {
  TYPES;
  auto const text = message_of<PreconditionError>(
      [] { vmap(Affine{})(zeros<T, Space>(4, 2), zeros<T, Space>(5), T(1)); });
  EXPECT_NE(text.find("4, 5"), std::string::npos) << text;
}

/// Waits in each call for the other one to begin: only two threads get through.
struct Meet {
  int* present;
  KOKKOS_FUNCTION bool operator()(int) const {
    Kokkos::atomic_fetch_add(present, 1);
    for (std::int64_t i = 0; i < 1'000'000'000; ++i)
      if (Kokkos::atomic_fetch_add(present, 0) == 2) return true;
    return false;
  }
};

TEST(VmapOnHosts, SharesTwoCallsBetweenTwoThreads) {
  if (coir::testing::Host().concurrency() < 2) GTEST_SKIP() << "needs two threads";
  int present = 0;
  auto const met = vmap(Meet{&present})(zeros<int, Kokkos::HostSpace>(2));
  EXPECT_TRUE(met(0));
  EXPECT_TRUE(met(1));
}
