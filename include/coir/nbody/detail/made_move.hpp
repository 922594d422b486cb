#pragma once

/// \file
/// A move of a reversible simulation, the data to undo it, and derivatives of a loss with respect
/// to its factors.

#include <coir/nbody/moves.hpp>

#include <cstdint>

namespace coir::nbody::detail {

/// A move that was made, and the data to undo it. Momenta are held as p / scale. A move that
/// multiplies momenta by a number multiplies the scale instead, so that no bits are lost.
struct MadeMove {
  Move move{};
  double scale = 1, scale_after = 1;  ///< before and after the kick
  int step = 0;                       ///< the number of steps made with it
  bool closes = false;                ///< StepMoves::closing
  int stored = -1;                    ///< the index of the stored momenta that it began with, or -1
  double largest_scale = 1;           ///< of all moves so far
  std::uint64_t check_sum = 0;        ///< of all particles' positions and momenta before the kick
  double largest_force = 0;           ///< the size of a component
  /// The size of a component after the kick, in quanta; infinite if one can't be held.
  double largest_momentum = 0;
};

/// The derivatives of a loss along the factors of a move, which the adjoint of the move adds up.
struct FactorSlopes {
  double drift_before = 0, keep = 0, kick = 0, drift_after = 0;
};

}  // namespace coir::nbody::detail
