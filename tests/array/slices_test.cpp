#include <coir/array/reductions.hpp>
#include <coir/array/slices.hpp>

#include <array/naive.hpp>
#include <support/spaces.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

using namespace coir;
using coir::testing::for_each_index;
using coir::testing::message_of;
using coir::testing::naive;
using coir::testing::random_array;
using coir::testing::values;

template <class Case>
class Slices : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Space = typename Case::Exec::memory_space;
  Array<T, 3, Space> a = random_array<T, Space>(Shape<3>{3, 4, 37}, 1);
};
TYPED_TEST_SUITE(Slices, coir::testing::Cases, coir::testing::CaseName);

// What isn't in array_numpy_test.
TYPED_TEST(Slices, TransposedAndFlipped) {
  auto const x = naive(this->a), t = naive(transpose(this->a)),
             s = naive(swap_axes(this->a, 0, -1)), p = naive(transpose(this->a, {1, -1, 0})),
             f = naive(flip(this->a));
  for_each_index(x.shape, [&](auto const& i) {
    ASSERT_EQ(t.at({i[2], i[1], i[0]}), x.at(i));
    ASSERT_EQ(s.at({i[2], i[1], i[0]}), x.at(i));
    ASSERT_EQ(p.at({i[1], i[2], i[0]}), x.at(i));
    ASSERT_EQ(f.at({2 - i[0], 3 - i[1], 36 - i[2]}), x.at(i));
  });
  EXPECT_THROW(flip(this->a, 3), PreconditionError);
  EXPECT_EQ(message_of([&] { transpose(this->a, {0, 1, 1}); }),
            "the order of axes must name each of the 3 axes once, and 1 is none or twice");
  EXPECT_THROW(swap_axes(this->a, 0, 3), PreconditionError);
}

