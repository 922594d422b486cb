// Gradients of programs of split arrays against those of the same programs on plain arrays.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/fft.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/sharded/creation.hpp>
#include <coir/sharded/fft.hpp>
#include <coir/sharded/functions.hpp>
#include <coir/sharded/gradients.hpp>
#include <coir/sharded/matmul.hpp>
#include <coir/sharded/moves.hpp>
#include <coir/sharded/reductions.hpp>

#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>

namespace {

using coir::Array;
using coir::end;
using coir::range;
using coir::sharded::AnySplit;
using coir::testing::world;
namespace sharded = coir::sharded;

auto const key = coir::random::key(7);

// The same moves of plain arrays, so that one program serves both.
template <coir::Expression X>
auto shift(X const& x, int axis, std::int64_t steps) {
  return roll(x, steps, axis);
}
template <coir::Expression X>
auto reshard(X const& x, int) {
  return evaluate(x);
}
template <coir::Expression X>
auto replicate(X const& x) {
  return evaluate(x);
}
/// x[i + 1] + x[i - 1] - 2 x[i] along axis 0, around its ends.
template <coir::Expression X>
auto second_difference(X const& x) {
  return shift(x, 0, 1) + shift(x, 0, -1) - 2 * x;
}
template <AnySplit X>
auto second_difference(X const& x) {
  auto const h = with_halo(x, 1);
  return from_parts(h(range(0, -2)) + h(range(2, end)) - 2 * h(range(1, -1)), x.placement());
}

template <class A, class B>
void expect_close(A const& a, B const& b, int line) {
  double const scale = 1 + static_cast<double>(coir::max(coir::abs(b)));
  EXPECT_EQ(a.shape(), b.shape()) << line;
  EXPECT_LE(coir::max(coir::abs(a - b)), 1e-12 * scale) << "program in line " << line;
}
auto whole(Array<double, 1> const& x) { return x; }
auto whole(Array<double, 2> const& x) { return x; }
template <AnySplit X>
auto whole(X const& x) {
  return sharded::replicate(x);
}

/// The gradients of a program of one split array, and of a split and a plain one.
template <int Rank, class F>
void compare(int line, F const& f, coir::Shape<Rank> const& shape) {
  auto const x = coir::evaluate(coir::random::normal(key, shape));
  auto const expected = coir::value_and_grad(f)(x);
  for (int axis = 0; axis < Rank; ++axis) {
    auto const got = sharded::value_and_grad(f)(sharded::shard(world(), x, axis));
    EXPECT_NEAR(got.value, expected.value, 1e-12 * (1 + std::abs(expected.value))) << line;
    expect_close(whole(got.gradient), expected.gradient, line);
  }
}
template <class F, class W>
void compare(int line, F const& f, coir::Shape<2> const& shape, W const& w) {
  auto const x = coir::evaluate(coir::random::normal(key, shape));
  auto const expected = coir::value_and_grad(f)(x, w);
  for (int axis : {0, 1}) {
    auto const got = sharded::value_and_grad(f)(sharded::shard(world(), x, axis), w);
    EXPECT_NEAR(got.value, expected.value, 1e-12 * (1 + std::abs(expected.value))) << line;
    expect_close(whole(std::get<0>(got.gradient)), std::get<0>(expected.gradient), line);
    expect_close(whole(std::get<1>(got.gradient)), std::get<1>(expected.gradient), line);
  }
}

coir::Shape<2> const shape{7, 5};

TEST(SplitGradients, OfOneIndexAlongTheSplitAxis) {
  auto const w = coir::evaluate(coir::random::normal(key, coir::Shape<2>{1, 5}));
  auto const x = sharded::shard(world(), coir::random::normal(key, shape));
  auto const got = sharded::value_and_grad(
      [](auto x, auto w) { return sum(x) + sum(square(sharded::shard(world(), w))); })(x, w);
  expect_close(whole(std::get<1>(got.gradient)), coir::evaluate(2 * w), __LINE__);
}

TEST(SplitGradients, OfMovesAreThoseOfPlainArrays) {
  compare<2>(__LINE__, [](auto x) { return sum(square(x - shift(x, 0, 1))); }, shape);
  compare<2>(__LINE__, [](auto x) { return sum(shift(exp(x), 0, -9) * shift(x, 1, 2)); }, shape);
  compare<2>(
      __LINE__, [](auto x) { return sum(tanh(reshard(x * x, 1)) * reshard(reshard(x, 0), 1)); },
      shape);
  compare<2>(__LINE__, [](auto x) { return sum(exp(x) * replicate(sin(x))); }, shape);
  compare<2>(__LINE__, [](auto x) { return log(sum(exp(replicate(x)))) + sum(x); }, shape);
  compare<1>(__LINE__, [](auto x) { return sum(x * shift(x * x, 0, 3)); }, coir::Shape<1>{11});
  auto const x = coir::evaluate(coir::random::normal(key, {7, 5}));
  auto const halo = [](auto x) { return sum(square(second_difference(x * x))); };
  auto const got = sharded::value_and_grad(halo)(sharded::shard(world(), x));
  auto const expected = coir::value_and_grad(halo)(x);
  expect_close(whole(got.gradient), expected.gradient, __LINE__);
}

TEST(SplitGradients, OfMovesAndSumsHaveTheSameBitsForAnyRanks) {
  auto const x = coir::evaluate(coir::random::normal(key, {7, 5}));
  auto const compare_bits = [&](int line, auto const& f) {
    auto const over = [&](coir::distributed::Group const& group) {
      return sharded::value_and_grad(f)(sharded::shard(group, x));
    };
    auto const got = over(world()), alone = over({});
    EXPECT_EQ(got.value, alone.value) << line;
    EXPECT_TRUE(coir::all(whole(got.gradient) == whole(alone.gradient))) << line;
  };
  compare_bits(__LINE__, [](auto x) { return sum(square(x - shift(x, 0, 1))); });
  compare_bits(__LINE__, [](auto x) { return mean(x * reshard(shift(reshard(x, 1), 0, 2), 0)); });
  compare_bits(__LINE__, [](auto x) { return dot(x, x * replicate(x * x)) / norm(x); });
  compare_bits(__LINE__, [](auto x) { return sum(square(sum(x * x * x, 1))); });
}

TEST(SplitGradients, OfReductionsAreThoseOfPlainArrays) {
  compare<2>(__LINE__, [](auto x) { return mean(x * x * x); }, shape);
  compare<2>(__LINE__, [](auto x) { return norm(x - mean(x)); }, shape);
  compare<2>(__LINE__, [](auto x) { return var(sin(x)) * sum(x); }, shape);
  compare<2>(__LINE__, [](auto x) { return dot(x, exp(x)) / norm(x); }, shape);
  compare<1>(__LINE__, [](auto x) { return log(sum(exp(x))); }, coir::Shape<1>{9001});
  auto const rows = [](auto x) { return sum(square(sum(exp(x), 1))); };
  auto const x = coir::evaluate(coir::random::normal(key, {7, 5}));
  auto const got = sharded::value_and_grad(rows)(sharded::shard(world(), x));
  expect_close(whole(got.gradient), coir::grad(rows)(x), __LINE__);
}

TEST(SplitGradients, OfPlainArgumentsAreTheSameOnEveryRank) {
  auto const row = coir::evaluate(coir::random::normal(key, {5}));
  auto const all = coir::evaluate(coir::random::normal(key, {7, 5}));
  compare(__LINE__, [](auto x, auto w) { return sum(tanh(x * w)); }, shape, row);
  compare(__LINE__, [](auto x, auto w) { return sum(x * w) * sum(w * w); }, shape, row);
  compare(__LINE__, [](auto x, auto w) { return mean(exp(x - w)) + sum(w); }, shape, all);
  compare(__LINE__, [](auto x, auto w) { return sum(x * sum(w)); }, shape, all);
}

TEST(SplitGradients, OfTheNormOfZerosAreZero) {
  auto const zeros = coir::evaluate(coir::zeros(7, 5));
  auto const got =
      sharded::value_and_grad([](auto x) { return norm(x); })(sharded::shard(world(), zeros));
  EXPECT_EQ(got.value, 0);
  expect_close(whole(got.gradient), zeros, __LINE__);
}

// Beside elements of the rank's own plain arguments and sums go through vary().
TEST(SplitGradients, OfPlainArgumentsBesideHalosAreAddedUp) {
  auto const x = coir::evaluate(coir::random::normal(key, shape)),
             w = coir::evaluate(coir::random::normal(key, {1, 5}));
  auto const expected = coir::value_and_grad([](auto x, auto w) {
    return sum(square((shift(x, 0, 1) + shift(x, 0, -1)) * w + sum(w) * x));
  })(x, w);
  auto const got = sharded::value_and_grad([](auto x, auto w) {
    auto const h = with_halo(x, 1);
    auto const v = sharded::vary(world(), w);
    auto const total = sharded::vary(world(), sum(w));
    return sum(square(
        from_parts((h(range(0, -2)) + h(range(2, end))) * v + total * x.local(), x.placement())));
  })(sharded::shard(world(), x), w);
  EXPECT_NEAR(got.value, expected.value, 1e-12 * expected.value);
  expect_close(whole(std::get<0>(got.gradient)), std::get<0>(expected.gradient), __LINE__);
  expect_close(whole(std::get<1>(got.gradient)), std::get<1>(expected.gradient), __LINE__);
}

// Ranks without elements, and results that nothing depends on, take part in the way back.
TEST(SplitGradients, OfProgramsOfManyStatementsAreThoseOfPlainArrays) {
  auto const steps = [](auto x) {
    auto u = evaluate(x * x);
    for (int step = 0; step < 3; ++step) {
      [[maybe_unused]] auto const unused = reshard(shift(u, 0, 2), 1);
      u = evaluate(u + 0.1 * (shift(u, 0, 1) + shift(u, 0, -1) + shift(u, 1, 1) - 3 * sin(u)));
    }
    return mean(u * u);
  };
  compare<2>(__LINE__, steps, shape);
  compare<2>(__LINE__, steps, coir::Shape<2>{2, 3});
  compare<3>(
      __LINE__,
      [](auto x) { return sum(reshard(shift(x, 2, 1), 0) * shift(reshard(x, 0), 1, -1)); },
      coir::Shape<3>{3, 4, 5});
}

struct Damped {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return 1.0 / static_cast<double>(1 + i + 2 * j + 3 * k);
  }
};

