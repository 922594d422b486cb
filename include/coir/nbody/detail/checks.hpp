#pragma once

/// \file
/// Checks of the arguments of initial conditions and of models that begin with them.

#include <coir/core/errors.hpp>

#include <cmath>
#include <cstdint>

namespace coir::nbody::detail {

/// \throws PreconditionError if the number of particles, the box or the order is out of its range
inline void expects_lattice(std::int64_t side, double box, int order) {
  expects(side >= 1 && side <= 1 << 18, "the particles along a side must be from 1 to 2^18", side);
  expects(box > 0 && std::isfinite(box), "the box length must be positive and finite, in Mpc/h",
          box);
  expects(order == 1 || order == 2, "the order of perturbation theory must be 1 or 2", order);
}

}  // namespace coir::nbody::detail