// Copies of short rows, in any order and into memory with gaps.
TYPED_TEST(Slices, CopiesOfFourAxes) {
  using T = typename TestFixture::T;
  using Space = typename TestFixture::Space;
  for (std::int64_t const last : {1, 3, 70}) {
    auto const four = random_array<T, Space>(Shape<4>{5, 4, 6, last}, 2);
    auto const x = naive(four);
    std::array<int, 4> order{0, 1, 2, 3};
    do {
      auto const turned = transpose(four, order);
      auto const shape = turned.shape();
      auto wide = zeros<T, Space>(Shape<4>{shape[0], shape[1], shape[2], 2 * shape[3]});
      wide(range(), range(), range(), range(end, end, 2)) = turned;
      auto const plain = naive(evaluate(turned)), spread = naive(wide);
      for_each_index(plain.shape, [&](auto const& i) {
        std::vector<std::int64_t> at(4);
        for (std::size_t d = 0; d < 4; ++d) at[std::size_t(order[d])] = i[d];
        ASSERT_EQ(plain.at(i), x.at(at));
        ASSERT_EQ(spread.at({i[0], i[1], i[2], 2 * i[3]}), x.at(at));
        ASSERT_EQ(spread.at({i[0], i[1], i[2], 2 * i[3] + 1}), 0);
      });
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TYPED_TEST(Slices, WrittenThrough) {
  transpose(this->a)(0, 1) = 1000;
  auto const x = naive(this->a);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(x.at({i, 1, 0}), 1000);
  auto matrix = zeros<typename TestFixture::T, typename TestFixture::Space>(4, 5);
  diagonal(matrix) = 1;
  diagonal(matrix, 2) = 2;
  diagonal(matrix, -3) = 3;
  EXPECT_EQ(values(matrix), (std::vector<typename TestFixture::T>{1, 0, 2, 0, 0, 0, 1, 0, 2, 0,
                                                                  0, 0, 1, 0, 2, 3, 0, 0, 1, 0}));
  EXPECT_EQ(diagonal(matrix, 5).size(), 0);
  EXPECT_THROW(diagonal(matrix, 6), PreconditionError);
}

TYPED_TEST(Slices, Reshaped) {
  auto const x = values(this->a);
  auto const r = reshape(this->a, Shape<2>{6, -1});
  EXPECT_EQ(r.shape(), (Shape<2>{6, 74}));
  EXPECT_EQ(values(r), x);
  EXPECT_EQ(values(ravel(this->a)), x);
  r(0, 0) = 555;
  EXPECT_EQ(values(this->a)[0], 555);
  EXPECT_EQ(values(ravel(transpose(this->a))), values(transpose(this->a)));
  EXPECT_EQ(values(ravel(this->a + 1))[0], 556);
  EXPECT_EQ(message_of([&] { reshape(this->a, Shape<2>{5, -1}); }),
            "an array of shape (3, 4, 37) can't take the shape (5, -1): the numbers of elements "
            "differ");
  EXPECT_THROW(reshape(this->a, Shape<2>{-1, -1}), PreconditionError);
  EXPECT_THROW(reshape(this->a, Shape<1>{443}), PreconditionError);
}

TYPED_TEST(Slices, Stretched) {
  auto const row = this->a(0, 0);
  auto const wide = broadcast_to(row, Shape<2>{5, 37});
  auto const x = values(row), w = values(wide);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 37; ++j) ASSERT_EQ(w[i * 37 + j], x[j]);
  EXPECT_THROW(broadcast_to(row, Shape<2>{5, 36}), PreconditionError);
  EXPECT_EQ(message_of([&] { broadcast_to(row, {-5, 37}); }),
            "extents must be 0 or more, not (-5, 37)");
  EXPECT_EQ(with_axis(row, 0).shape(), (Shape<2>{1, 37}));
  EXPECT_EQ(with_axis(row, -1).shape(), (Shape<2>{37, 1}));
  EXPECT_THROW(with_axis(row, 2), PreconditionError);
}

// Devices take so many rows of such a length in columns of several cells, and the last rows one by
// one.
TYPED_TEST(Slices, ShiftedOnALargeGrid) {
  using T = typename TestFixture::T;
  std::int64_t const m = 1013, n = 1021;
  auto const u = random_array<T, typename TestFixture::Space>(Shape<2>{m + 2, n + 2}, 5);
  auto v = zeros<T, typename TestFixture::Space>(m + 2, n + 2);
  auto const in = range(1, -1), before = range(0, -2), after = range(2, end);
  v(in, in) = u(before, in) + 2 * u(after, in) - u(in, before) + 4 * u(in, after);
  auto const x = values(u), y = values(v);
  auto const at = [&](auto const& a, std::int64_t i, std::int64_t j) { return a[i * (n + 2) + j]; };
  for (std::int64_t i = 0; i < m + 2; ++i)
    for (std::int64_t j = 0; j < n + 2; ++j) {
      bool const inside = i > 0 && i <= m && j > 0 && j <= n;
      ASSERT_EQ(at(y, i, j), inside ? at(x, i - 1, j) + 2 * at(x, i + 1, j) - at(x, i, j - 1) +
                                          4 * at(x, i, j + 1)
                                    : T(0))
          << "at " << i << ", " << j;
    }
}

TYPED_TEST(Slices, ShapesOfMoreThan63BitsAreRefused) {
  using T = typename TestFixture::T;
  using Space = typename TestFixture::Space;
  constexpr std::int64_t large = 1L << 32;
  auto const none = zeros<T, Space>(0), one = ones<T, Space>(1);
  EXPECT_EQ(message_of([&] { reshape(none, {large, large}); }),
            "shape (4294967296, 4294967296) has more than 2^63 - 1 elements: use a smaller shape");
  EXPECT_THROW(reshape(none, {-1, large, large}), PreconditionError);
  EXPECT_EQ(message_of([&] { reshape(none, {-1, -1}); }),
            "an array of shape (0,) can't take the shape (-1, -1): the numbers of elements differ");
  EXPECT_THROW(reshape(none, {-1, 0}), PreconditionError);
  EXPECT_THROW(reshape(one, {-2, 1}), PreconditionError);
  EXPECT_EQ(reshape(none, {-1, 3}).shape(), (Shape<2>{0, 3}));
  EXPECT_EQ(message_of([&] { broadcast_to(one, {2 * large, large}); }),
            "shape (8589934592, 4294967296) has more than 2^63 - 1 elements: use a smaller shape");
  // Two that fit, but not what they broadcast to.
  auto const row = broadcast_to(one, {large});
  auto const column = with_axis(row, 1);
  EXPECT_EQ(message_of([&] { sum(row + column); }),
            "shape (4294967296, 4294967296) has more than 2^63 - 1 elements: use a smaller shape");
}

TYPED_TEST(Slices, StepsAndIndicesOfAnySize) {
  using T = typename TestFixture::T;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  auto const x = arange<T, typename TestFixture::Space>(10);
  EXPECT_EQ(values(x(range(end, end, most))), (std::vector<T>{0}));
  EXPECT_EQ(values(x(range(3, end, most))), (std::vector<T>{3}));
  EXPECT_EQ(values(x(range(end, end, -most))), (std::vector<T>{9}));
  EXPECT_EQ(values(x(range(end, end, -most - 1))), (std::vector<T>{9}));
  EXPECT_EQ(values(x(range(end, end, 9))), (std::vector<T>{0, 9}));
  EXPECT_EQ(values(x(range(end, end, -4))), (std::vector<T>{9, 5, 1}));
  EXPECT_EQ(x(range(4, 4, most)).size(), 0);
  constexpr std::uint64_t beyond = std::numeric_limits<std::uint64_t>::max();  // not -1
  EXPECT_THROW(x(beyond), PreconditionError);
  EXPECT_THROW(x(range(0, beyond)), PreconditionError);
}
