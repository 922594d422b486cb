#include <coir/array/all.hpp>
#include <coir/array/vmap.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

using namespace coir;
using coir::testing::for_each_index;
using coir::testing::message_of;
using coir::testing::Naive;
using coir::testing::naive;
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

/// The elements in C order, each times its place in it: another order gives another number. Whole,
/// and below 2^24.
struct Digest {
  template <std::floating_point T>
  KOKKOS_FUNCTION T operator()(T x) const {
    return x;
  }
  template <class T, int Rank>
  KOKKOS_FUNCTION std::remove_const_t<T> operator()(Subarray<T, Rank> const& x) const {
    int place = 0;
    return add(x, place);
  }
  template <class T, int Rank>
  KOKKOS_FUNCTION static std::remove_const_t<T> add(Subarray<T, Rank> const& x, int& place) {
    std::remove_const_t<T> result = 0;
    for (std::int64_t i = 0; i < x.extent(0); ++i)
      if constexpr (Rank == 1)
        result += static_cast<std::remove_const_t<T>>(++place) * x[i];
      else
        result += add(x[i], place);
    return result;
  }
};

/// The same of several arguments, each ten times the one before.
struct DigestAll {
  template <class A, class B, class C, class T>
  KOKKOS_FUNCTION T operator()(A const& a, B const& b, C const& c, T d) const {
    Digest const f;
    return f(a) + 10 * f(b) + 100 * f(c) + 1000 * d;
  }
};

/// What a matrix can do.
struct DescribeMatrix {
  template <class T>
  KOKKOS_FUNCTION Kokkos::Array<T, 8> operator()(Matrix<T> const& m) const {
    auto const t = transpose(m);
    T corner = 0;
    for (std::int64_t j = 0; j < t.extent(0); ++j) corner = t[j][m.extent(0) - 1];
    return {sum(m), dot(m, t), norm(m), min(m), max(m), m(0, 1), corner, static_cast<T>(m.size())};
  }
};

struct SumOfRow {
  template <class T>
  KOKKOS_FUNCTION auto operator()(Row<T> const& x) const {
    return sum(x);
  }
};

struct DotInItsOwnType {
  template <class T>
  KOKKOS_FUNCTION auto operator()(Row<T> const& x, Row<T> const& y) const {
    return dot(x, y);
  }
};

struct SumOfMatrix {
  template <class T>
  KOKKOS_FUNCTION auto operator()(Matrix<T> const& x) const {
    return sum(x);
  }
};

struct Dot {
  template <class T>
  KOKKOS_FUNCTION T operator()(Row<T> const& x, Row<T> const& y) const {
    return dot(x, y);
  }
};

/// Sums of the last and the first elements of two rows, and differences, in a small matrix.
struct Corners {
  template <class T>
  KOKKOS_FUNCTION auto operator()(Row<T> const& x, Row<T> const& y) const {
    Kokkos::Array<Kokkos::Array<T, 2>, 3> result;
    for (int k = 0; k < 3; ++k) {
      result[k][0] = x[0] + static_cast<T>(k) * y[0];
      result[k][1] = x[x.size() - 1] - static_cast<T>(k) * y[y.size() - 1];
    }
    return result;
  }
};

struct FirstAndLast {
  template <class T>
  KOKKOS_FUNCTION Kokkos::Array<T, 2> operator()(Row<T> const& x, T y) const {
    return {x[0] + y, x[x.size() - 1] - y};
  }
};

/// A row divided by the sum of the magnitudes of its elements, of a length that is known when it
/// runs.
struct Normalise {
  template <class T>
  KOKKOS_FUNCTION void operator()(Row<T> const& x, Subarray<T, 1> const& result) const {
    T total = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) total += x[i] < 0 ? -x[i] : x[i];
    for (std::int64_t i = 0; i < x.size(); ++i) result[i] = total > 0 ? x[i] / total : T(0);
  }
};

/// All products of two rows, in a matrix.
struct Outer {
  template <class T>
  KOKKOS_FUNCTION void operator()(Row<T> const& x, Row<T> const& y,
                                  Subarray<T, 2> const& result) const {
    for (std::int64_t i = 0; i < x.size(); ++i)
      for (std::int64_t j = 0; j < y.size(); ++j) result(i, j) = x[i] * y[j];
  }
};

