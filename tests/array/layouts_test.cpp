// Statements on Views of any layout: LayoutRight's bits, in the order of the target's memory.

#include <coir/array/all.hpp>

#include <gtest/gtest.h>

#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <cstdint>

using coir::Array;
using coir::Shape;
using coir::slice_of;
using coir::testing::allocate;
using coir::testing::Laid;
using coir::testing::message_of;

namespace {

COIR_TYPED_SUITE(ArrayLayouts);

/// Writes statements into a View of a layout, and compares with an Array.
template <Laid L, class C>
void expect_statements(Shape<3> const& shape) {
  using T = typename C::Real;
  using Space = typename C::Exec::memory_space;
  auto const view = allocate<L, T, Space>(shape);
  auto const other = allocate<L, T, Space>(shape);
  auto const target = slice_of(view), operand = slice_of(other);
  Array<T, 3, Space> array(shape);
  Array<T, 1, Space> row(Shape<1>{shape[2]});
  row = coir::arange<T, Space>(shape[2]) + 1;
  array = T(0.25) * coir::ones<T, Space>(shape) * row;
  operand = array;
  EXPECT_TRUE(all(operand == array));

  // One operand is laid out alike, one is stretched. The root is rounded exactly: sin and the like
  // may differ by a bit between the vectors and the rest of a row, which begin elsewhere in each
  // layout.
  target = sqrt(operand) + row;
  Array<T, 3, Space> const expected = sqrt(array) + row;
  EXPECT_TRUE(all(target == expected));

  target = 2 * target - array;  // an operand in C order
  EXPECT_TRUE(all(target == 2 * expected - array));

  target = coir::arange<T, Space>(shape[2]);  // of the indices themselves
  EXPECT_EQ(sum(target), T(shape[0] * shape[1] * (shape[2] * (shape[2] - 1) / 2)));

  flip(target, 1) = expected;  // backwards
  EXPECT_TRUE(all(flip(target, 1) == expected));
  target(coir::range(1, -1), 0) = 7;
  EXPECT_EQ(sum(target(coir::range(1, -1), 0)),
            T(7 * std::max<std::int64_t>(shape[0] - 2, 0) * shape[2]));
}

template <Laid L, class C>
void expect_statements() {
  for (Shape<3> const& shape : {Shape<3>{1, 1, 1}, {3, 5, 7}, {13, 1, 37}, {64, 2, 31}}) {
    SCOPED_TRACE(coir::testing::name_of(L) + coir::in_words(shape));
    expect_statements<L, C>(shape);
  }
}

}  // namespace

TYPED_TEST(ArrayLayouts, StatementsHaveTheBitsOfArrays) {
  expect_statements<Laid::right, TypeParam>();
  expect_statements<Laid::left, TypeParam>();
  expect_statements<Laid::apart, TypeParam>();
  expect_statements<Laid::turned, TypeParam>();
}

// What is read of the target itself is read as it was before.
TYPED_TEST(ArrayLayouts, ATransposedTargetIsReadAsItWas) {
  TYPES_OF_CASE;
  auto const view = allocate<Laid::left, T, Space>(Shape<2>{5, 5});
  slice_of(view) = reshape(coir::arange<T, Space>(25), Shape<2>{5, 5});
  Array<T, 2, Space> const before(slice_of(view));
  slice_of(view) = transpose(slice_of(view));
  EXPECT_TRUE(all(slice_of(view) == transpose(before)));
}

TYPED_TEST(ArrayLayouts, ViewsOfElementsThatAreConstAreRead) {
  TYPES_OF_CASE;
  auto const view = allocate<Laid::left, T, Space>(Shape<2>{3, 5});
  slice_of(view) = 2;
  Kokkos::View<T const**, Kokkos::LayoutLeft, Space> const read_only = view;
  EXPECT_EQ(sum(slice_of(read_only)), T(30));
}

// One row seen three times: it can be read, but nobody could say which of three numbers it is to
// hold.
TYPED_TEST(ArrayLayouts, OnlyConstElementsMayLieInTheSamePlace) {
  TYPES_OF_CASE;
  Kokkos::View<T*, Space> const row("row", 4);
  slice_of(row) = 2;
  Kokkos::LayoutStride const repeated(3, 0, 4, 1);
  Kokkos::View<T**, Kokkos::LayoutStride, Space> const written(row.data(), repeated);
  EXPECT_EQ(message_of([&] { slice_of(written); }),
            "a slice of elements that aren't const with strides 0, 1 has elements in the same "
            "place and can't be written: copy it first");
  Kokkos::View<T const**, Kokkos::LayoutStride, Space> const read(row.data(), repeated);
  EXPECT_EQ(sum(slice_of(read)), T(24));
}

TYPED_TEST(ArrayLayouts, OnlyCOrderIsBorrowed) {
  TYPES_OF_CASE;
  EXPECT_NO_THROW(coir::borrow(allocate<Laid::right, T, Space>(Shape<2>{3, 5})));
  EXPECT_NO_THROW(coir::borrow(allocate<Laid::left, T, Space>(Shape<2>{1, 5})));
  EXPECT_THROW(coir::borrow(allocate<Laid::left, T, Space>(Shape<2>{3, 5})),
               coir::PreconditionError);
}

// LayoutLeft is one long row to a kernel, as LayoutRight is.
TEST(Fold, GoesThroughATargetInTheOrderOfItsMemory) {
  Shape<3> const shape{4, 5, 6};
  coir::Strides<3> const left{1, 4, 20}, right{30, 6, 1};
  using coir::memory_order;
  using coir::detail::Fold;
  EXPECT_EQ(memory_order(shape, right), (std::array<int, 3>{0, 1, 2}));
  EXPECT_EQ(memory_order(shape, left), (std::array<int, 3>{2, 1, 0}));
  EXPECT_EQ(memory_order(Shape<3>{4, 1, 6}, coir::Strides<3>{1, 0, 4}),
            (std::array<int, 3>{2, 0, 1}));
  EXPECT_EQ(memory_order(Shape<3>{4, 1, 6}, coir::Strides<3>{6, 0, 1}),
            (std::array<int, 3>{0, 1, 2}));
  Fold<3> fold(shape, memory_order(shape, left));
  fold.add(left);
  fold.close();
  EXPECT_EQ(fold.rows(), 1);
  EXPECT_EQ(fold.columns(), 120);
  fold.add(right);
  fold.close();
  EXPECT_EQ(fold.joined(left)[2], 1);
  EXPECT_EQ(fold.joined(right)[2], 30);
}