TEST(SplitGradients, OfTransformsAreThoseOfPlainArrays) {
  using coir::fft::irfftn;
  using coir::fft::rfftn;
  for (std::int64_t n : {6, 5}) {
    auto const x = coir::evaluate(coir::random::normal(key, {5, 4, n}));
    auto const damping = coir::from_function({5, 4, n / 2 + 1}, Damped{});
    auto const power = [&](auto u) { return sum(square(abs(rfftn(u))) * damping); };
    auto const got = sharded::value_and_grad(power)(sharded::shard(world(), x));
    expect_close(whole(got.gradient), coir::grad(power)(x), __LINE__);
    auto const smoothed = [&](auto u) { return sum(exp(irfftn(rfftn(u) * damping, n))); };
    auto const back = sharded::value_and_grad(smoothed)(sharded::shard(world(), x));
    expect_close(whole(back.gradient), coir::grad(smoothed)(x), __LINE__);
  }
}

// Of a product of split matrices, and of one with a plain matrix.
TEST(SplitGradients, OfProductsAreThoseOfPlainArrays) {
  auto const a = coir::evaluate(coir::random::normal(key, {7, 3})),
             b = coir::evaluate(coir::random::normal(coir::random::key(8), {3, 5}));
  auto const chain = [](auto x, auto y) { return sum(square(matmul(tanh(x), y * y))); };
  auto const [first, second] = coir::value_and_grad(chain)(a, b).gradient;
  auto const split =
      sharded::value_and_grad(chain)(sharded::shard(world(), a), sharded::shard(world(), b));
  expect_close(whole(std::get<0>(split.gradient)), first, __LINE__);
  expect_close(whole(std::get<1>(split.gradient)), second, __LINE__);
  auto const plain = sharded::value_and_grad(chain)(sharded::shard(world(), a), b);
  expect_close(whole(std::get<0>(plain.gradient)), first, __LINE__);
  expect_close(whole(std::get<1>(plain.gradient)), second, __LINE__);
  auto const constant = sharded::shard(world(), b);
  auto const left = sharded::value_and_grad([&](auto x) { return sum(exp(matmul(x, constant))); })(
      sharded::shard(world(), a));
  expect_close(whole(left.gradient), coir::grad([&](auto x) { return sum(exp(matmul(x, b))); })(a),
               __LINE__);
}

}  // namespace
