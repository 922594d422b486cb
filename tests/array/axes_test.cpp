#include <coir/array/axes.hpp>
#include <coir/array/creation.hpp>

#include <array/naive.hpp>

using namespace coir;
using coir::testing::message_of;
using coir::testing::values;

TEST(Axes, OfOneElementAreTakenAway) {
  auto x = reshape(arange(3), {1, 3, 1});
  EXPECT_EQ(squeeze(x, 0).shape(), (Shape<2>{3, 1}));
  EXPECT_EQ(squeeze(squeeze(x, -1), 0).shape(), (Shape<1>{3}));
  EXPECT_EQ(values(squeeze(x + 1, 2)), (std::vector<int>{1, 2, 3}));
  squeeze(x, 0) = 7;  // the same elements
  EXPECT_EQ(values(x), (std::vector<int>{7, 7, 7}));
  EXPECT_EQ(squeeze(zeros({0, 1}), 1).shape(), (Shape<1>{0}));
  EXPECT_EQ(message_of([&] { squeeze(x, 1); }),
            "axis 1 of an array of shape (1, 3, 1) can't be taken away: it must have 1 element");
  EXPECT_THROW(squeeze(x, 3), PreconditionError);
}

TEST(Axes, AreAddedByNumPysName) {
  auto const x = zeros({2, 3});
  EXPECT_EQ(expand_dims(x, 0).shape(), (Shape<3>{1, 2, 3}));
  EXPECT_EQ(expand_dims(x, -1).shape(), (Shape<3>{2, 3, 1}));
  EXPECT_THROW(expand_dims(x, 3), PreconditionError);
}

// numpy.moveaxis(numpy.zeros((3, 4, 5, 6)), ...).shape
TEST(Axes, AreMovedAsByNumPy) {
  auto const x = zeros({3, 4, 5, 6});
  EXPECT_EQ(moveaxis(x, 0, -1).shape(), (Shape<4>{4, 5, 6, 3}));
  EXPECT_EQ(moveaxis(x, -1, 0).shape(), (Shape<4>{6, 3, 4, 5}));
  EXPECT_EQ(moveaxis(x, {0, 1}, {-1, -2}).shape(), (Shape<4>{5, 6, 4, 3}));
  EXPECT_EQ(moveaxis(x, {0, 2}, {2, 0}).shape(), (Shape<4>{5, 4, 3, 6}));
  auto const m = reshape(arange(6), {2, 3});
  EXPECT_EQ(values(moveaxis(m, 0, 1)), values(transpose(m)));
  EXPECT_THROW(moveaxis(x, 4, 0), PreconditionError);
  EXPECT_EQ(message_of([&] { moveaxis(x, {0, 0}, {1, 2}); }),
            "an axis can't be moved twice: each source must differ");
  EXPECT_EQ(message_of([&] { moveaxis(x, {0, 1}, {2, -2}); }),
            "two axes can't be moved to one place: each target must differ");
}
