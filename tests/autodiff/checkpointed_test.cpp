// Loops whose states are computed again on the way back, beside the same loops on a tape.

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/checkpointed.hpp>

#include <support/message_of.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

/// A step that reads a further array, and counts how often it is computed.
struct Burgers {
  std::int64_t* computed;
  template <class U, class K>
  auto operator()(U const& u, K const& k) const {
    ++*computed;
    return evaluate(u + 0.1 * k * (roll(u, 1) - 2 * u + roll(u, -1)) - 0.1 * u * (u - roll(u, 1)));
  }
};

struct Loop {
  std::int64_t steps;
  bool checkpoints;
  coir::CheckpointOptions options;
  std::int64_t* computed;

  template <class X, class K>
  auto operator()(X const& x, K const& k) const {
    if (checkpoints) {
      auto const u = coir::checkpointed(steps, Burgers{computed}, options)(sin(x), k);
      return sum(square(u) * u);
    } else {
      auto u = evaluate(sin(x));
      for (std::int64_t step = 0; step < steps; ++step) u = Burgers{computed}(u, k);
      return sum(square(u) * u);
    }
  }
};

/// The fewest steps that must be advanced to visit all of them backwards, by trying every place of
/// the next state.
std::vector<std::vector<std::int64_t>> fewest_advances(std::size_t steps, std::size_t states) {
  std::vector<std::vector<std::int64_t>> fewest(states + 1, std::vector<std::int64_t>(steps + 1));
  for (std::size_t l = 2; l <= steps; ++l) fewest[0][l] = std::int64_t(l * (l - 1) / 2);
  for (std::size_t s = 1; s <= states; ++s)
    for (std::size_t l = 2; l <= steps; ++l) {
      fewest[s][l] = fewest[0][l];
      for (std::size_t m = 1; m < l; ++m)
        fewest[s][l] =
            std::min(fewest[s][l], std::int64_t(m) + fewest[s - 1][l - m] + fewest[s][m]);
    }
  return fewest;
}

}  // namespace

TEST(Checkpointed, GradientsHaveTheBitsOfTheLoopOnATape) {
  coir::Array<double, 1> const x = coir::linspace<double>(0.2, 5, 16), k = abs(cos(x));
  // A step takes 12 x 16 numbers on the tape at most: this many bytes, and states of 128.
  std::int64_t const one = 12 * 16 * 8;
  for (std::int64_t const steps : {0, 1, 2, 13, 37}) {
    std::int64_t computed = 0;
    auto const [value, slopes] = coir::value_and_grad(Loop{steps, false, {}, &computed})(x, k);
    for (std::int64_t const states : {0, 1, 4, 100}) {
      coir::CheckpointPlan plan;
      coir::CheckpointOptions options{.bytes = one + states * 128,
                                      .tell = [&](auto const& told) { plan = told; }};
      computed = 0;
      auto const [again, slopes_again] =
          coir::value_and_grad(Loop{steps, true, options, &computed})(x, k);
      EXPECT_EQ(again, value);
      EXPECT_TRUE(all(slopes_again[0] == slopes[0]));
      EXPECT_LT(max(abs(slopes_again[1] - slopes[1])), 1e-13);
      if (steps == 0) continue;
      EXPECT_EQ(plan.steps, steps);
      EXPECT_LE(plan.bytes, options.bytes);
      EXPECT_EQ(computed, steps + plan.computed_again);
      if (states == 100) EXPECT_EQ(plan.computed_again, steps + 1);
    }
  }
}

// u_n = k^n u_0 along v in k alone: n k^(n - 1) v u_0.
TEST(Checkpointed, AConstantFirstStateHasDerivativesAlongDirections) {
  coir::Array<double, 1> const u = coir::linspace<double>(0.2, 5, 16), k = 1 + 0.1 * cos(u);
  auto const power = coir::checkpointed(3, [](auto u, auto k) { return u * k; });
  auto const f = [&](auto k) { return sum(power(u, k)); };
  auto const along = coir::jvp(f)(k, u);
  EXPECT_NEAR(along.value, sum(u * k * k * k), 1e-12);
  EXPECT_NEAR(along.derivative, sum(3 * k * k * u * u), 1e-12);
  EXPECT_NEAR(sum(coir::grad(f)(k) * u), along.derivative, 1e-12);
}

TEST(Checkpointed, TheScheduleIsTheBestThereIs) {
  std::size_t const most_steps = 60, most_states = 6;
  auto const fewest = fewest_advances(most_steps, most_states);
  for (std::size_t states = 0; states <= most_states; ++states)
    for (std::size_t steps = 1; steps <= most_steps; ++steps) {
      std::int64_t advanced = 0, next = std::int64_t(steps);
      coir::detail::revolve(
          std::int64_t(0), 0, std::int64_t(steps), std::int64_t(states),
          [&](std::int64_t state, std::int64_t first, std::int64_t count) {
            EXPECT_EQ(state, first);
            advanced += count;
            return state + count;
          },
          [&](std::int64_t state, std::int64_t step) {
            EXPECT_EQ(step, --next);
            if (states > 0) EXPECT_LE(state, step);
          });
      EXPECT_EQ(next, 0);
      EXPECT_EQ(advanced, fewest[states][steps]) << steps << " steps, " << states << " states";
    }
  // 1000 steps of 4096 x 4096 floats in 4 GiB, three states of which a step takes.
  EXPECT_LE(coir::detail::computed_again(1000, 64 - 3), 2000);
  // Many kept states don't fill the stack.
  EXPECT_EQ(coir::detail::computed_again(300'000, 299'999), 300'001);
}

TEST(Checkpointed, MistakesAreNamed) {
  coir::Array<double, 1> const x = coir::linspace<double>(0.2, 5, 16);
  std::int64_t computed = 0;
  auto const said = coir::testing::message_of<coir::ResourceError>(
      [&] { coir::grad(Loop{5, true, {.bytes = 300}, &computed})(x, x); });
  EXPECT_NE(said.find("a budget of 300 bytes, and one step takes"), std::string::npos) << said;
  EXPECT_THROW(coir::checkpointed(-1, Burgers{&computed}), coir::PreconditionError);
  EXPECT_THROW(coir::checkpointed(1, Burgers{&computed}, {.bytes = -1}), coir::PreconditionError);
  auto const shrinks = coir::checkpointed(2, [](auto u) { return u(coir::range(1, coir::end)); });
  EXPECT_THROW(coir::grad([&](auto x) { return sum(shrinks(x)); })(x), coir::PreconditionError);
  EXPECT_TRUE(all(coir::checkpointed(3, [](auto u) { return 2 * u; })(x) == 8 * x));
}
