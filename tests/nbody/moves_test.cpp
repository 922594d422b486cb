#include <coir/cosmology/factors.hpp>
#include <coir/nbody/moves.hpp>

#include <gtest/gtest.h>

#include <support/message_of.hpp>

#include <cmath>
#include <span>
#include <vector>

using namespace coir;
using coir::testing::message_of;
using nbody::Move;
using nbody::moves_of;
using nbody::StepMoves;
using nbody::Stepper;

namespace {

constexpr Stepper steppers[] = {Stepper::fastpm, Stepper::plain, Stepper::bullfrog};

cosmology::Growth<double> const& growth() {
  static cosmology::Growth<double> const lcdm(cosmology::planck18());
  return lcdm;
}

/// A particle on a line, in the force of a pendulum.
struct State {
  double x = 1, p = 0.5;

  static double force(double x) { return -std::sin(x); }

  void make(Move const& move) {
    x += move.drift_before * p;
    p = move.keep * p + move.kick * force(x);
    x += move.drift_after * p;
  }
};

State after(std::vector<StepMoves> const& moves) {
  State state;
  for (auto const& step : moves) state.make(step.move);
  if (!moves.empty()) state.make(moves.back().closing);
  return state;
}

}  // namespace

TEST(Moves, OfKickDriftKickAreItsFactors) {
  std::vector<double> const a{0.1, 0.2, 0.35};
  auto const moves = moves_of(Stepper::fastpm, growth(), a);
  ASSERT_EQ(moves.size(), 2u);
  auto const first = cosmology::fastpm_kdk(growth(), 0.1, 0.5 * (0.1 + 0.2), 0.2);
  auto const second = cosmology::fastpm_kdk(growth(), 0.2, 0.5 * (0.2 + 0.35), 0.35);
  EXPECT_EQ(moves[0].move.kick, first.kick_before);
  EXPECT_EQ(moves[0].move.drift_after, first.drift);
  EXPECT_EQ(moves[0].closing.kick, first.kick_after);
  EXPECT_EQ(moves[1].move.kick, first.kick_after + second.kick_before);
  EXPECT_EQ(moves[1].move.drift_after, second.drift);
  EXPECT_EQ(moves[1].closing.kick, second.kick_after);
  for (auto const& step : moves)
    for (Move const& move : {step.move, step.closing}) {
      EXPECT_EQ(move.drift_before, 0);
      EXPECT_EQ(move.keep, 1);
    }
  auto const plain = moves_of(Stepper::plain, growth(), std::span(a).first(2));
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].move.drift_after, cosmology::quinn_drift(growth().parameters(), 0.1, 0.2));
}

TEST(Moves, OfDriftKickDriftAreItsFactorsInMomenta) {
  std::vector<double> const a{0.1, 0.2, 0.35};
  auto const moves = moves_of(Stepper::bullfrog, growth(), a);
  ASSERT_EQ(moves.size(), 2u);
  auto const first = cosmology::bullfrog_dkd(growth(), 0.1, 0.2);
  auto const second = cosmology::bullfrog_dkd(growth(), 0.2, 0.35);
  double const g[3] = {growth().momentum(0.1), growth().momentum(0.2), growth().momentum(0.35)};
  EXPECT_EQ(moves[0].move.drift_before, first.half_drift / g[0]);
  EXPECT_EQ(moves[0].move.keep, first.alpha * g[1] / g[0]);
  EXPECT_EQ(moves[0].move.kick, first.force * g[1] / (1.5 * growth().parameters().omega_m));
  EXPECT_EQ(moves[0].closing.drift_before, first.half_drift / g[1]);
  EXPECT_EQ(moves[1].move.drift_before, first.half_drift / g[1] + second.half_drift / g[1]);
  for (auto const& step : moves) {
    EXPECT_EQ(step.move.drift_after, 0);
    EXPECT_FALSE(step.closing.has_kick());
  }
}

TEST(Moves, AskForAForceWhereTheyKick) {
  EXPECT_FALSE(Move{}.has_kick());
  EXPECT_FALSE((Move{.drift_before = 1, .drift_after = 2}).has_kick());
  EXPECT_TRUE((Move{.kick = 0.1}).has_kick());
  EXPECT_TRUE((Move{.keep = 0.9}).has_kick());
}

TEST(Moves, OfManyStepsAreThoseOfStepsOneByOne) {
  std::vector<double> const a{0.1, 0.15, 0.3, 0.5, 1};
  for (Stepper const stepper : steppers) {
    State one_by_one;
    for (std::size_t s = 0; s + 1 < a.size(); ++s) {
      auto const step = moves_of(stepper, growth(), std::span(a).subspan(s, 2));
      one_by_one.make(step[0].move);
      one_by_one.make(step[0].closing);
      State const together = after(moves_of(stepper, growth(), std::span(a).first(s + 2)));
      // Two kicks or drifts that become one are rounded once in place of twice.
      EXPECT_NEAR(together.x, one_by_one.x, 1e-13) << name_of(stepper) << s;
      EXPECT_NEAR(together.p, one_by_one.p, 1e-13) << name_of(stepper) << s;
    }
  }
}

// Whoever stops early closes the last step that was made.
TEST(Moves, BeginWithThoseOfFewerSteps) {
  std::vector<double> const a{0.1, 0.15, 0.3, 0.5};
  for (Stepper const stepper : steppers) {
    auto moves = moves_of(stepper, growth(), a);
    moves.resize(2);
    State const stopped = after(moves),
                shorter = after(moves_of(stepper, growth(), std::span(a).first(3)));
    EXPECT_EQ(stopped.x, shorter.x) << name_of(stepper);
    EXPECT_EQ(stopped.p, shorter.p) << name_of(stepper);
  }
}

TEST(Moves, OfNoStepAreNone) {
  for (Stepper const stepper : steppers) {
    EXPECT_TRUE(moves_of(stepper, growth(), std::vector<double>{0.5}).empty());
    EXPECT_TRUE(moves_of(stepper, growth(), {}).empty());
  }
}

TEST(Moves, StayInTheRangeOfTheGrowth) {
  for (Stepper const stepper : {Stepper::fastpm, Stepper::bullfrog})
    EXPECT_NE(message_of([&] {
                moves_of(stepper, growth(), std::vector<double>{0.5, 0.9, 1.2});
              }).find("a_min and a_max"),
              std::string::npos);
}

TEST(Moves, AreOfRisingScaleFactors) {
  auto const message = [](Stepper stepper, std::vector<double> const& a) {
    return message_of([&] { moves_of(stepper, growth(), a); });
  };
  for (Stepper const stepper : steppers) {
    EXPECT_EQ(message(stepper, {0.2, 0.5, 0.4}),
              "scale factors must be above 0 and rise; number 2 must be above 0.5, not 0.4");
    EXPECT_EQ(message(stepper, {0.2, 0.2}),
              "scale factors must be above 0 and rise; number 1 must be above 0.2, not 0.2");
    EXPECT_EQ(message(stepper, {0, 0.5}),
              "scale factors must be above 0 and rise; number 0 must be above 0, not 0");
    EXPECT_EQ(message(stepper, {0.5, std::nan("")}),
              "scale factors must be above 0 and rise; number 1 must be above 0.5, not nan");
  }
}
