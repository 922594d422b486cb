#pragma once

/// \file
/// The number of steps that a simulation has made.

#include <coir/core/errors.hpp>

namespace coir::nbody::detail {

/// Counts the steps of a simulation, and knows whether its particles are between two steps. They
/// aren't while a call moves particles, nor after such a call has failed.
class StepCounter {
 public:
  /// \param steps  from the first scale factor to the last
  /// \param done   the number of steps that the particles have behind them
  constexpr StepCounter(int steps, int done) : steps_(steps), done_(done) {}

  constexpr int done() const { return done_; }
  constexpr int left() const { return steps_ - done_; }

  /// \throws PreconditionError if particles are amid a step
  void expects_between_steps() const {
    expects(is_between_steps_,
            "a call of this simulation has failed, in which particles stayed amid a step: make a "
            "new simulation");
  }

  /// To be called before particles are moved, and when they are between two steps again.
  constexpr void leave() { is_between_steps_ = false; }
  constexpr void arrive() { is_between_steps_ = true; }

  /// \param done  steps that the particles now have behind them, from 0 to all
  constexpr void count(int done) { done_ = done; }

 private:
  int steps_, done_;
  bool is_between_steps_ = true;
};

}  // namespace coir::nbody::detail
