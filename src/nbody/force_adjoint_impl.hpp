#pragma once

#include <coir/core/borrowed.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/timing.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/paint_whole_numbers.hpp>
#include <coir/nbody/detail/force_adjoint.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace coir::nbody::detail {

template <CompiledSpace Exec, Real T>
ForceAdjoint<Exec, T>::ForceAdjoint(Exec const& exec, Force& force,
                                    ForceAdjointOptions const& options)
    : exec_(exec), force_(&force), options_(options) {
  expects_memory<typename Exec::memory_space>(fft::bytes_in_place<T>(force.shape()),
                                              "the mesh of a simulation's adjoint");
  mesh_ = fft::allocate_in_place<T, typename Exec::memory_space>(
      "coir::nbody::force_adjoint/potential", force.shape());
}

template <CompiledSpace Exec, Real T>
auto ForceAdjoint<Exec, T>::potential(Particles<Exec, T> const& particles, Vectors const& slopes,
                                      double largest, double scale, mesh::PaintScheme scheme,
                                      PhaseSeconds& seconds) const -> Density {
  if (options_.deterministic)
    return potential_of_whole_numbers(particles, slopes, largest, scale, seconds);
  Stopwatch<Exec> const painting(exec_);
  // On hosts `scheme` is for masses: private meshes of vectors would take three times the memory.
  mesh::PaintScheme const of_vectors = runs_on_host<Exec> ? mesh::PaintScheme::automatic : scheme;
  mesh::paint(exec_, particles.position, slopes, particles.box, force_->force(),
              {.assignment = options_.assignment, .scheme = of_vectors});
  seconds.paint += painting.seconds();
  Stopwatch<Exec> const solving(exec_);
  auto const potential = force_->pull_back(scale, mesh_);
  seconds.fft += solving.seconds();
  return potential;
}

/// Paints component by component in whole numbers, whose sums don't depend on the order of
/// particles.
template <CompiledSpace Exec, Real T>
auto ForceAdjoint<Exec, T>::potential_of_whole_numbers(Particles<Exec, T> const& particles,
                                                       Vectors const& slopes, double largest,
                                                       double scale, PhaseSeconds& seconds) const
    -> Density {
  auto const& shape = force_->shape();
  // The largest slope becomes 2^39 to 2^40, so that a cell can add up 2^22 of them; slopes below
  // 2^-980 become less, so that the scale and its inverse are finite.
  int exponent;
  std::frexp(largest, &exponent);
  double const per_slope = std::ldexp(1.0, 40 - std::max(exponent, -980));
  // The three numbers of a cell have enough memory for one whole number.
  Borrowed<std::int64_t, T> const numbers(force_->force().data(), size_of(shape));
  mesh::Cells<std::int64_t> const cells{
      numbers.data(), {shape[0], shape[1], shape[2]}, shape[1] * shape[2], shape[2]};
  for (int d = 0; d < 3; ++d) {
    Stopwatch<Exec> const painting(exec_);
    mesh::paint_whole_numbers<Exec, T>(exec_, particles.position.data(), particles.count(),
                                       particles.box, slopes.data() + d, per_slope, cells,
                                       options_.assignment);
    seconds.paint += painting.seconds();
    Stopwatch<Exec> const solving(exec_);
    force_->add_to_pull_back(d, cells.data, 1 / per_slope, mesh_);
    seconds.fft += solving.seconds();
  }
  Stopwatch<Exec> const solving(exec_);
  auto const potential = force_->pull_back_sum(scale, mesh_);
  seconds.fft += solving.seconds();
  return potential;
}

}  // namespace coir::nbody::detail

#define COIR_INSTANTIATE_FORCE_ADJOINT(Exec)                     \
  template class coir::nbody::detail::ForceAdjoint<Exec, float>; \
  template class coir::nbody::detail::ForceAdjoint<Exec, double>;
