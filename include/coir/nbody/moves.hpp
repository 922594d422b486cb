#pragma once

/// \file
/// The kicks and drifts of the steps of a simulation.

#include <coir/cosmology/growth.hpp>
#include <coir/nbody/stepper.hpp>

#include <span>
#include <vector>

namespace coir::nbody {

/// A drift, a kick and a drift of all particles, with F the force at their positions after the
/// first drift:
///
///   x += drift_before p;  p = keep p + kick F;  x += drift_after p
///
/// Positions are in Mpc/h, momenta p = a^2 dx/dt, and F = -grad phi with laplacian phi = 3/2
/// omega_m delta, as in Simulation.
///
/// \tparam T  double, or a dual number for derivatives along cosmological parameters
template <class T>
struct MoveOf {
  T drift_before = T(0);
  T keep = T(1);
  T kick = T(0);
  T drift_after = T(0);

  /// Whether there is a kick, which needs a force.
  bool has_kick() const { return keep != 1 || kick != 0; }
};
using Move = MoveOf<double>;

/// The moves of one step.
template <class T>
struct StepMovesOf {
  /// Begins where `move` of the step before ended, and includes that step's `closing`.
  MoveOf<T> move{};
  /// Brings positions and momenta to the same time, the step's end. It is made only if a caller
  /// reads the particles. Otherwise it is part of the next step's move, so that consecutive kicks
  /// or drifts are one.
  MoveOf<T> closing{};
};
using StepMoves = StepMovesOf<double>;

/// The moves of the steps between successive scale factors. Positions and momenta both start at the
/// first one. In kick-drift-kick momenta are at (a + b) / 2. The moves of step s from a to b are
///
///   fastpm, plain  p += (kick_after of step s - 1 + kick_before) F;  x += drift p.    Closing: p
///   += kick_after F bullfrog       x += (half drifts of steps s - 1 and s) p;  p = keep p + kick
///   F.   Closing: x += half drift p
///
/// with the factors of cosmology/factors.hpp. To make the steps, apply every `move` and then the
/// last `closing`.
///
/// \param scale_factors  one more than there are steps
/// \tparam T  double, or Dual<double, cosmology::varied_parameters>
/// \throws PreconditionError unless the scale factors are above 0, finite and rising, and, except
///   for plain, in the range of `growth`
template <class T>
std::vector<StepMovesOf<T>> moves_of(Stepper stepper, cosmology::Growth<T> const& growth,
                                     std::span<double const> scale_factors);

}  // namespace coir::nbody
