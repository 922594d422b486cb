#pragma once

/// \file
/// The number of particles that a rank has memory for.

#include <coir/distributed/group.hpp>

#include <cmath>
#include <cstdint>

namespace coir::nbody::detail {

/// The most particles along a side of the lattice over ranks, because sites have numbers of 32
/// bits.
inline constexpr std::int64_t most_along_a_side = 1625;
static_assert(most_along_a_side * most_along_a_side * most_along_a_side <= 0xffffffff);

/// Whether particles change their ranks: one rank has all planes of the lattice and of the mesh.
inline bool particles_migrate(distributed::Group const& group) { return group.size() > 1; }

/// Places for particles, with headroom, on the rank that has most planes of the lattice.
inline std::int64_t places_for(std::int64_t side, int ranks, double headroom) {
  std::int64_t const most = (side + ranks - 1) / ranks * side * side;
  return most + static_cast<std::int64_t>(std::ceil(static_cast<double>(most) * headroom));
}

}  // namespace coir::nbody::detail
