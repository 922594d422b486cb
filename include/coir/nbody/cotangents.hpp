#pragma once

/// \file
/// Derivatives of a loss with respect to the particles of a simulation.

#include <coir/core/concepts.hpp>
#include <coir/nbody/particles.hpp>

namespace coir::nbody {

/// The derivatives of a loss J with respect to the coordinates and momenta of the particles, in the
/// order of the particles.
template <ExecutionSpace Exec, Real T>
struct Cotangents {
  using Vectors = typename Particles<Exec, T>::Vectors;

  Vectors position{};  ///< (N, 3), dJ / d Particles::position
  Vectors momentum{};  ///< (N, 3), dJ / d Particles::momentum
};

}  // namespace coir::nbody
