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
  double
      drift_after;  ///< the factor of its second drift, or 0 if that has been undone with the move after it
  /// The factor of the drift before the kick: the move's own, or if it has none that of the second
  /// drift of the move before. One pass over particles undoes the kick and this drift.
  double drift_before;
};

/// The moves that a reversible simulation has made and not undone, in their order, and the calls of
/// advance() that made them. It remembers whether the last move's second drift was undone already.
/// It moves no particles.
class MoveHistory {
 public:
  /// To be called before the moves of a call of advance() are added.
  ///
  /// \param done  steps made before it, more than before the last call in the history
  /// \throws PreconditionError if there aren't more, or the last move is undone in part
  void begin_call(int done);

  /// \throws PreconditionError if the last move is undone in part
  void add(MadeMove const& made);

  bool empty() const { return moves_.empty(); }

  /// \throws PreconditionError if there is no move
  MadeMove const& last() const;

  /// Whether the last move was made in step number `step`, counted from 1.
  bool ends_with_step(int step) const { return !empty() && moves_.back().step == step; }

  /// The scale by which momenta are held now: see MadeMove.
  double scale() const { return empty() ? 1 : moves_.back().scale_after; }

  /// The number of steps that can be undone.
  ///
  /// \param done  steps made
  int steps_to_undo(int done) const { return calls_.empty() ? 0 : done - calls_.front().done; }

  bool has_calls() const { return !calls_.empty(); }

  /// Steps made before the last call.
  ///
  /// \throws PreconditionError if there is no call
  int steps_before_last_call() const;

  /// The moves of the last call that haven't been undone.
  ///
  /// \throws PreconditionError if there is no call
  std::vector<MadeMove> moves_of_last_call() const;

  /// Removes the last move, for the caller to undo it as MoveToUndo says.
  ///
  /// \param target  the number of steps that remain in the end, whose moves aren't touched
  /// \throws PreconditionError if there is no move
  MoveToUndo take_last(int target);

  /// Forgets the calls that began when `done` steps or more had been made.
  void forget_calls_from(int done);

 private:
  struct Call {
    int done;           ///< steps made before it
    std::size_t begin;  ///< its first move
  };

  void expects_whole_moves() const;

  std::vector<MadeMove> moves_;
  std::vector<Call> calls_;
  bool drift_is_undone_ = false;  // the second drift of the last move
};

}  // namespace coir::nbody::detail
