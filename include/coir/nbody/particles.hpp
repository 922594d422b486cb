#pragma once

/// \file
/// The particles of a simulation.

#include <coir/core/concepts.hpp>
#include <coir/distributed/share.hpp>

#include <cstdint>

namespace coir::nbody {

/// side^3 particles of equal mass in a cubic box, in the order of the lattice that they started from: particle
/// (i side + j) side + k from (i, j, k) box / side. Over ranks each has those of some of the lattice's planes.
template <ExecutionSpace Exec, Real T>
struct Particles {
  using Vectors = Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space>;
  using Numbers = Kokkos::View<std::uint32_t*, typename Exec::memory_space>;

  std::int64_t side = 0;
  double box = 0;      ///< Mpc/h
  Vectors position{};  ///< (N, 3), N = count(), comoving, Mpc/h, in [0, box)
  Vectors
      momentum{};  ///< (N, 3), a^2 dx/dt with t in units of 1/H0; the peculiar velocity is 100 km/s times this over a

  /// Numbers of the particles that are here, those from sites.first on; below 0 of them stand for all.
  distributed::Share sites{0, -1};

  /// Which particle is which, while a simulation over ranks makes steps; empty while they are in the order of their lattice.
  Numbers site{};

  /// Here.
  std::int64_t count() const { return sites.count < 0 ? total() : sites.count; }
  /// On all ranks.
  std::int64_t total() const { return side * side * side; }
};

}  // namespace coir::nbody
