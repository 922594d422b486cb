#include <coir/nbody/detail/move_history.hpp>

#include <support/message_of.hpp>

#include <vector>

using namespace coir;
using nbody::Move;
using nbody::detail::MadeMove;
using nbody::detail::MoveHistory;

namespace {

/// A move of step number `step`, whose check sum tells it from others.
MadeMove made(int step, Move const& move, std::uint64_t number, bool closes = false) {
  MadeMove result{.move = move};
  result.step = step;
  result.closes = closes;
  result.check_sum = number;
  return result;
}

/// Kick and drift, as fastpm has them: the drift is undone with the kick after it.
Move const kick_and_drift{.kick = 0.5, .drift_after = 0.25};
Move const kick{.kick = 0.5};
/// Drift and kick, as BullFrog has them.
Move const drift_and_kick{.drift_before = 0.75, .kick = 0.5};
Move const drift{.drift_before = 0.125};

/// The steps first to last, in one call, of which the last one is closed.
void call(MoveHistory& history, int first, int last, Move const& move, Move const& closing) {
  history.begin_call(first - 1);
  for (int step = first; step <= last; ++step)
    history.add(made(step, move, static_cast<std::uint64_t>(step)));
  history.add(made(last, closing, 100, true));
}

}  // namespace

TEST(MoveHistories, BeginEmpty) {
  MoveHistory history;
  EXPECT_TRUE(history.empty());
  EXPECT_FALSE(history.has_calls());
  EXPECT_EQ(history.scale(), 1);
  EXPECT_EQ(history.steps_to_undo(7), 0);
  EXPECT_FALSE(history.ends_with_step(0));
  EXPECT_THROW(history.last(), PreconditionError);
  EXPECT_THROW(history.take_last(0), PreconditionError);
  EXPECT_THROW(history.steps_before_last_call(), PreconditionError);
  EXPECT_THROW(history.moves_of_last_call(), PreconditionError);
}

TEST(MoveHistories, GiveTheMovesBackFromTheLastToTheFirst) {
  MoveHistory history;
  call(history, 1, 3, drift_and_kick, drift);
  EXPECT_TRUE(history.last().closes);
  std::vector<std::uint64_t> numbers;
  while (!history.empty()) numbers.push_back(history.take_last(0).made.check_sum);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{100, 3, 2, 1}));
}

TEST(MoveHistories, UndoADriftWithTheKickAfterIt) {
  MoveHistory history;
  call(history, 1, 2, kick_and_drift, kick);
  auto undone = history.take_last(0);  // the closing kick, with the drift of step 2
  EXPECT_EQ(undone.drift_after, 0);
  EXPECT_EQ(undone.drift_before, 0.25);
  undone = history.take_last(0);  // the kick of step 2, with the drift of step 1
  EXPECT_EQ(undone.made.step, 2);
  EXPECT_EQ(undone.drift_after, 0);
  EXPECT_EQ(undone.drift_before, 0.25);
  undone = history.take_last(0);  // the kick of step 1, before which there is nothing
  EXPECT_EQ(undone.drift_after, 0);
  EXPECT_EQ(undone.drift_before, 0);
}

TEST(MoveHistories, LeaveTheDriftBeforeTheTargetAlone) {
  MoveHistory history;
  call(history, 1, 3, kick_and_drift, kick);
  history.take_last(2);
  auto undone = history.take_last(2);  // the kick of step 3
  EXPECT_EQ(undone.made.step, 3);
  EXPECT_EQ(undone.drift_before, 0);
  undone = history.take_last(0);
  EXPECT_EQ(undone.made.step, 2);
  EXPECT_EQ(undone.drift_after, 0.25);
}

// The closing kick of a step comes after the move of that step, which is to be undone as well.
TEST(MoveHistories, UndoADriftWithTheClosingKickOfTheFirstStepAfterTheTarget) {
  MoveHistory history;
  call(history, 1, 1, kick_and_drift, kick);
  EXPECT_EQ(history.take_last(0).drift_before, 0.25);
  EXPECT_EQ(history.take_last(0).drift_after, 0);
}

TEST(MoveHistories, UndoTheOwnDriftOfAMoveThatHasOne) {
  MoveHistory history;
  call(history, 1, 2, drift_and_kick, drift);
  auto undone = history.take_last(0);  // the closing drift
  EXPECT_EQ(undone.drift_after, 0);
  EXPECT_EQ(undone.drift_before, 0.125);
  for (int const step : {2, 1}) {
    undone = history.take_last(0);
    EXPECT_EQ(undone.made.step, step);
    EXPECT_EQ(undone.drift_after, 0);
    EXPECT_EQ(undone.drift_before, 0.75);
  }
}

TEST(MoveHistories, TakeNoMovesWhileADriftIsUndone) {
  MoveHistory history;
  call(history, 1, 2, kick_and_drift, kick);
  history.take_last(0);
  std::string const expected = "the last move of a history must not be undone in part";
  EXPECT_EQ(coir::testing::message_of([&] { history.add({}); }), expected);
  EXPECT_EQ(coir::testing::message_of([&] { history.begin_call(2); }), expected);
  history.take_last(1);
  EXPECT_NO_THROW(history.add(made(1, kick, 101, true)));
}

TEST(MoveHistories, RememberCalls) {
  MoveHistory history;
  call(history, 1, 2, kick_and_drift, kick);
  call(history, 3, 5, kick_and_drift, kick);
  EXPECT_EQ(history.steps_to_undo(5), 5);
  EXPECT_EQ(history.steps_before_last_call(), 2);
  auto const moves = history.moves_of_last_call();
  ASSERT_EQ(moves.size(), 4u);
  EXPECT_EQ(moves.front().step, 3);
  EXPECT_TRUE(moves.back().closes);
  EXPECT_THROW(history.begin_call(2), PreconditionError);
  EXPECT_TRUE(history.ends_with_step(5));
  EXPECT_FALSE(history.ends_with_step(4));
  history.forget_calls_from(3);
  EXPECT_EQ(history.steps_before_last_call(), 2);
  history.forget_calls_from(2);
  EXPECT_EQ(history.steps_before_last_call(), 0);
  EXPECT_EQ(history.steps_to_undo(2), 2);
  history.forget_calls_from(0);
  EXPECT_FALSE(history.has_calls());
  EXPECT_FALSE(history.empty());
}

TEST(MoveHistories, CountStepsFromTheFirstCall) {
  MoveHistory history;
  history.begin_call(4);
  EXPECT_EQ(history.steps_to_undo(4), 0);
  EXPECT_EQ(history.steps_to_undo(6), 2);
  EXPECT_TRUE(history.moves_of_last_call().empty());
}

TEST(MoveHistories, KnowTheScaleOfMomenta) {
  MoveHistory history;
  history.begin_call(0);
  MadeMove move = made(1, drift_and_kick, 1);
  move.scale = 1;
  move.scale_after = 0.5;
  history.add(move);
  EXPECT_EQ(history.scale(), 0.5);
  EXPECT_EQ(history.take_last(0).made.scale_after, 0.5);
  EXPECT_EQ(history.scale(), 1);
}