/// One number, through the reference to it.
struct Twice {
  template <class T>
  KOKKOS_FUNCTION void operator()(T x, T& result) const {
    result = 2 * x;
  }
};

COIR_TYPED_SUITE(Vmap);

TYPED_TEST(Vmap, AddsSmallIntegersIn64Bits) {
  TYPES_OF_CASE;
  auto const bytes = array<std::int8_t, Space>({{100, 100}, {-128, -128}, {-128, 100}});
  auto const sums = vmap(SumOfRow{})(bytes);
  EXPECT_TRUE((std::is_same_v<value_t<decltype(sums)>, std::int64_t>));
  EXPECT_EQ(values(sums), (std::vector<std::int64_t>{200, -256, -28}));
  EXPECT_EQ(values(vmap(DotInItsOwnType{})(bytes, bytes)),
            (std::vector<std::int64_t>{20000, 32768, 26384}));
  auto const stack = full<std::uint8_t, Space>(Shape<3>{2, 3, 4}, std::uint8_t(255));
  EXPECT_EQ(values(vmap(SumOfMatrix{})(stack)), (std::vector<std::uint64_t>{3060, 3060}));
  EXPECT_EQ(values(vmap(SumOfRow{})(bytes > 0)), (std::vector<std::int64_t>{2, 0, 1}));
}

// Whole numbers, and sums below 2^24: exact in any order.
TYPED_TEST(Vmap, GivesRowsForVectors) {
  TYPES_OF_CASE;
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

TYPED_TEST(Vmap, NaNIsTheExtremeOfARow) {
  TYPES_OF_CASE;
  auto a = zeros<T, Space>(3, 4);
  a(0, 0) = a(1, 2) = std::numeric_limits<T>::quiet_NaN();
  auto const r = values(vmap(Least{})(a));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(r[i])) << i;
  EXPECT_EQ(r[4], 0);
  EXPECT_EQ(r[5], 0);
}

/// Digest of the part at an index along an axis.
template <class T>
T digest_of(Naive<T> const& x, int axis, std::int64_t at) {
  T result = 0;
  int place = 0;
  for_each_index(x.shape, [&](std::vector<std::int64_t> const& index) {
    if (index[static_cast<std::size_t>(axis)] == at)
      result += static_cast<T>(x.rank() == 1 ? 1 : ++place) * x.at(index);
  });
  return result;
}

/// vmap(Digest{}) over each axis against a plain loop.
template <Expression X>
void expect_loops_along_all_axes(X const& a) {
  auto const x = naive(a);
  for (int axis = -x.rank(); axis < x.rank(); ++axis) {
    auto const result = naive(vmap(Digest{}, in_axes(axis))(a));
    int const d = axis < 0 ? axis + x.rank() : axis;
    ASSERT_EQ(result.shape, (std::vector{x.shape[static_cast<std::size_t>(d)]}));
    for (std::int64_t i = 0; i < result.shape[0]; ++i)
      ASSERT_EQ(result.at({i}), digest_of(x, d, i)) << "axis " << axis << " at " << i;
  }
}

TYPED_TEST(Vmap, GoesAlongEachAxis) {
  TYPES_OF_CASE;
  for (std::int64_t const n : {0, 1, 2, 31, 37}) {
    expect_loops_along_all_axes(random_array<T, Space>(Shape<1>{n}, 7));
    expect_loops_along_all_axes(random_array<T, Space>(Shape<2>{n, 5}, 8));
    expect_loops_along_all_axes(random_array<T, Space>(Shape<3>{3, n, 2}, 9));
    expect_loops_along_all_axes(random_array<T, Space>(Shape<4>{2, 3, 1, n}, 10, 10));
  }
}

TYPED_TEST(Vmap, GoesAlongEachAxisOfViewsAndSlices) {
  TYPES_OF_CASE;
  Kokkos::View<T***, Kokkos::LayoutLeft, Space> const view("view", 4, 5, 3);
  slice_of(view) = random_array<T, Space>(Shape<3>{4, 5, 3}, 11);
  Exec().fence();
  expect_loops_along_all_axes(slice_of(view));
  auto const a = random_array<T, Space>(Shape<3>{7, 9, 4}, 12);
  expect_loops_along_all_axes(a(range(end, end, -2), range(1, -1), range(end, end, 3)));
  expect_loops_along_all_axes(transpose(a)(2));
  expect_loops_along_all_axes(broadcast_to(a(0, range(), 0), {3, 9}));
  expect_loops_along_all_axes(a(range(0, 2)) + 1);
}

