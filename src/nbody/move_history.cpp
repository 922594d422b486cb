#include <coir/nbody/detail/move_history.hpp>

namespace coir::nbody::detail {

MoveToUndo MoveHistory::take_last(int target) {
  MadeMove const made = moves_.back();
  moves_.pop_back();
  MoveToUndo result{made, drift_is_undone_ ? 0 : made.move.drift_after, made.move.drift_before};
  drift_is_undone_ = false;
  bool const is_last_to_undo = made.step == target + 1 && !ends_with_step(made.step);
  if (made.move.has_kick() && result.drift_before == 0 && !moves_.empty() && !is_last_to_undo) {
    result.drift_before = moves_.back().move.drift_after;
    drift_is_undone_ = result.drift_before != 0;
  }
  return result;
}

void MoveHistory::forget_calls_from(int done) {
  while (!calls_.empty() && calls_.back().done >= done) calls_.pop_back();
}

}  // namespace coir::nbody::detail
