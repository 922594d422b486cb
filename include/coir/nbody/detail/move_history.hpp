#pragma once

/// \file
/// The moves that a reversible simulation can undo.

#include <coir/nbody/detail/made_move.hpp>

#include <cstddef>
#include <vector>

namespace coir::nbody::detail {

/// A move to undo: first its second drift, then its kick, and then the drift before the kick.
struct MoveToUndo {
  MadeMove made;
  /// The factor of its second drift, or 0 if that has been undone with the move after it.
  double drift_after;
  /// The factor of the drift before the kick: the move's own, or if it has none that of the second
  /// drift of the move before. One pass over particles undoes the kick and this drift.
  double drift_before;
};

/// The moves that a reversible simulation has made and not undone, in their order, and the calls of
/// advance() that made them. It remembers whether the last move's second drift was undone already.
/// It moves no particles. Callers undo whole steps.
class MoveHistory {
 public:
  /// To be called before the moves of a call of advance() are added.
  ///
  /// \param done  steps made before it
  void begin_call(int done) { calls_.push_back({done, moves_.size()}); }
  void add(MadeMove const& made) { moves_.push_back(made); }

  /// Whether momenta are at another time than a call of advance() would leave them at.
  bool lacks_closing() const { return !moves_.empty() && !moves_.back().closes; }
  /// Whether the last move was made in step number `step`, counted from 1.
  bool ends_with_step(int step) const { return !moves_.empty() && moves_.back().step == step; }
  /// The scale by which momenta are held now: see MadeMove.
  double scale() const { return moves_.empty() ? 1 : moves_.back().scale_after; }

  /// The number of steps that can be undone, of `done` steps made.
  int steps_to_undo(int done) const { return calls_.empty() ? 0 : done - calls_.front().done; }

  bool has_calls() const { return !calls_.empty(); }
  /// Steps made before the last call.
  int steps_before_last_call() const { return calls_.back().done; }
  /// The moves of the last call that haven't been undone.
  std::vector<MadeMove> moves_of_last_call() const {
    return {moves_.begin() + static_cast<std::ptrdiff_t>(calls_.back().begin), moves_.end()};
  }

  /// Removes the last move, for the caller to undo it as MoveToUndo says.
  ///
  /// \param target  the number of steps that remain in the end, whose moves aren't touched
  MoveToUndo take_last(int target);

  /// Forgets the calls that began when `done` steps or more had been made.
  void forget_calls_from(int done);

 private:
  struct Call {
    int done;           ///< steps made before it
    std::size_t begin;  ///< its first move
  };

  std::vector<MadeMove> moves_;
  std::vector<Call> calls_;
  bool drift_is_undone_ = false;  // the second drift of the last move
};

}  // namespace coir::nbody::detail