TYPED_TEST(Vmap, TakesAnAxisOfEachArgument) {
  TYPES_OF_CASE;
  for (std::int64_t const n : {1, 3, 67}) {
    auto const a = random_array<T, Space>(Shape<3>{2, 3, n}, 13, 10);
    auto const b = random_array<T, Space>(Shape<1>{n}, 14, 10);
    auto const c = random_array<T, Space>(Shape<2>{3, 2}, 15, 10);
    auto const r = values(vmap(DigestAll{}, in_axes(-1, 0, unmapped, unmapped))(a, b, c, T(2)));
    auto const x = naive(a), y = naive(b), z = naive(c);
    T whole = 0;
    for (std::size_t k = 0; k < z.size(); ++k) whole += static_cast<T>(k + 1) * z.elements[k];
    ASSERT_EQ(r.size(), static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_EQ(r[static_cast<std::size_t>(i)],
                digest_of(x, 2, i) + 10 * y.at({i}) + 100 * whole + 2000)
          << n << " at " << i;
  }
}

TYPED_TEST(Vmap, OneAxisIsForAllArrays) {
  TYPES_OF_CASE;
  auto const a = random_array<T, Space>(Shape<2>{4, 6}, 16);
  auto const b = 2 * a + 1;
  EXPECT_TRUE(all(vmap(Dot{}, in_axes(1))(a, b) == vmap(Dot{}, in_axes(-1, 1))(a, b)));
  EXPECT_TRUE(all(vmap(Dot{})(a, b) == vmap(Dot{}, in_axes(0, 0))(a, b)));
  // Of a vector the last axis is the first, and a number has none.
  auto const c = random_array<T, Space>(Shape<1>{6}, 17);
  EXPECT_TRUE(all(vmap(Affine{}, in_axes(-1))(a, c, T(3)) == 3 * sum(a, 0) + c));
}

TYPED_TEST(Vmap, GivesMatrices) {
  TYPES_OF_CASE;
  for (std::int64_t const n : {1, 33, 101}) {
    auto const a = random_array<T, Space>(Shape<3>{3, n, 3}, 19, 10);
    auto const r = naive(vmap(DescribeMatrix{}, in_axes(1))(a));
    auto const x = naive(a);
    ASSERT_EQ(r.shape, (std::vector<std::int64_t>{n, 8}));
    for (std::int64_t k = 0; k < n; ++k) {
      T total = 0, product = 0, squares = 0, least = x.at({0, k, 0}), most = least;
      for (std::int64_t i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < 3; ++j) {
          T const element = x.at({i, k, j});
          total += element;
          product += element * x.at({j, k, i});
          squares += element * element;
          least = std::min(least, element);
          most = std::max(most, element);
        }
      EXPECT_EQ(r.at({k, 0}), total);
      EXPECT_EQ(r.at({k, 1}), product);
      EXPECT_NEAR(r.at({k, 2}), std::sqrt(squares),
                  std::sqrt(squares) * std::numeric_limits<T>::epsilon());
      EXPECT_EQ(r.at({k, 3}), least);
      EXPECT_EQ(r.at({k, 4}), most);
      EXPECT_EQ(r.at({k, 5}), x.at({0, k, 1}));
      EXPECT_EQ(r.at({k, 6}), x.at({2, k, 2}));
      EXPECT_EQ(r.at({k, 7}), 9);
    }
  }
}

TYPED_TEST(Vmap, NaNIsTheExtremeOfAMatrix) {
  TYPES_OF_CASE;
  for (std::int64_t const at : {0, 5, 8}) {
    auto a = zeros<T, Space>(1, 3, 3);
    a(0, at / 3, at % 3) = std::numeric_limits<T>::quiet_NaN();
    auto const r = values(vmap(DescribeMatrix{})(a));
    EXPECT_TRUE(std::isnan(r[3]) && std::isnan(r[4])) << at;
  }
}

// mv and mm of jax.vmap's page.
TYPED_TEST(Vmap, OfAVmapOfDotProductsIsTheProductOfMatrices) {
  TYPES_OF_CASE;
  for (std::int64_t const n : {1, 7, 41}) {
    auto const a = random_array<T, Space>(Shape<2>{n, 5}, 20);
    auto const b = random_array<T, Space>(Shape<2>{5, 3}, 21);
    auto const mv = vmap(Dot{}, in_axes(0, unmapped));
    auto const mm = vmap(mv, in_axes(unmapped, 1), out_axes(1));
    auto const r = naive(mm(a, b)), x = naive(a), y = naive(b);
    ASSERT_EQ(r.shape, (std::vector<std::int64_t>{n, 3}));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < 3; ++j) {
        T expected = 0;
        for (std::int64_t k = 0; k < 5; ++k) expected += x.at({i, k}) * y.at({k, j});
        ASSERT_EQ(r.at({i, j}), expected) << i << ", " << j;
      }
  }
}

