#include <coir/array/axes.hpp>
#include <coir/array/creation.hpp>

#include <array/naive.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

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

// Large enough for tiles on hosts, whose edges are no multiples of them.
TEST(Axes, InAnyOrderHaveTheirElementsCopied) {
  using Space = Kokkos::HostSpace;
  Shape<4> const shape{70, 3, 130, 2};
  auto const x = arange<int, Space>(70 * 3 * 130 * 2);
  auto const a = reshape(x, shape);
  std::array<int, 4> order{0, 1, 2, 3};
  do {
    Array<int, 4, Space> y = transpose(a, order);
    y += 2 * transpose(a, order);
    auto const [p, q, r, s] = order;
    std::int64_t const stride[] = {780, 260, 2, 1};
    int const* const copied = y.data();
    std::int64_t n = 0;
    for (std::int64_t i = 0; i < shape[p]; ++i)
      for (std::int64_t j = 0; j < shape[q]; ++j)
        for (std::int64_t k = 0; k < shape[r]; ++k)
          for (std::int64_t l = 0; l < shape[s]; ++l)
            ASSERT_EQ(copied[n++],
                      3 * (i * stride[p] + j * stride[q] + k * stride[r] + l * stride[s]));
  } while (std::next_permutation(order.begin(), order.end()));
}
