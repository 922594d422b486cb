#pragma once

#include <coir/core/errors.hpp>
#include <coir/core/timing.hpp>
#include <coir/distributed/share.hpp>
#include <coir/distributed/together.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/nbody/simulation.hpp>

#include "simulation_checks.hpp"
#include "simulation_reverse.hpp"
#include "wrapped.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace coir::nbody {

template <CompiledSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::mesh_side(std::int64_t side, SimulationOptions const& options) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(side) * options.mesh_ratio));
}

template <CompiledSpace Exec, Real T>
Shape<3> Simulation<Exec, T>::mesh_shape(std::int64_t side, SimulationOptions const& options) {
  std::int64_t const n = mesh_side(side, options);
  return {n, n, n};
}

template <CompiledSpace Exec, Real T>
SimulationOptions Simulation<Exec, T>::completed(SimulationOptions options) {
  if (!options.reversible) return options;
  options.deterministic = true;
  options.force_source = ForceSource::vectors;
  return options;
}

template <CompiledSpace Exec, Real T>
auto Simulation<Exec, T>::bytes(Exec const& exec, distributed::Group const& group,
                                std::int64_t side, SimulationOptions const& given) -> Held {
  detail::expects_in_range(given, side);
  SimulationOptions const options = completed(given);
  std::int64_t const n = mesh_side(side, options), count = side * side * side,
                     of_vectors = 6 * count * static_cast<std::int64_t>(sizeof(T));
  auto const shape = mesh_shape(side, options);
  std::int64_t const force =
      mesh::Force<Exec, T>::bytes(exec, group, shape, mesh::touched_beyond(options.assignment),
                                  Mover::force_options(options, group, side));
  bool const migrate = detail::particles_migrate(group);
  std::int64_t const places =
      migrate ? detail::places_for(side, group.size(), options.headroom) : count;
  std::int64_t const sorting = Sorter::can_sort(side, n)
                                   ? typename Sorter::Memory()
                                         .list(exec, places, !migrate, Mover::has_vectors(options))
                                         .bytes()
                                   : 0;
  if (migrate) {
    auto const particles = Migration::bytes(group, side, options.headroom),
               with_slopes = Migration::bytes(group, side, options.headroom, 2);
    std::int64_t const rest = sorting + force + detail::Crossings<Exec, T>::bytes(places),
                       home = detail::places_for(side, group.size(), 0),
                       remainders =
                           options.reversible && sizeof(T) == 4 && sorting == 0 ? 3 * home : 0;
    return {particles.most + rest, particles.at_rest + rest + remainders,
            Adjoint::bytes(group, shape, given) + with_slopes.most - particles.most};
  }
  // The remainders of momenta that are rounded between calls lie in memory of the sorter, or have a
  // byte each.
  std::int64_t const rest = options.reversible && sizeof(T) == 4 ? 3 * count : 0,
                     all = of_vectors + std::max(sorting, rest) + force;
  return {all, all, Adjoint::bytes(group, shape, given) + of_vectors};
}

template <CompiledSpace Exec, Real T>
SimulationOptions const& Simulation<Exec, T>::checked(distributed::Group const& group,
                                                      SimulationOptions const& options,
                                                      Particles<Exec, T> const& particles,
                                                      cosmology::Growth<double> const& growth,
                                                      int first) {
  auto const planes = distributed::share_of(particles.side, group.rank(), group.size());
  std::int64_t const plane = particles.side * particles.side;
  distributed::together(group, [&] {
    detail::expects_to_begin(options, particles, {planes.first * plane, planes.count * plane},
                             first);
  });
  distributed::expects_alike(group, detail::settings_of(options, particles.side, particles.box,
                                                        growth.parameters().omega_m, first));
  return options;
}