TYPED_TEST(Vmap, NestsThreeDeep) {
  TYPES_OF_CASE;
  auto const a = random_array<T, Space>(Shape<4>{3, 37, 2, 4}, 22);
  auto const over_last = vmap(Digest{}, in_axes(-1));
  auto const r = naive(vmap(vmap(over_last), in_axes(1))(a)), x = naive(a);
  ASSERT_EQ(r.shape, (std::vector<std::int64_t>{37, 3, 4}));
  for_each_index(r.shape, [&](std::vector<std::int64_t> const& i) {
    ASSERT_EQ(r.at(i), x.at({i[1], i[0], 0, i[2]}) + 2 * x.at({i[1], i[0], 1, i[2]}));
  });
}

TYPED_TEST(Vmap, PutsItsAxisWhereOutAxesSays) {
  TYPES_OF_CASE;
  auto const a = random_array<T, Space>(Shape<2>{35, 4}, 23),
             b = random_array<T, Space>(Shape<2>{35, 3}, 24);
  auto const x = naive(a), y = naive(b);
  for (int axis = -3; axis < 3; ++axis) {
    auto const r = naive(vmap(Corners{}, out_axes(axis))(a, b));
    int const at = axis < 0 ? axis + 3 : axis;
    std::vector<std::int64_t> shape{3, 2};
    shape.insert(shape.begin() + at, 35);
    ASSERT_EQ(r.shape, shape) << axis;
    for_each_index({35, 3, 2}, [&](std::vector<std::int64_t> const& index) {
      auto const [i, k, c] = std::tuple(index[0], index[1], index[2]);
      std::vector<std::int64_t> place{k, c};
      place.insert(place.begin() + at, i);
      T const expected = c == 0 ? x.at({i, 0}) + static_cast<T>(k) * y.at({i, 0})
                                : x.at({i, 3}) - static_cast<T>(k) * y.at({i, 2});
      ASSERT_EQ(r.at(place), expected) << axis << " at " << i;
    });
  }
}

// The inner one puts its axis beside the items of a call, and the outer one beside these two.
TYPED_TEST(Vmap, PutsTheAxesOfANestWhereOutAxesSays) {
  TYPES_OF_CASE;
  auto const a = random_array<T, Space>(Shape<2>{5, 4}, 25);
  auto const b = random_array<T, Space>(Shape<1>{7}, 26);
  auto const x = naive(a), y = naive(b);
  for (int inner = -2; inner < 2; ++inner)
    for (int outer = -3; outer < 3; ++outer) {
      auto const r = naive(vmap(vmap(FirstAndLast{}, in_axes(unmapped, 0), out_axes(inner)),
                                in_axes(0, unmapped), out_axes(outer))(a, b));
      for_each_index({5, 7, 2}, [&](std::vector<std::int64_t> const& index) {
        auto const [i, j, c] = std::tuple(index[0], index[1], index[2]);
        std::vector<std::int64_t> place{c};
        place.insert(place.begin() + (inner < 0 ? inner + 2 : inner), j);
        place.insert(place.begin() + (outer < 0 ? outer + 3 : outer), i);
        ASSERT_EQ(r.at(place), c == 0 ? x.at({i, 0}) + y.at({j}) : x.at({i, 3}) - y.at({j}))
            << inner << ", " << outer;
      });
    }
}

