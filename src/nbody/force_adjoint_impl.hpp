#pragma once

#include <coir/core/contiguous.hpp>
#include <coir/core/kept_views.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/timing.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/paint_whole_numbers.hpp>
#include <coir/nbody/detail/force_adjoint.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace coir::nbody::detail {

template <CompiledSpace Exec, Real T>
std::int64_t ForceAdjoint<Exec, T>::bytes(distributed::Group const& group, Shape<3> const& shape,
                                          SimulationOptions const& options) {
  return Force::adjoint_bytes(group, shape, mesh::touched_beyond(options.assignment),
                              options.kernel, options.deterministic);
}

template <CompiledSpace Exec, Real T>
ForceAdjoint<Exec, T>::ForceAdjoint(Exec const& exec, Force& force,
                                    ForceAdjointOptions const& options)
    : exec_(exec), force_(&force), options_(options) {
  auto const& group = force.ghosts().group();
  distributed::together(group, [&] {
    auto const touched = mesh::touched_beyond(options.assignment);
    auto const kernel = force.options().kernel;
    auto const shape = Force::adjoint_shape(group, force.shape(), touched, kernel);
    std::int64_t const numbers = Force::numbers_of_adjoint(group, force.shape(), touched, kernel);
    expects_memory<typename Exec::memory_space>(
        options.deterministic ? numbers * static_cast<std::int64_t>(sizeof(std::int64_t))
                              : fft::bytes_in_place<T>(shape),
        "the mesh of a simulation's adjoint");
    if (options.deterministic) {
      numbers_ = kept_view<typename Force::WholeNumbers>(exec, "coir::nbody::force_adjoint/numbers",
                                                         numbers);
    } else {
      mesh_ = kept_view<decltype(mesh_)>(exec, "coir::nbody::force_adjoint/potential", shape[0],
                                         shape[1], shape[2] / 2 + 1);
      set_to_zero(exec, mesh_);  // the gaps between rows, with which ghost planes travel
    }
  });
}

template <CompiledSpace Exec, Real T>
mesh::CellsWindow<T const> ForceAdjoint<Exec, T>::potential(Particles<Exec, T> const& particles,
                                                            Vectors const& slopes, double largest,
                                                            double scale, mesh::PaintScheme scheme,
                                                            PhaseSeconds& seconds) {
  return mesh::read_only(force_->ghosts().window(
      options_.deterministic
          ? potential_of_whole_numbers(particles, slopes, largest, scale, seconds)
          : potential_of_vectors(particles, slopes, scale, scheme, seconds)));
}

template <CompiledSpace Exec, Real T>
auto ForceAdjoint<Exec, T>::potential_of_vectors(Particles<Exec, T> const& particles,
                                                 Vectors const& slopes, double scale,
                                                 mesh::PaintScheme scheme, PhaseSeconds& seconds)
    -> Density {
  Stopwatch<Exec> const painting(exec_, options_.measure_phases);
  // On hosts `scheme` is for masses: private meshes of vectors would take three times the memory.
  mesh::PaintScheme const of_vectors = runs_on_host<Exec> ? mesh::PaintScheme::automatic : scheme;
  // Over ranks Views have more places than there are particles.
  auto const of_particles = [&](Vectors const& vectors) {
    return Kokkos::View<T const* [3], Kokkos::LayoutRight, typename Exec::memory_space,
                        Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        vectors.data(), static_cast<std::size_t>(particles.count()));
  };
  mesh::paint(exec_, force_->ghosts(), of_particles(particles.position), of_particles(slopes),
              particles.box, force_->slopes_to_paint(),
              {.assignment = options_.assignment,
               .scheme = of_vectors,
               .check_planes = false,  // particles have been brought to their planes
               .add_ghosts = false});
  seconds.paint += painting.seconds();
  Stopwatch<Exec> const solving(exec_, options_.measure_phases);
  auto const potential = force_->pull_back(scale, mesh_);
  seconds.fft += solving.seconds();
  return potential;
}

/// Paints component by component in whole numbers, whose sums don't depend on the order of
/// particles.
template <CompiledSpace Exec, Real T>
auto ForceAdjoint<Exec, T>::potential_of_whole_numbers(Particles<Exec, T> const& particles,
                                                       Vectors const& slopes, double largest,
                                                       double scale, PhaseSeconds& seconds)
    -> Density {
  // The largest slope becomes 2^39 to 2^40, so that a cell can add up 2^17 of them; slopes below
  // 2^-980 become less, so that the scale and its inverse are finite.
  int exponent;
  std::frexp(largest, &exponent);
  double const per_slope = std::ldexp(1.0, 40 - std::max(exponent, -980));
  double painting = 0;
  Stopwatch<Exec> const solving(exec_, options_.measure_phases);
  auto const potential = force_->pull_back_whole_numbers(
      scale, 1 / per_slope, numbers_, [&](int d, mesh::CellsWindow<std::int64_t> const& cells) {
        Stopwatch<Exec> const watch(exec_, options_.measure_phases);
        mesh::paint_whole_numbers<Exec, T>(exec_, particles.position.data(), particles.count(),
                                           particles.box, slopes.data() + d, per_slope, cells,
                                           options_.assignment);
        painting += watch.seconds();
      });
  seconds.paint += painting;
  seconds.fft += solving.seconds() - painting;
  return potential;
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_FORCE_ADJOINT(Exec)                     \
  template class coir::nbody::detail::ForceAdjoint<Exec, float>; \
  template class coir::nbody::detail::ForceAdjoint<Exec, double>;