template <CompiledSpace Exec, Real T>
Simulation<Exec, T>::Simulation(Exec const& exec, distributed::Group const& group,
                                Particles<Exec, T> particles, cosmology::Growth<double> growth,
                                SimulationOptions const& options, int first)
    : exec_(exec),
      group_(group),
      options_(completed(checked(group, options, particles, growth, first))),
      particles_(std::move(particles)),
      growth_(std::move(growth)),
      steps_done_(first),
      mover_(exec, group, particles_.side, particles_.box, mesh_side(particles_.side, options),
             options_, growth_.parameters().omega_m),
      sorter_(exec, particles_.side, particles_.box, mesh_side(particles_.side, options),
              Mover::has_vectors(options_)),
      potentials_(exec, group, mover_.force().kept_shape()),
      adjoint_options_{options.assignment, options.deterministic, options.measure_phases} {
  if (detail::particles_migrate(group))
    migration_.emplace(exec, group, particles_.side, particles_.box,
                       mesh_side(particles_.side, options), options.headroom);
  if (options_.reversible) round_start();
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::expects_between_steps() const {
  expects(is_between_steps_,
          "a call of this simulation has failed, in which particles stayed amid a step: make a new "
          "simulation");
}

/// The vectors that go where particles go.
template <CompiledSpace Exec, Real T>
auto Simulation<Exec, T>::further() -> std::vector<Vectors*> {
  if (!carried_) return {};
  return {&carried_->position, &carried_->momentum};
}

/// The meshes, while cotangents are carried: then no force is needed after a migration.
template <CompiledSpace Exec, Real T>
auto Simulation<Exec, T>::lent_on_the_way_back() -> detail::LentMemory<T> {
  return carried_ ? mover_.lend_meshes(state_) : detail::LentMemory<T>{};
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::to_planes() {
  if (!migration_) return;
  Stopwatch<Exec> const watch(exec_, options_.measure_phases);
  // Reversible moves keep no marks.
  migration_->to_planes(particles_, state_, reverser_ ? nullptr : &mover_.crossings(), further(),
                        lent_on_the_way_back());
  seconds_.migrate += watch.seconds();
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::go_home() {
  if (state_.is_home()) return;
  Stopwatch<Exec> const watch(exec_, options_.measure_phases);
  migration_->go_home(particles_, state_, further(), lent_on_the_way_back());
  seconds_.migrate += watch.seconds();
}

/// Sorts the particles if sorting is due: the meshes must be free.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::sort_if_due() {
  distributed::together(group_, [&] {  // on one rank memory may be short
    if (!sorter_.is_due()) return;
    Stopwatch<Exec> const watch(exec_, options_.measure_phases);
    sorter_.sort(particles_, state_, mover_.lend_meshes(state_), further());
    seconds_.sort += watch.seconds();
  });
}

/// \throws NumericalError unless the force is finite
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::expects_force(bool is_finite, int step) const {
  if (is_finite) return;
  throw NumericalError(
      "the force isn't a number in step " + std::to_string(step) +
      ", at a = " + in_words(options_.scale_factors[static_cast<std::size_t>(step) - 1]) +
      ": a position or momentum has overflowed or is no number, or a particle moves "
      "by more than " +
      (reverser_ ? "a box" : std::to_string(detail::most_boxes) + " boxes") + " at once");
}

/// Makes sure that particles are on the ranks of their planes, and that the mesh holds the force of
/// the present positions.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::find_force() {
  if (state_.is_home() || !state_.has_force) to_planes();
  find_force_on_planes();
}

/// Before it finds a force it sorts the particles if sorting is due, because then the meshes are
/// free.
///
/// \pre particles are on the ranks of their planes
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::find_force_on_planes() {
  if (state_.has_force) return;
  sort_if_due();
  mover_.find_force(particles_, state_, seconds_, potentials_.next());
  // A reversible kick checks the forces of all particles itself.
  if (!reverser_) expects_force(mover_.force_is_finite(particles_), steps_done() + 1);
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::make(Move const& move, bool closes, Move const& before) {
  if (reverser_) return make_reversibly(move, closes);
  mover_.drift(particles_, state_, before.drift_before, seconds_);
  mover_.drift(particles_, state_, move.drift_before, seconds_);
  if (!before.has_kick() && !move.has_kick())
    return mover_.drift(particles_, state_, move.drift_after, seconds_);
  find_force();
  mover_.kick_and_drift(particles_, state_, move, seconds_, before.kick);
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::close(Move const& closing) {
  make(closing, true);
  rest();
}

/// Leaves particles as callers see them: between two steps, in lattice order, with momenta as real
/// numbers even if the simulation is reversible.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::rest() {
  go_home();
  if (!state_.is_in_lattice_order()) {
    Stopwatch<Exec> const watch(exec_, options_.measure_phases);
    sorter_.restore_lattice_order(particles_, state_, mover_.lend_meshes(state_), further());
    seconds_.sort += watch.seconds();
  }
  if (reverser_) reverser_->release(particles_, sorter_.lend_permutation(state_));
  potentials_.end();
  exec_.fence();
  is_between_steps_ = true;
}

template <CompiledSpace Exec, Real T>
std::span<double const> Simulation<Exec, T>::scale_factors_between(int first, int last) const {
  return std::span(options_.scale_factors)
      .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first) + 1);
}

template <CompiledSpace Exec, Real T>
std::vector<StepMoves> Simulation<Exec, T>::moves_between(int first, int last) const {
  return moves_of(options_.stepper, growth_, scale_factors_between(first, last));
}

template <CompiledSpace Exec, Real T>
std::vector<StepMoves> Simulation<Exec, T>::separate_moves(int first, int last) const {
  std::vector<StepMoves> moves;
  for (int step = first; step < last; ++step)
    moves.push_back(moves_between(step, step + 1).front());
  return moves;
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::advance(int steps, std::function<void(int)> const& after_step) {
  // One kick in place of two rounds differently: the bits would depend on where this call ends.
  bool const separate = options_.deterministic && !reverser_;
  auto const moves = distributed::together(group_, [&] {
    expects(steps >= 0 && steps <= steps_left(),
            "the steps to make must be from 0 to the " + std::to_string(steps_left()) +
                " that are left",
            steps);
    expects_between_steps();
    int const last = steps_done() + steps;
    return separate ? separate_moves(steps_done(), last) : moves_between(steps_done(), last);
  });
  distributed::expects_alike(group_, {{"number of steps", steps}});
  if (steps == 0) return;
  is_between_steps_ = false;
  if (reverser_) begin_call(moves);
  Move before;
  for (int s = 0; s < steps; ++s) {
    auto const& [move, closing] = moves[static_cast<std::size_t>(s)];
    sorter_.begin_step(steps - s, state_);
    make(move, false, before);
    if (separate) before = closing;
    if (closing.has_kick()) find_force();  // before it is counted: an error is this step's
    ++steps_done_;
    if (s + 1 == steps) close(closing);
    try {
      distributed::together(group_, [&] {
        if (!after_step) return;
        exec_.fence();  // it may read particles on another instance
        after_step(steps_done());
      });
    } catch (...) {
      if (s + 1 < steps) close(closing);
      throw;
    }
  }
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::paint_density() {
  to_planes();
  mover_.paint_density(particles_, state_);
  go_home();
}

}  // namespace coir::nbody

#define COIR_INSTANTIATE_SIMULATION(Exec)              \
  template class coir::nbody::Simulation<Exec, float>; \
  template class coir::nbody::Simulation<Exec, double>;
