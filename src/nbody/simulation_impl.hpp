#pragma once

/// \file
/// Simulation, for one execution space.

#include <coir/core/timing.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/simulation.hpp>

#include "scale_factors.hpp"
#include "wrapped.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace coir::nbody {

namespace detail {

/// \throws PreconditionError naming the option that is out of its range
inline void check(SimulationOptions const& options, std::int64_t side) {
  auto const& a = options.scale_factors;
  expects(a.size() >= 2, "a simulation needs at least two scale factors",
          static_cast<std::int64_t>(a.size()));
  expects_rising(a);
  expects(options.mesh_ratio >= 0.5 && options.mesh_ratio <= 4,
          "the mesh ratio must be in [0.5, 4]", options.mesh_ratio);
  expects(side >= 1, "there must be at least one particle along a side", side);
}

/// Checks options and particles before memory is allocated and particles are moved.
template <class Exec, class T>
SimulationOptions const& checked(SimulationOptions const& options,
                                 Particles<Exec, T> const& particles, int first) {
  check(options, particles.side);
  expects(first >= 0 && first < static_cast<int>(options.scale_factors.size()),
          "the first step must be one of the " + std::to_string(options.scale_factors.size()) +
              " scale factors",
          first);
  return options;
}

}  // namespace detail

template <CompiledSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::mesh_side(std::int64_t side, SimulationOptions const& options) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(side) * options.mesh_ratio));
}

template <CompiledSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::bytes(Exec const& exec, distributed::Group const& group,
                                        std::int64_t side, SimulationOptions const& options) {
  detail::check(options, side);
  std::int64_t const n = mesh_side(side, options);
  if (is_over_ranks(group)) {
    std::int64_t const particles = Migration::bytes(group, side, options.headroom);
    // The sorter's permutation, or its second buffer, has as many places as the particles.
    auto const each = static_cast<std::int64_t>(6 * sizeof(T) + sizeof(std::uint32_t));
    auto const of_sorter = static_cast<std::int64_t>(
        Mover::has_vectors(options) ? sizeof(std::uint32_t) : 3 * sizeof(T));
    return particles + particles / each * of_sorter + Mover::bytes(exec, group, side, n, options);
  }
  return 6 * side * side * side * static_cast<std::int64_t>(sizeof(T)) +
         Sorter::bytes(side, n, Mover::has_vectors(options)) +
         Mover::bytes(exec, group, side, n, options);
}

template <CompiledSpace Exec, Real T>
Simulation<Exec, T>::Simulation(Exec const& exec, distributed::Group const& group,
                                Particles<Exec, T> particles, cosmology::Growth<double> growth,
                                SimulationOptions const& options, int first)
    : exec_(exec),
      group_(group),
      options_(detail::checked(options, particles, first)),
      particles_(std::move(particles)),
      growth_(std::move(growth)),
      done_(first),
      mover_(exec, group, particles_.side, particles_.box, mesh_side(particles_.side, options),
             options, growth_.parameters().omega_m),
      sorter_(exec, particles_.side, particles_.box, mesh_side(particles_.side, options),
              Mover::has_vectors(options)) {
  auto const count = static_cast<std::size_t>(particles_.count());
  expects(particles_.position.extent(0) == count && particles_.momentum.extent(0) == count,
          "positions and momenta must be " + std::to_string(count) +
              ", the cube of the particles along a side",
          static_cast<std::int64_t>(particles_.position.extent(0)));
  if (!is_over_ranks(group)) return;
  auto const side = particles_.side;
  auto const planes = distributed::share_of(side, group.rank(), group.size());
  distributed::together(group, [&] {
    expects(particles_.sites ==
                distributed::Share{planes.first * side * side, planes.count * side * side},
            "particles over ranks must be those of the lattice's planes that share_of() gives");
  });
  migration_.emplace(exec, group, side, particles_.box, mesh_side(side, options), options.headroom);
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::migrate() {
  if (!migration_) return;
  Stopwatch<Exec> const watch(exec_);
  if (particles_.site.extent(0) == 0) migration_->leave_home(particles_);
  migration_->to_planes(particles_);
  seconds_.migrate += watch.seconds();
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::go_home() {
  if (!migration_ || particles_.site.extent(0) == 0) return;
  Stopwatch<Exec> const watch(exec_);
  migration_->go_home(particles_);
  sorter_.has_left_order();
  seconds_.migrate += watch.seconds();
}

/// Makes sure that the mesh holds the force of the present positions. Before that it sorts the particles if sorting is due,
/// because then the meshes are free.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::find_force() {
  bool const is_at_home = migration_ && particles_.site.extent(0) == 0;
  if (is_at_home || !mover_.has_force()) migrate();
  if (mover_.has_force()) return;
  if (sorter_.is_due()) {
    Stopwatch<Exec> const watch(exec_);
    sorter_.sort(particles_, mover_.lend_meshes());
    seconds_.sort += watch.seconds();
  }
  mover_.find_force(particles_, sorter_.is_sorted(), seconds_);
  if (!mover_.force_is_finite(particles_))
    throw NumericalError(
        "the force isn't a number in step " + std::to_string(done_ + 1) +
        ", at a = " + in_words(a()) +
        ": a position or momentum has overflowed or is no number, or a particle moves "
        "by more than " +
        std::to_string(detail::most_boxes) + " boxes at once");
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::make(Move const& move) {
  mover_.drift(particles_, move.drift_before, seconds_);
  if (!move.has_kick()) return mover_.drift(particles_, move.drift_after, seconds_);
  find_force();
  mover_.kick_and_drift(particles_, move, seconds_);
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::close(Move const& closing) {
  make(closing);
  go_home();
  if (sorter_.is_sorted()) {
    Stopwatch<Exec> const watch(exec_);
    sorter_.restore_lattice_order(particles_, mover_.lend_meshes());
    seconds_.sort += watch.seconds();
  }
  exec_.fence();
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::advance(int steps, std::function<void(int)> const& after_step) {
  expects(
      steps >= 0 && steps <= steps_left(),
      "the steps to make must be from 0 to the " + std::to_string(steps_left()) + " that are left",
      steps);
  auto const moves =
      moves_of(options_.stepper, growth_,
               std::span(options_.scale_factors)
                   .subspan(static_cast<std::size_t>(done_), static_cast<std::size_t>(steps) + 1));
  for (int s = 0; s < steps; ++s) {
    auto const& [move, closing] = moves[static_cast<std::size_t>(s)];
    sorter_.begin_step(steps - s);
    make(move);
    if (closing.has_kick()) find_force();  // before ++done_: an error is this step's
    ++done_;
    if (s + 1 == steps) close(closing);
    try {
      if (after_step) distributed::together(group_, [&] { after_step(done_); });
    } catch (...) {
      if (s + 1 < steps) close(closing);
      throw;
    }
  }
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::paint_density() {
  migrate();
  mover_.paint_density(particles_);
  go_home();
}

}  // namespace coir::nbody

#define COIR_INSTANTIATE_SIMULATION(Exec)              \
  template class coir::nbody::Simulation<Exec, float>; \
  template class coir::nbody::Simulation<Exec, double>;
