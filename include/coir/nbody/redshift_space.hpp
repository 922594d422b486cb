#pragma once

/// \file
/// Positions of particles in redshift space.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/memory.hpp>
#include <coir/cosmology/background.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/nbody/particles.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace coir::nbody {

namespace detail {

/// s = x, and along the third axis s_3 = x_3 + factor p_3, in the box.
template <class T>
struct SeeByRedshift {
  T const *position, *momentum;
  T* seen;
  T factor, box;

  KOKKOS_FUNCTION void operator()(std::int64_t particle) const {
    std::int64_t const x = 3 * particle, z = x + 2;
    T const moved = position[z] + factor * momentum[z];
    T const inside = moved - box * math::floor(moved / box);
    seen[x] = position[x];
    seen[x + 1] = position[x + 1];
    seen[z] = inside >= T(0) && inside < box ? inside : T(0);
  }
};

}  // namespace detail

/// The positions of particles in redshift space, seen along the third axis from far away, in the
/// periodic box:
///
///   x_3 + v_3 / (a H) = x_3 + p_3 / (a^2 E), with the peculiar velocity v = 100 km/s p / a
///
/// \param particles   this rank's
/// \param parameters  of the expansion, whose rate is E
/// \param a           scale factor of the particles
/// \return  (N, 3), N = particles.count(), in Mpc/h, in memory of its own
/// \throws PreconditionError unless a > 0 and the expansion is physical at a
/// \throws ResourceError if there is no memory
/// \see Kaiser, Mon. Not. R. Astron. Soc. 227, 1 (1987)
template <ExecutionSpace Exec, Real T>
typename Particles<Exec, T>::Vectors redshift_space(Exec const& exec,
                                                    Particles<Exec, T> const& particles,
                                                    cosmology::Parameters<double> const& parameters,
                                                    double a) {
  expects(a > 0, "the scale factor must be above 0", a);
  cosmology::expects_background(parameters, a > 1 ? a : 1.0);
  std::int64_t const count = particles.count();
  expects_memory<typename Exec::memory_space>(
      3 * count * static_cast<std::int64_t>(sizeof(T)),
      "the positions of " + std::to_string(count) + " particles in redshift space");
  typename Particles<Exec, T>::Vectors const seen(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "coir::nbody::redshift_space"),
      static_cast<std::size_t>(count));
  double const factor = 1 / (a * a * cosmology::expansion_rate(parameters, a));
  for_each(
      "coir::nbody::redshift_space", exec, coir::box<1, std::int64_t>({count}),
      detail::SeeByRedshift<T>{particles.position.data(), particles.momentum.data(), seen.data(),
                               static_cast<T>(factor), static_cast<T>(particles.box)});
  exec.fence();
  return seen;
}

}  // namespace coir::nbody
