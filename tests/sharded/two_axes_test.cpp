// Arrays that are split along two axes against plain arrays.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/sharded/functions.hpp>
#include <coir/sharded/gradients.hpp>
#include <coir/sharded/matmul.hpp>
#include <coir/sharded/moves.hpp>
#include <coir/sharded/reductions.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using coir::Array;
using coir::end;
using coir::range;
using coir::Shape;
using coir::sharded::Mesh;
using coir::sharded::Sharded;
using coir::testing::message_of;
using coir::testing::world;
namespace sharded = coir::sharded;

Array<double, 2> matrix() { return coir::random::normal(coir::random::key(3), {7, 5}); }
Array<double, 3> block() { return coir::random::normal(coir::random::key(4), {3, 5, 4}); }

/// One row of ranks, one column, and what is between.
std::vector<Mesh> meshes() {
  int const ranks = world().size();
  return {Mesh(world(), {ranks, 1}), Mesh(world(), {1, ranks}), Mesh(world())};
}

template <class X, class E>
bool is(X const& x, E const& plain) {
  auto const whole = sharded::replicate(x);
  return whole.shape() == plain.shape() && coir::all(whole == plain);
}

TEST(TwoSplitAxes, ElementwiseIsThatOfPlainArraysAndSendsNothing) {
  auto const plain = matrix();
  for (auto const& mesh : meshes())
    for (std::array<int, 2> const axes : {std::array{0, 1}, std::array{-1, 0}}) {
      Sharded<double, 2> const x = sharded::shard(mesh, plain, axes);
      auto const before = world().traffic();
      auto const y = sharded::evaluate(2 * x + where(x > 0, x, plain) * coir::arange(5.0));
      auto const part = x(range(), range()) - coir::ones(7, 1);
      EXPECT_EQ(world().traffic(), before);
      EXPECT_TRUE(is(y, coir::evaluate(2 * plain + plain * coir::arange(5.0))));
      EXPECT_TRUE(is(sharded::evaluate(part), coir::evaluate(plain - 1.0)));
      EXPECT_TRUE(is(with_axis(x, 1), coir::evaluate(with_axis(plain, 1))));
    }
}

TEST(TwoSplitAxes, MovesAreThoseOfPlainArrays) {
  auto const plain = matrix();
  for (auto const& mesh : meshes()) {
    auto const x = sharded::shard(mesh, plain);
    for (std::int64_t steps : {std::int64_t(1), std::int64_t(-3), std::int64_t(12),
                               std::numeric_limits<std::int64_t>::min()})
      for (int axis : {0, 1})
        EXPECT_TRUE(is(shift(x, axis, steps), coir::roll(plain, steps, axis)));
    EXPECT_TRUE(is(reshard(x, 1), plain));
    EXPECT_TRUE(is(reshard(reshard(x, 0), mesh, {1, 0}), plain));
    EXPECT_EQ(reshard(x, 1).placement(), sharded::Placement<2>(world(), plain.shape(), 1));
    auto const whole = gather(x, world().size() - 1);
    bool const has_it = world().rank() + 1 == world().size();
    EXPECT_EQ(whole.size(), has_it ? plain.size() : 0);
    if (has_it) EXPECT_TRUE(coir::all(whole == plain));
    auto const cube = block();
    for (std::array<int, 2> const axes : {std::array{0, 2}, std::array{2, 1}})
      EXPECT_TRUE(is(shift(sharded::shard(mesh, cube, axes), 1, 2), coir::roll(cube, 2, 1)));
  }
}

// The nine-point sum needs the corners of halos.
TEST(TwoSplitAxes, HalosHaveCorners) {
  auto const plain = matrix();
  auto const sum_of_nine = [](auto const& h) {
    auto const rows = coir::evaluate(h(range(0, -2)) + h(range(1, -1)) + h(range(2, end)));
    return coir::evaluate(rows(range(), range(0, -2)) + rows(range(), range(1, -1)) +
                          rows(range(), range(2, end)));
  };
  Array<double, 2> wrapped = coir::zeros(9, 7), zero = coir::zeros(9, 7);
  auto const inside = range(1, -1);
  wrapped(inside, inside) = plain;
  zero(inside, inside) = plain;
  wrapped(range(0, 1), inside) = plain(range(6, 7));
  wrapped(range(8, 9), inside) = plain(range(0, 1));
  wrapped(range(), range(0, 1)) = coir::evaluate(wrapped(range(), range(5, 6)));
  wrapped(range(), range(6, 7)) = coir::evaluate(wrapped(range(), range(1, 2)));
  for (auto const& mesh : meshes()) {
    auto const x = sharded::shard(mesh, plain);
    EXPECT_TRUE(is(from_parts(sum_of_nine(with_halo(x, 1)), x.placement()), sum_of_nine(wrapped)));
    EXPECT_TRUE(is(from_parts(sum_of_nine(with_halo(x, 1, sharded::Edges::zero)), x.placement()),
                   sum_of_nine(zero)));
  }
}