TYPED_TEST(Vmap, OfNothingIsEmpty) {
  TYPES_OF_CASE;
  auto const none = zeros<T, Space>(4, 0);
  EXPECT_EQ(vmap(Digest{}, in_axes(1))(none).shape(), (Shape<1>{0}));
  EXPECT_EQ(values(vmap(Digest{})(none)), (std::vector<T>{0, 0, 0, 0}));
  EXPECT_EQ(vmap(Least{}, in_axes(1), out_axes(1))(none).shape(), (Shape<2>{2, 0}));
  EXPECT_EQ(vmap(vmap(Square{}))(none).shape(), (Shape<2>{4, 0}));
  EXPECT_EQ(vmap(Square{})(zeros<T, Space>(0)).shape(), (Shape<1>{0}));
  EXPECT_EQ(vmap(Least{})(zeros<T, Space>(0, 5)).shape(), (Shape<2>{0, 2}));
  EXPECT_EQ(values(vmap(Size{})(none)), (std::vector<int>{0, 0, 0, 0}));
}

TYPED_TEST(Vmap, IntoAnArrayWritesRows) {
  TYPES_OF_CASE;
  for (std::int64_t const n : {0, 1, 3, 37}) {
    auto const a = random_array<T, Space>(Shape<2>{5, n}, 27);
    auto y = full<T, Space>({n, 5}, 99), z = full<T, Space>({5, n}, 99);
    vmap_into(y, Normalise{}, in_axes(1))(a);
    vmap_into(z, Normalise{}, in_axes(1), out_axes(-1))(a);
    auto const x = naive(a), r = naive(y), s = naive(z);
    for (std::int64_t i = 0; i < n; ++i) {
      T total = 0;
      for (std::int64_t k = 0; k < 5; ++k) total += std::abs(x.at({k, i}));
      for (std::int64_t k = 0; k < 5; ++k) {
        ASSERT_EQ(r.at({i, k}), x.at({k, i}) / total);
        ASSERT_EQ(s.at({k, i}), x.at({k, i}) / total);
      }
    }
  }
}

TYPED_TEST(Vmap, IntoASliceWritesMatricesAndNumbersOfANest) {
  TYPES_OF_CASE;
  auto const a = random_array<T, Space>(Shape<2>{3, 4}, 28),
             b = random_array<T, Space>(Shape<2>{5, 2}, 29);
  auto const x = naive(a), y = naive(b);
  auto whole = zeros<T, Space>(3, 9, 4, 2);
  vmap_into(whole(range(), range(1, 6)), vmap(Outer{}, in_axes(unmapped, 0)), in_axes(0, unmapped))(
      a, b);
  auto const r = naive(whole);
  for_each_index(r.shape, [&](std::vector<std::int64_t> const& i) {
    bool const written = i[1] >= 1 && i[1] < 6;
    ASSERT_EQ(r.at(i), written ? x.at({i[0], i[2]}) * y.at({i[1] - 1, i[3]}) : 0);
  });
  auto numbers = zeros<T, Space>(4, 3);
  vmap_into(numbers, vmap(Twice{}), out_axes(1))(a);
  EXPECT_TRUE(all(numbers == 2 * transpose(a)));
  vmap_into(numbers, vmap(Square{}), out_axes(1))(a);
  EXPECT_TRUE(all(numbers == square(transpose(a))));
  auto extremes = zeros<T, Space>(2, 3);
  vmap_into(extremes, Least{}, out_axes(-1))(a);
  EXPECT_TRUE(all(extremes(0) == min(a, 1)) && all(extremes(1) == max(a, 1)));
}

TYPED_TEST(Vmap, IntoWhatItReadsReadsItAsItWas) {
  TYPES_OF_CASE;
  auto a = random_array<T, Space>(Shape<2>{37, 37}, 30);
  auto const before = coir::copy(a);
  auto expected = zeros<T, Space>(37, 37);
  vmap_into(expected, Normalise{}, in_axes(1))(before);
  vmap_into(a, Normalise{}, in_axes(1))(a);
  EXPECT_TRUE(all(a == expected));
}

/// A row from its end on, which reads what it wrote if it is its own result.
struct Reversed {
  template <class T>
  KOKKOS_FUNCTION void operator()(Row<T> const& x, Subarray<T, 1> const& result) const {
    for (std::int64_t i = 0; i < x.size(); ++i) result[i] = x[x.size() - 1 - i];
  }
};

