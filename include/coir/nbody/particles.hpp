#pragma once

/// \file
/// The particles of a simulation.

#include <coir/core/concepts.hpp>
#include <coir/distributed/share.hpp>

#include <cstdint>

namespace coir::nbody {

/// side^3 particles of equal mass in a cubic box, in lattice order: particle (i side + j) side + k
/// started from the site (i, j, k) box / side. Each rank has the particles of some planes of the
/// lattice.
template <ExecutionSpace Exec, Real T>
struct Particles {
  using Vectors = Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space>;
  using Numbers = Kokkos::View<std::uint32_t*, typename Exec::memory_space>;

  std::int64_t side = 0;
  double box = 0;      ///< Mpc/h
  Vectors position{};  ///< (N, 3), N = count(), comoving, Mpc/h, in [0, box)
  Vectors momentum{};  ///< (N, 3), a^2 dx/dt with t in units of 1/H0; the peculiar velocity is 100
                       ///< km/s times this over a

  /// The particles on this rank: sites.count of them, from number sites.first on. sites.count < 0:
  /// all.
  distributed::Share sites{0, -1};

  /// The lattice site of each particle, while a simulation makes steps; empty in lattice order.
  Numbers site{};

  /// Number of the first particle on this rank.
  std::int64_t first() const { return sites.count < 0 ? 0 : sites.first; }
  /// Particles on this rank.
  std::int64_t count() const { return sites.count < 0 ? total() : sites.count; }
  /// Particles on all ranks.
  std::int64_t total() const { return side * side * side; }
};

}  // namespace coir::nbody
