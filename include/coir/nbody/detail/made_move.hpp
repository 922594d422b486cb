#pragma once

/// \file
/// A move of a reversible simulation, with what undoing it needs, and the derivatives of a loss along its factors.

#include <coir/nbody/moves.hpp>

#include <cstdint>

namespace coir::nbody::detail {

/// A move that was made, and what is needed to undo it. Momenta are held as p / scale: where a move multiplies them by a
/// number, which would lose bits, the scale is multiplied in their place.
struct MadeMove {
  Move move{};
  double scale = 1, scale_after = 1;  ///< before and after the kick
  int step = 0;                       ///< how many steps had been made when it was done
  bool closes = false;                ///< StepMoves::closing
  int stored = -1;                    ///< which of the stored momenta it began with, or -1
  double largest_scale = 1;           ///< up to then
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