// 5000 numbers are more than a call copies.
TYPED_TEST(Vmap, IntoItsOwnRowsReadsThemAsTheyWere) {
  TYPES_OF_CASE;
  for (std::int64_t const n : {1, 2, 31, 5000}) {
    auto a = random_array<T, Space>(Shape<2>{3, n}, 31);
    auto const before = coir::copy(a);
    vmap_into(a, Reversed{})(a);
    EXPECT_TRUE(all(a == flip(before, 1))) << n;
    vmap_into(a, Reversed{}, in_axes(-1), out_axes(1))(a);
    EXPECT_TRUE(all(a == flip(flip(before, 1), 0))) << n;
  }
  auto numbers = random_array<T, Space>(Shape<1>{77}, 32);
  auto const before = coir::copy(numbers);
  vmap_into(numbers, Twice{})(numbers);
  EXPECT_TRUE(all(numbers == 2 * before));
}

TYPED_TEST(Vmap, IntoAnArrayIsRecorded) {
  TYPES_OF_CASE;
  auto x = full<T, Space>({5}, 2), y = zeros<T, Space>(5);
  auto const steps = record<Space>([&] {
    vmap_into(y, Square{})(x);
    vmap_into(x, Twice{})(y);
  });
  steps.run(3);  // x = 2 x^2
  EXPECT_TRUE(all(x == 32768) && all(y == 16384));
}

TYPED_TEST(Vmap, IntoNamesAShapeThatDiffers) {
  TYPES_OF_CASE;
  auto const a = zeros<T, Space>(4, 3);
  auto y = zeros<T, Space>(3, 3);
  auto const rest = "make the array of that shape, or name other out_axes";
  EXPECT_EQ(
      message_of<PreconditionError>([&] { vmap_into(y, Normalise{})(a); }),
      std::string("vmap_into writes an array of shape (3, 3), and its calls fill (4, 3): ") + rest);
  EXPECT_EQ(
      message_of<PreconditionError>([&] { vmap_into(y, Least{}, out_axes(1))(a); }),
      std::string("vmap_into writes an array of shape (3, 3), and its calls fill (2, 4): ") + rest);
  EXPECT_EQ(message_of<PreconditionError>([&] { vmap_into(y, Normalise{}, out_axes(2))(a); }),
            "vmap's out_axes is 2, and the result's axes are -2 to 1: name one of them");
  Kokkos::View<T*, Space> const one("one", 1);
  Slice<T, 2, Space> const same(one.data(), {4, 3}, {0, 0}, nullptr);
  EXPECT_EQ(message_of<PreconditionError>([&] { vmap_into(same, Normalise{})(a); }),
            "what vmap_into writes with strides 0, 0 has elements in the same place and can't be "
            "written: copy it first");
}

TYPED_TEST(Vmap, NamesLengthsThatDiffer) {
  TYPES_OF_CASE;
  EXPECT_EQ(message_of<PreconditionError>([] {
              vmap(Affine{}, in_axes(1, 0, unmapped))(zeros<T, Space>(2, 4), zeros<T, Space>(5),
                                                      T(1));
            }),
            "vmap maps over axes of one length, and these have 4, 5 (axis 1 of argument 1, axis 0 "
            "of argument 2): make them equal, or name unmapped in in_axes what every call is to "
            "get whole");
}

TYPED_TEST(Vmap, NamesAnAxisThatThereIsNot) {
  TYPES_OF_CASE;
  auto const a = zeros<T, Space>(2, 3);
  auto const told = [&](int axis) {
    return message_of<PreconditionError>([&] { vmap(Dot{}, in_axes(0, axis))(a, a); });
  };
  EXPECT_EQ(told(2),
            "vmap's in_axes has axis 2 for argument 2, whose axes are -2 to 1 of shape (2, 3): "
            "name one of them, or unmapped if every call is to get it whole");
  EXPECT_NE(told(-3).find("axis -3 for argument 2"), std::string::npos);
  // The outer one has taken axis 0.
  EXPECT_EQ(message_of<PreconditionError>([&] { vmap(vmap(Square{}, in_axes(1)))(a); }),
            "vmap's in_axes has axis 1 for argument 1, whose axes are -1 to 0 of shape (3,): "
            "name one of them, or unmapped if every call is to get it whole");
  EXPECT_EQ(message_of<PreconditionError>([&] { vmap(Least{}, out_axes(2))(a); }),
            "vmap's out_axes is 2, and the result's axes are -2 to 1: name one of them");
  EXPECT_EQ(message_of<PreconditionError>([&] { vmap(Size{}, out_axes(-2))(a); }),
            "vmap's out_axes is -2, and the result's axes are -1 to 0: name one of them");
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
