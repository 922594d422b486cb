#include <coir/core/shape.hpp>

#include <support/message_of.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

using coir::Shape;
using coir::testing::message_of;

TEST(Shape, InWords) {
  EXPECT_EQ(coir::in_words(Shape<0>{}), "()");
  EXPECT_EQ(coir::in_words(Shape<1>{3}), "(3,)");
  EXPECT_EQ(coir::in_words(Shape<3>{3, 1, 0}), "(3, 1, 0)");
}

TEST(Shape, SizeAndStrides) {
  EXPECT_EQ(coir::size_of(Shape<0>{}), 1);
  EXPECT_EQ(coir::size_of(Shape<3>{2, 3, 5}), 30);
  EXPECT_EQ(coir::size_of(Shape<2>{4, 0}), 0);
  EXPECT_EQ(coir::c_strides(Shape<3>{2, 3, 5}), (Shape<3>{15, 5, 1}));
}

TEST(Shape, BroadcastsAsNumPyDoes) {
  EXPECT_EQ(coir::broadcast(Shape<2>{3, 4}, Shape<1>{4}), (Shape<2>{3, 4}));
  EXPECT_EQ(coir::broadcast(Shape<2>{3, 1}, Shape<1>{4}), (Shape<2>{3, 4}));
  EXPECT_EQ(coir::broadcast(Shape<1>{1}, Shape<3>{2, 0, 5}), (Shape<3>{2, 0, 5}));
  EXPECT_EQ(coir::broadcast(Shape<1>{1}, Shape<1>{0}), (Shape<1>{0}));
  EXPECT_EQ(coir::broadcast(Shape<0>{}, Shape<2>{7, 8}), (Shape<2>{7, 8}));
}

TEST(Shape, SaysWhichShapesDontBroadcast) {
  EXPECT_EQ(message_of([] { coir::broadcast(Shape<2>{3, 4}, Shape<1>{5}); }),
            "shapes (3, 4) and (5,) don't broadcast: axis 1 has 4 and 5 elements; they must be "
            "equal or one of them 1");
}

TEST(Shape, ValuesMustFitTheirTarget) {
  EXPECT_NO_THROW(coir::expects_fits(Shape<1>{1}, Shape<2>{3, 4}));
  EXPECT_NO_THROW(coir::expects_fits(Shape<2>{3, 1}, Shape<2>{3, 4}));
  EXPECT_THROW(coir::expects_fits(Shape<1>{4}, Shape<1>{1}), coir::PreconditionError);
  EXPECT_THROW(coir::expects_fits(Shape<2>{1, 4}, Shape<1>{4}), coir::PreconditionError);
}

TEST(Shape, SizesThatOverflowAreRefused) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_NO_THROW(coir::expects_allocatable(Shape<2>{most, 0}, 8));
  EXPECT_THROW(coir::expects_allocatable(Shape<2>{most, 2}, 1), coir::PreconditionError);
  EXPECT_THROW(coir::expects_allocatable(Shape<1>{most}, 8), coir::PreconditionError);
  EXPECT_THROW(coir::expects_allocatable(Shape<1>{-1}, 8), coir::PreconditionError);
  // Without elements, but with strides that overflow.
  EXPECT_THROW(coir::expects_allocatable(Shape<3>{0, most, 2}, 1), coir::PreconditionError);
}

TEST(Shape, NumbersOfElementsThatOverflowAreRefused) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), two_to_32 = 1L << 32;
  EXPECT_EQ(coir::size_of(Shape<2>{most, 1}), most);
  EXPECT_EQ(coir::size_of(Shape<2>{0, most}), 0);
  EXPECT_EQ(message_of([&] { coir::size_of(Shape<2>{two_to_32, two_to_32}); }),
            "shape (4294967296, 4294967296) has more than 2^63 - 1 elements: use a smaller shape");
  EXPECT_THROW(coir::size_of(Shape<3>{two_to_32, 0, two_to_32}), coir::PreconditionError);
  EXPECT_EQ(coir::repeated_extent(most / 2, 2), most - 1);
  EXPECT_EQ(coir::joined_extent(most - 1, 1), most);
  EXPECT_EQ(message_of([&] { coir::repeated_extent(3, most); }),
            "an axis has at most 2^63 - 1 elements, not 3 x 9223372036854775807");
  EXPECT_EQ(message_of([&] { coir::joined_extent(1, most); }),
            "an axis has at most 2^63 - 1 elements, not 1 + 9223372036854775807");
}

TEST(Shape, AxesAreSortedAndEqualOnesKeepTheirOrder) {
  std::array<int, 6> axes{0, 1, 2, 3, 4, 5};
  std::array<int, 6> const keys{2, 0, 1, 2, 0, 1};
  coir::detail::sort_axes(axes, [&](int a, int b) { return keys[a] > keys[b]; });
  EXPECT_EQ(axes, (std::array<int, 6>{0, 3, 2, 5, 1, 4}));
  std::array<int, 1> one{7};
  coir::detail::sort_axes(one, [](int, int) { return true; });
  EXPECT_EQ(one[0], 7);
  std::array<int, 0> none{};
  coir::detail::sort_axes(none, [](int, int) { return true; });
}
