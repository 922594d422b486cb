// Functions of rows, which vmap computes all at once, against plain loops in vmap's kernel.

#include <coir/array/all.hpp>
#include <coir/linalg/row_functions.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <cstdint>
#include <limits>
#include <vector>

using namespace coir;
using coir::testing::random_array;
using coir::testing::values;

struct PlainDot {
  template <class T>
  KOKKOS_FUNCTION T operator()(Row<T> const& x, Row<T> const& y) const {
    T total = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) total += x[i] * y[i];
    return total;
  }
};

struct PlainSum {
  template <class T>
  KOKKOS_FUNCTION T operator()(Row<T> const& x) const {
    T total = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) total += x[i];
    return total;
  }
};

/// The products of all rows of x with all rows of y: the second argument is the inner vmap's.
template <class F>
auto of_all_pairs(F f) {
  return vmap(vmap(f, in_axes(unmapped, 0)), in_axes(0, unmapped));
}

COIR_TYPED_SUITE(RowFunctions);

// Whole numbers, and sums below 2^24: exact in any order.
TYPED_TEST(RowFunctions, ProductsOfAllPairs) {
  TYPES_OF_CASE;
  for (auto const [m, n, k] :
       std::vector<Shape<3>>{{1, 1, 1}, {3, 5, 7}, {33, 17, 64}, {4, 2, 0}}) {
    auto const x = random_array<T, Space>(Shape<2>{m, k}, 1),
               y = random_array<T, Space>(Shape<2>{n, k}, 2);
    auto const expected = of_all_pairs(PlainDot{})(x, y);
    auto const found = of_all_pairs(DotOfRows{})(x, y);
    ASSERT_EQ(found.shape(), (Shape<2>{m, n}));
    EXPECT_TRUE(all(found == expected)) << m << " " << n << " " << k;
    auto const mv = vmap(DotOfRows{}, in_axes(0, unmapped));
    EXPECT_TRUE(all(vmap(mv, in_axes(unmapped, 0))(x, y) == transpose(expected)));
    EXPECT_TRUE(all(vmap(mv, in_axes(unmapped, 0), out_axes(1))(x, y) == expected));
    EXPECT_TRUE(all(vmap(vmap(DotOfRows{}, in_axes(unmapped, 1)), in_axes(1, unmapped))(
                        coir::copy(transpose(x)), transpose(y)) == expected));
    if (n > 1) {
      auto wide = zeros<T, Space>(n, 2 * m);
      vmap_into(wide(range(), range(1, end, 2)), vmap(DotOfRows{}, in_axes(unmapped, 0)),
                in_axes(0, unmapped), out_axes(1))(x, y);
      EXPECT_TRUE(all(wide(range(), range(1, end, 2)) == transpose(expected)));
      EXPECT_TRUE(all(wide(range(), range(0, end, 2)) == 0));
    }
  }
}

TYPED_TEST(RowFunctions, ProductsOfStacksAndOfRowsWithEachOther) {
  TYPES_OF_CASE;
  auto const x = random_array<T, Space>(Shape<3>{3, 4, 13}, 3);
  auto const y = random_array<T, Space>(Shape<3>{3, 5, 13}, 4);
  EXPECT_TRUE(all(vmap(of_all_pairs(DotOfRows{}))(x, y) == vmap(of_all_pairs(PlainDot{}))(x, y)));
  EXPECT_TRUE(all(vmap(vmap(DotOfRows{}))(x, x) == vmap(vmap(PlainDot{}))(x, x)));
  // Two vmaps map x alone.
  auto const z = random_array<T, Space>(Shape<1>{13}, 5);
  auto const in = in_axes(0, unmapped);
  EXPECT_TRUE(all(vmap(vmap(DotOfRows{}, in), in)(x, z) == vmap(vmap(PlainDot{}, in), in)(x, z)));
  auto const bytes = array<std::int8_t, Space>({{100, 100}, {-128, -128}});
  EXPECT_EQ(values(vmap(DotOfRows{})(bytes, bytes)), (std::vector<std::int64_t>{20000, 32768}));
}

TYPED_TEST(RowFunctions, SumsAndNorms) {
  TYPES_OF_CASE;
  for (std::int64_t const n : {1, 3, 67}) {
    auto const x = random_array<T, Space>(Shape<3>{5, n, 7}, 6);
    EXPECT_TRUE(all(vmap(vmap(SumOfRows{}))(x) == vmap(vmap(PlainSum{}))(x))) << n;
    EXPECT_TRUE(all(vmap(vmap(SumOfRows{}, in_axes(1)))(x) == sum(x, 1))) << n;
    auto const squares = vmap(vmap(PlainDot{}))(x, x);
    // One rounding of an exact sum; devices' sqrt may be off by one more.
    Tolerance const rounding{.relative = 2 * std::numeric_limits<T>::epsilon(), .absolute = 0};
    EXPECT_TRUE(allclose(vmap(vmap(NormOfRows{}))(x), sqrt(squares), rounding)) << n;
  }
}
