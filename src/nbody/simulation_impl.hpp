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
#include <vector>

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
  expects(options.headroom >= 0 && options.headroom <= 10, "the headroom must be in [0, 10]",
          options.headroom);
  expects(!options.reversible || options.force_source != ForceSource::potential,
          "a reversible simulation takes its forces from a mesh of vectors: leave the force source "
          "automatic");
  expects(options.momentum_range >= 1 && options.momentum_range <= 1 << 20,
          "the momentum range must be in [1, 2^20]", options.momentum_range);
}

/// Checks options and particles before memory is allocated and particles are moved.
template <class Exec, class T>
void check(SimulationOptions const& options, Particles<Exec, T> const& particles,
           distributed::Share const& sites, int first) {
  check(options, particles.side);
  expects(first >= 0 && first < static_cast<int>(options.scale_factors.size()),
          "the first step must be one of the " + std::to_string(options.scale_factors.size()) +
              " scale factors",
          first);
  expects(particles.sites.count < 0 ? sites.count == particles.total() : particles.sites == sites,
          "particles over ranks must be those of the lattice's planes that share_of() gives");
  auto const count = static_cast<std::size_t>(particles.count());
  expects(particles.position.extent(0) == count && particles.momentum.extent(0) == count,
          "positions and momenta must be " + std::to_string(count) +
              ", the cube of the particles along a side",
          static_cast<std::int64_t>(particles.position.extent(0)));
}

/// What ranks must agree on, or they would wait for each other.
inline std::vector<distributed::Setting> settings_of(SimulationOptions const& options,
                                                     std::int64_t side, double box, double omega_m,
                                                     int first) {
  std::vector<distributed::Setting> settings{
      {"number of particles along a side", side},
      {"box length", box},
      {"omega_m", omega_m},
      {"number of scale factors", options.scale_factors.size()}};
  for (double const a : options.scale_factors) settings.emplace_back("scale factor", a);
  settings.insert(settings.end(), {{"first step", first},
                                   {"stepper", name_of(options.stepper)},
                                   {"mesh ratio", options.mesh_ratio},
                                   {"kernel", name_of(options.kernel)},
                                   {"softening", name_of(options.softening)},
                                   {"assignment", name_of(options.assignment)},
                                   {"painting scheme", name_of(options.scheme)},
                                   {"force source", name_of(options.force_source)},
                                   {"choice to be deterministic", options.deterministic},
                                   {"choice to be reversible", options.reversible},
                                   {"headroom", options.headroom}});
  return settings;
}

}  // namespace detail

template <CompiledSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::mesh_side(std::int64_t side, SimulationOptions const& options) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(side) * options.mesh_ratio));
}

template <CompiledSpace Exec, Real T>
SimulationOptions Simulation<Exec, T>::completed(SimulationOptions options) {
  if (!options.reversible) return options;
  options.deterministic = true;
  options.force_source = ForceSource::vectors;
  return options;
}

template <CompiledSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::bytes(Exec const& exec, distributed::Group const& group,
                                        std::int64_t side, SimulationOptions const& given) {
  detail::check(given, side);
  SimulationOptions const options = completed(given);
  std::int64_t const n = mesh_side(side, options);
  if (is_over_ranks(group))
    return Migration::bytes(group, side, options.headroom) +
           (Sorter::bytes(side, n, Mover::has_vectors(options)) > 0
                ? detail::places_for(side, group.size(), options.headroom) *
                      Sorter::bytes_of_place(Mover::has_vectors(options))
                : 0) +
           Mover::bytes(exec, group, side, n, options);
  // What rounding takes from momenta between calls lies in memory of the sorter, or in a byte for each.
  std::int64_t const sorting = Sorter::bytes(side, n, Mover::has_vectors(options)),
                     rest = options.reversible && sizeof(T) == 4 ? 3 * side * side * side : 0;
  return 6 * side * side * side * static_cast<std::int64_t>(sizeof(T)) + std::max(sorting, rest) +
         Mover::bytes(exec, group, side, n, options);
}