TEST(TwoSplitAxes, ReductionsAreThoseOfPlainArrays) {
  auto const plain = matrix();
  auto const cube = block();
  for (auto const& mesh : meshes()) {
    auto const x = sharded::shard(mesh, plain);
    EXPECT_NEAR(sum(x), coir::sum(plain), 1e-14 * coir::sum(abs(plain)));
    EXPECT_EQ(max(x), coir::max(plain));
    EXPECT_EQ(min(x), coir::min(plain));
    EXPECT_EQ(sum(x > 0), coir::sum(plain > 0));
    EXPECT_EQ(count_nonzero(x > 0), coir::count_nonzero(plain > 0));
    EXPECT_TRUE(all(x == plain));
    EXPECT_NEAR(norm(x), coir::norm(plain), 1e-14 * coir::norm(plain));
    auto const y = sharded::shard(mesh, cube, {0, 2});
    EXPECT_TRUE(is(max(y, 1), coir::max(cube, 1)));
    EXPECT_TRUE(is(sort(y, 1), coir::sort(cube, 1)));
  }
  // One column has the bits of arrays that are split along one axis.
  EXPECT_EQ(sum(sharded::shard(meshes()[0], plain)), sum(sharded::shard(world(), plain)));
}

/// The same moves of plain arrays.
template <coir::Expression X>
auto shift(X const& x, int axis, std::int64_t steps) {
  return roll(x, steps, axis);
}
template <coir::Expression X>
auto replicate(X const& x) {
  return evaluate(x);
}
template <coir::Expression X>
auto reshard(X const& x, int) {
  return evaluate(x);
}
template <coir::Expression X>
auto cross(X const& x) {
  return shift(x, 0, 1) + shift(x, 0, -1) + shift(x, 1, 1) - shift(x, 1, -1);
}
template <sharded::AnySplit X>
auto cross(X const& x) {
  auto const h = with_halo(x, 1);
  auto const rows = range(1, -1), columns = range(1, -1);
  return from_parts(h(range(0, -2), columns) + h(range(2, end), columns) + h(rows, range(0, -2)) -
                        h(rows, range(2, end)),
                    x.placement());
}

TEST(TwoSplitAxes, GradientsAreThoseOfPlainArrays) {
  auto const x = matrix();
  auto const row = coir::evaluate(coir::random::normal(coir::random::key(5), {5}));
  auto const column = coir::evaluate(coir::random::normal(coir::random::key(6), {7, 1}));
  auto const program = [](auto x, auto row, auto column) {
    auto const moved = evaluate(shift(tanh(x) * row, 0, 2) * shift(x + column, 1, -1));
    auto const joined =
        evaluate(cross(moved * x) + sin(replicate(x)) * reshard(moved, 1) - mean(x * x) * row);
    return sum(square(joined)) / (1 + norm(moved)) + sum(row) * sum(column);
  };
  auto const expected = coir::value_and_grad(program)(x, row, column);
  auto const split_program = [](auto x, auto row, auto column) {
    auto const to = x.placement();
    auto const moved = evaluate(shift(tanh(x) * row, 0, 2) * shift(x + column, 1, -1));
    auto const joined = evaluate(
        cross(moved * x) + sin(replicate(x)) * reshard(reshard(moved, 1), to) - mean(x * x) * row);
    return sum(square(joined)) / (1 + norm(moved)) + sum(row) * sum(column);
  };
  auto const expect_close = [](auto const& found, auto const& wanted) {
    EXPECT_LE(coir::max(coir::abs(found - wanted)), 1e-12 * (1 + coir::max(coir::abs(wanted))));
  };
  for (auto const& mesh : meshes()) {
    auto const got = sharded::value_and_grad(split_program)(sharded::shard(mesh, x), row, column);
    EXPECT_NEAR(got.value, expected.value, 1e-12 * std::abs(expected.value));
    expect_close(sharded::replicate(std::get<0>(got.gradient)), std::get<0>(expected.gradient));
    expect_close(std::get<1>(got.gradient), std::get<1>(expected.gradient));
    expect_close(std::get<2>(got.gradient), std::get<2>(expected.gradient));
  }
}

TEST(TwoSplitAxes, ErrorsNameBothPlacements) {
  int const ranks = world().size();
  std::string const many = std::to_string(ranks);
  Mesh const mesh(world(), {ranks, 1});
  auto const x = sharded::shard(mesh, matrix());
  auto const y = sharded::shard(world(), matrix());
  std::string const on_mesh = "(7, 5) along axes 0 and 1 over " + many + " x 1 ranks",
                    on_group = "(7, 5) along axis 0 over " + many + " ranks";
  EXPECT_EQ(message_of([&] { sharded::evaluate(x + y); }),
            "split arrays of one expression must be split alike, not " + on_mesh + " and " +
                on_group + ": reshard() one of them, or replicate() one that is stretched");
  EXPECT_NE(message_of([&] { matmul(x, x); }).find(on_mesh), std::string::npos);
  EXPECT_NE(message_of([&] { sum(x, 1); }).find("reshard()"), std::string::npos);
  EXPECT_NE(message_of([&] { x(range(0, 3)); }).find("leave the split axis whole"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { sharded::shard(mesh, matrix(), {1, -1}); }),
            "a mesh must split two different axes, not 1");
  EXPECT_NE(
      message_of([&] { Mesh(world(), {ranks + 1, 1}); }).find("doesn't fit a group of " + many),
      std::string::npos);
}

}  // namespace
