#pragma once

/// \file
/// A particle-mesh simulation.

#include <coir/core/concepts.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/distributed/group.hpp>
#include <coir/mesh/force.hpp>
#include <coir/nbody/detail/particle_migration.hpp>
#include <coir/nbody/detail/particle_mover.hpp>
#include <coir/nbody/detail/particle_sorter.hpp>
#include <coir/nbody/moves.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace coir::nbody {

/// N-body particles that move in the forces of a periodic mesh,
///
///   dx/dt = p / a^2,  dp/dt = F / a,  F = -grad phi,  laplacian phi = 3/2 omega_m delta,
///
/// with t in units of 1/H0. One force per step; kicks and drifts that follow each other are made in one pass over the
/// particles, and accelerations aren't stored. While steps are made particles are kept roughly sorted by the mesh; between
/// calls they lie in the order of their lattice.
///
/// It coordinates its parts: moves_of() lists the kicks and drifts of the steps, detail::ParticleMover makes them,
/// detail::ParticleSorter keeps the particles sorted in between, and over ranks detail::ParticleMigration brings them
/// to their planes and home.
///
/// \see Feng et al., Mon. Not. R. Astron. Soc. 463, 2273 (2016); Rampf, List, Hahn, arXiv:2409.19049
template <CompiledSpace Exec, Real T>
class Simulation {
 public:
  /// \param particles  at options.scale_factors[first]; the simulation takes their memory over, and particles() returns
  ///   the Views that hold them
  /// \param growth     its range must hold the scale factors
  /// \param first      which of the scale factors the particles are at
  /// \throws PreconditionError if an option or the particles' shape is out of its range; over ranks on all if it is so on one, or
  ///   if options differ
  /// \throws ResourceError if there is no memory
  Simulation(Exec const& exec, Particles<Exec, T> particles, cosmology::Growth<double> growth,
             SimulationOptions const& options, int first = 0)
      : Simulation(exec, distributed::Group::self(), std::move(particles), std::move(growth),
                   options, first) {}

  /// A simulation over ranks: each rank passes the particles of the lattice planes that distributed::share_of() gives it,
  /// as initial_conditions() returns them, and has them again between calls. During steps each particle is on the rank that
  /// has its plane of the mesh. On hosts deterministic simulations have the same bits for any number of ranks. All
  /// functions that move or paint particles are collective.
  Simulation(Exec const& exec, distributed::Group const& group, Particles<Exec, T> particles,
             cosmology::Growth<double> growth, SimulationOptions const& options, int first = 0);

  /// Bytes that a simulation holds, with its particles. Painting and outputs need more meanwhile.
  static std::int64_t bytes(Exec const& exec, std::int64_t side, SimulationOptions const& options) {
    return bytes(exec, distributed::Group::self(), side, options);
  }
  /// The same on the rank that calls it, with what its transforms work in and with options.headroom: room for as many more
  /// particles than the lattice has, for as many on their way between ranks, and for putting them in the order of their
  /// lattice. More that gather on a rank, or cross at once, take more. Not collective.
  static std::int64_t bytes(Exec const& exec, distributed::Group const& group, std::int64_t side,
                            SimulationOptions const& options);

  /// Cells of the force mesh along a side: mesh_ratio side, rounded.
  static std::int64_t mesh_side(std::int64_t side, SimulationOptions const& options);

  /// Makes steps. Between steps momenta and positions may be at different times; afterwards both are at a().
  ///
  /// \param steps       at most those that are left; the same on all ranks
  /// \param after_step  called with the number of steps made so far after each of them; may throw to stop, after
  ///   which positions and momenta are at a(), too. Over ranks all stop if it throws on one, and some may give none
  /// \throws PreconditionError if there aren't so many steps left, or a scale factor is out of the growth's range
  /// \throws NumericalError if a force isn't a number any more, naming the step. A particle that moves by more than 4096
  ///   boxes at once gets a position that is no number.
  void advance(int steps, std::function<void(int)> const& after_step = {});

  double a() const { return options_.scale_factors[static_cast<std::size_t>(done_)]; }
  /// Steps made, counted from the first scale factor.
  int steps_done() const { return done_; }
  int steps_left() const { return static_cast<int>(options_.scale_factors.size()) - 1 - done_; }

  Particles<Exec, T> const& particles() const { return particles_; }
  SimulationOptions const& options() const { return options_; }
  cosmology::Growth<double> const& growth() const { return growth_; }
  PhaseSeconds const& seconds() const { return seconds_; }

  /// The mesh that forces are made on. Between calls of advance() it is free; after paint_density() it holds 1 + delta.
  mesh::Force<Exec, T>& force() { return mover_.force(); }

  distributed::Group const& group() const { return group_; }

  /// Paints the particles on the mesh of force().density(), as 1 + delta; over ranks each has that of its planes.
  void paint_density();

 private:
  using Mover = detail::ParticleMover<Exec, T>;
  using Sorter = detail::ParticleSorter<Exec, T>;
  using Migration = detail::ParticleMigration<Exec, T>;

  static SimulationOptions const& checked(distributed::Group const& group,
                                          SimulationOptions const& options,
                                          Particles<Exec, T> const& particles,
                                          cosmology::Growth<double> const& growth, int first);
  static bool is_over_ranks(distributed::Group const& group) { return group.size() > 1; }
  /// Over ranks, brings particles to the ranks that have their planes.
  void migrate();
  void go_home();
  void find_force();
  void make(Move const& move);
  /// Brings positions and momenta to the same time, and particles into the order of their lattice.
  void close(Move const& closing);

  Exec exec_;
  distributed::Group group_;
  SimulationOptions options_;
  Particles<Exec, T> particles_;
  cosmology::Growth<double> growth_;
  int done_;
  Mover mover_;
  Sorter sorter_;
  std::optional<Migration> migration_;  // over ranks
  PhaseSeconds seconds_;
};

}  // namespace coir::nbody