template <CompiledSpace Exec, Real T>
std::int64_t Simulation<Exec, T>::bytes_at_rest(Exec const& exec, distributed::Group const& group,
                                                std::int64_t side,
                                                SimulationOptions const& options) {
  std::int64_t const all = bytes(exec, group, side, options);
  return is_over_ranks(group) ? all - Migration::bytes_on_the_way(group, side, options.headroom)
                              : all;
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
    detail::check(options, particles, {planes.first * plane, planes.count * plane}, first);
    expects(!options.reversible || !is_over_ranks(group),
            "a reversible simulation runs on one rank, and this group has so many", group.size());
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
      done_(first),
      mover_(exec, group, particles_.side, particles_.box, mesh_side(particles_.side, options),
             options_, growth_.parameters().omega_m),
      sorter_(exec, particles_.side, particles_.box, mesh_side(particles_.side, options),
              Mover::has_vectors(options_)),
      has_deterministic_slopes_(options.deterministic) {
  if (is_over_ranks(group))
    migration_.emplace(exec, group, particles_.side, particles_.box,
                       mesh_side(particles_.side, options), options.headroom);
  if (options_.reversible) round_start();
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

/// Sorts the particles if sorting is due: the meshes must be free.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::sort(std::span<Vectors const> further) {
  distributed::together(group_, [&] {  // on one rank memory may be short
    if (!sorter_.is_due()) return;
    Stopwatch<Exec> const watch(exec_);
    sorter_.sort(particles_, mover_.lend_meshes(), further);
    seconds_.sort += watch.seconds();
  });
}

/// \throws NumericalError unless it is
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

/// Makes sure that the mesh holds the force of the present positions. Before that it sorts the particles if sorting is due,
/// because then the meshes are free.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::find_force(std::span<Vectors const> further) {
  bool const is_at_home = migration_ && particles_.site.extent(0) == 0;
  if (is_at_home || !mover_.has_force()) migrate();
  if (mover_.has_force()) return;
  sort(further);
  potential_ = room_for_potential();
  mover_.find_force(particles_, sorter_.is_sorted(), seconds_, potential_);
  // A reversible kick looks at the forces of all particles.
  if (!reverser_) expects_force(mover_.force_is_finite(particles_), done_ + 1);
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::make(Move const& move, bool closes) {
  if (reverser_) return make_reversibly(move, closes);
  mover_.drift(particles_, move.drift_before, seconds_);
  if (!move.has_kick()) return mover_.drift(particles_, move.drift_after, seconds_);
  find_force();
  mover_.kick_and_drift(particles_, move, seconds_);
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::close(Move const& closing) {
  make(closing, true);
  room_ = {};
  used_room_ = 0;
  rest();
  is_whole_ = true;
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::expects_whole() const {
  expects(is_whole_,
          "a call of this simulation has failed, in which particles stayed amid a step: make a new "
          "simulation");
}

/// Leaves particles as callers see them.
template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::rest(std::span<Vectors const> further) {
  go_home();
  if (sorter_.is_sorted()) {
    Stopwatch<Exec> const watch(exec_);
    sorter_.restore_lattice_order(particles_, mover_.lend_meshes(), further);
    seconds_.sort += watch.seconds();
  }
  if (reverser_) reverser_->release(particles_, sorter_.lend_permutation());
  // Its memory may be that of many.
  if (kept_.empty() || kept_.back().data() != potential_.data()) potential_ = {};
  exec_.fence();
}

template <CompiledSpace Exec, Real T>
void Simulation<Exec, T>::advance(int steps, std::function<void(int)> const& after_step) {
  auto const moves = distributed::together(group_, [&] {
    expects(steps >= 0 && steps <= steps_left(),
            "the steps to make must be from 0 to the " + std::to_string(steps_left()) +
                " that are left",
            steps);
    expects_whole();
    auto const first = static_cast<std::size_t>(done_), count = static_cast<std::size_t>(steps) + 1;
    return moves_of(options_.stepper, growth_,
                    std::span(options_.scale_factors).subspan(first, count));
  });
  distributed::expects_alike(group_, {{"number of steps", steps}});
  is_whole_ = steps == 0;
  if (reverser_ && steps > 0) {
    reverser_->hold(particles_, held_scale());
    keeps_potentials_ = options_.keep_potentials;
    kicks_to_come_ = moves.back().closing.has_kick() ? 1 : 0;
    for (auto const& of_step : moves) kicks_to_come_ += of_step.move.has_kick() ? 1 : 0;
    calls_.push_back({done_, made_.size()});
  }
  for (int s = 0; s < steps; ++s) {
    auto const& [move, closing] = moves[static_cast<std::size_t>(s)];
    sorter_.begin_step(steps - s);
    make(move, false);
    if (closing.has_kick()) find_force();  // before ++done_: an error is this step's
    ++done_;
    if (s + 1 == steps) close(closing);
    try {
      distributed::together(group_, [&] {
        if (after_step) after_step(done_);
      });
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

#include "simulation_reverse.hpp"

#define COIR_INSTANTIATE_SIMULATION(Exec)              \
  template class coir::nbody::Simulation<Exec, float>; \
  template class coir::nbody::Simulation<Exec, double>;
