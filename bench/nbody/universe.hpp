#pragma once

/// The universe that the benchmarks of particles simulate: one particle in a cubic Mpc/h, that of
/// pmwd's own benchmarks.

#include <coir/core/concepts.hpp>
#include <coir/core/memory.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/nbody/initial_conditions.hpp>

#include <cstdint>

namespace coir::bench {

/// side^3 particles at a, by Lagrangian perturbation theory of this order.
template <class Exec, class T>
nbody::Particles<Exec, T> universe(Exec const& exec, std::int64_t side, double a, int order) {
  cosmology::LinearPower<double> const power(cosmology::simple_lcdm());
  return nbody::initial_conditions<Exec, T>(exec, side, double(side), power, a, {.order = order});
}

/// The same particles in memory of their own, which lies in large pages, as that of initial
/// conditions.
template <class Exec, class T>
nbody::Particles<Exec, T> copy_of(nbody::Particles<Exec, T> const& particles) {
  using Vectors = typename nbody::Particles<Exec, T>::Vectors;
  auto copy = particles;
  for (Vectors* vectors : {&copy.position, &copy.momentum}) {
    Vectors const from = *vectors;
    *vectors =
        Vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "particles"), from.extent(0));
    if constexpr (runs_on_host<Exec>)
      ask_for_large_pages(vectors->data(), static_cast<std::int64_t>(from.size() * sizeof(T)));
    Kokkos::deep_copy(*vectors, from);
  }
  return copy;
}

}  // namespace coir::bench
