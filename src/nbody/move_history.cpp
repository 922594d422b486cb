#include <coir/core/errors.hpp>
#include <coir/nbody/detail/move_history.hpp>

#include <cstddef>
#include <vector>

namespace coir::nbody::detail {

void MoveHistory::expects_whole_moves() const {
  expects(!drift_is_undone_, "the last move of a history must not be undone in part");
}

void MoveHistory::begin_call(int done) {
  expects_whole_moves();
  expects(calls_.empty() || done > calls_.back().done,
          "a call must begin after the last one that is remembered", done);
  calls_.push_back({done, moves_.size()});
}

void MoveHistory::add(MadeMove const& made) {
  expects_whole_moves();
  moves_.push_back(made);
}

MadeMove const& MoveHistory::last() const {
  expects(!moves_.empty(), "there must be a move that was made");
  return moves_.back();
}

int MoveHistory::steps_before_last_call() const {
  expects(!calls_.empty(), "there must be a call that made moves");
  return calls_.back().done;
}

std::vector<MadeMove> MoveHistory::moves_of_last_call() const {
  expects(!calls_.empty(), "there must be a call that made moves");
  return {moves_.begin() + static_cast<std::ptrdiff_t>(calls_.back().begin), moves_.end()};
}

MoveToUndo MoveHistory::take_last(int target) {
  MadeMove const made = last();
  moves_.pop_back();
  MoveToUndo result{made, drift_is_undone_ ? 0 : made.move.drift_after, made.move.drift_before};
  drift_is_undone_ = false;
  bool const is_last_to_undo = made.step == target + 1 && !ends_with_step(made.step);
  if (made.move.has_kick() && result.drift_before == 0 && !empty() && !is_last_to_undo) {
    result.drift_before = moves_.back().move.drift_after;
    drift_is_undone_ = result.drift_before != 0;
  }
  return result;
}

void MoveHistory::forget_calls_from(int done) {
  while (!calls_.empty() && calls_.back().done >= done) calls_.pop_back();
}

}  // namespace coir::nbody::detail
