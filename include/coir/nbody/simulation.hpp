#pragma once

/// \file
/// A particle-mesh simulation.

#include <coir/core/concepts.hpp>
#include <coir/core/shape.hpp>
#include <coir/cosmology/growth.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/distributed/group.hpp>
#include <coir/mesh/force.hpp>
#include <coir/nbody/cotangents.hpp>
#include <coir/nbody/detail/force_adjoint.hpp>
#include <coir/nbody/detail/made_move.hpp>
#include <coir/nbody/detail/move_history.hpp>
#include <coir/nbody/detail/particle_migration.hpp>
#include <coir/nbody/detail/particle_mover.hpp>
#include <coir/nbody/detail/particle_reverser.hpp>
#include <coir/nbody/detail/particle_sorter.hpp>
#include <coir/nbody/detail/particle_state.hpp>
#include <coir/nbody/detail/places.hpp>
#include <coir/nbody/detail/potential_store.hpp>
#include <coir/nbody/detail/step_counter.hpp>
#include <coir/nbody/moves.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace coir::nbody {

/// N-body particles that move in the forces of a periodic mesh,
///
///   dx/dt = p / a^2,  dp/dt = F / a,  F = -grad phi,  laplacian phi = 3/2 omega_m delta,
///
/// with t in units of 1/H0. One force per step; kicks and drifts that follow each other are made in one pass over the
/// particles, and accelerations aren't stored. While steps are made particles are kept roughly sorted by the mesh; between
/// calls they lie in the order of their lattice.
///
/// It coordinates parts that don't know each other, and detail::ParticleState says where particles
/// are, in which order, and whether their forces are there: moves_of() lists the kicks and drifts of the steps, which
/// detail::StepCounter counts; detail::ParticleMover finds forces and makes the moves, detail::ParticleSorter keeps the
/// particles sorted in between, and over ranks detail::ParticleMigration brings them to their planes and home. In a
/// reversible simulation detail::ParticleReverser makes the moves, undoes them, and pulls derivatives back through them;
/// detail::MoveHistory remembers which were made, detail::PotentialStore the potentials of their forces, and
/// detail::ForceAdjoint pulls derivatives back through the forces.
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
  /// \throws NumericalError with options.reversible, if a momentum is no number or can't be held
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

  /// A simulation can be moved, but not copied: a copy would have the same particles and meshes in memory, and steps that one
  /// makes would move those of the other. A branch is a simulation of its own, from copies of the Views of particles(), with
  /// first = steps_done().
  Simulation(Simulation const&) = delete;
  Simulation& operator=(Simulation const&) = delete;
  Simulation(Simulation&&) = default;
  Simulation& operator=(Simulation&&) = default;
  ~Simulation() = default;

  /// Bytes that a simulation holds, with its particles. Painting and outputs need more meanwhile, and what a reversible one keeps
  /// for the way back comes beside: potentials (SimulationOptions::keep_potentials), momenta of steps that forget them (see
  /// pull_back()).
  static std::int64_t bytes(Exec const& exec, std::int64_t side, SimulationOptions const& options) {
    return bytes(exec, distributed::Group::self(), side, options);
  }
  /// Bytes that the calling rank holds, with the workspace of its transforms. Over ranks they have places for more particles
  /// than the lattice has, by options.headroom, for as many on their way between ranks, and for a copy in the order of the
  /// lattice. More particles that gather on a rank, or cross at once, take more. Not collective.
  static std::int64_t bytes(Exec const& exec, distributed::Group const& group, std::int64_t side,
                            SimulationOptions const& options);

  /// Bytes that the calling rank holds between calls of advance(), when particles are at home, and that other work must leave to
  /// it. On one rank all of bytes().
  static std::int64_t bytes_at_rest(Exec const& exec, distributed::Group const& group,
                                    std::int64_t side, SimulationOptions const& options);

  /// Particles along a side, at most, over several ranks.
  static constexpr std::int64_t most_over_ranks = detail::most_along_a_side;

  /// Cells of the force mesh along a side: mesh_ratio side, rounded.
  static std::int64_t mesh_side(std::int64_t side, SimulationOptions const& options);

  /// Makes steps. Between steps momenta and positions may be at different times; afterwards both are at a().
  ///
  /// \param steps       at most those that are left; the same on all ranks
  /// \param after_step  called with the number of steps made so far after each of them; may throw to stop, after
  ///   which positions and momenta are at a(), too. Over ranks all stop if it throws on one, and some may give none. Momenta
  ///   of a reversible simulation can't be read before the last step: their memory holds whole numbers
  /// \throws PreconditionError if there aren't so many steps left, or a scale factor is out of the growth's range
  /// \throws NumericalError if a force isn't a number any more, naming the step. A particle that moves by more than 4096
  ///   boxes at once, with options().reversible by a whole box, gets a position that is no number. With options().reversible
  ///   also if a momentum can't be held any more.
  ///
  /// After an error in a step particles are amid it, and this, reverse() and pull_back() throw PreconditionError.
  void advance(int steps, std::function<void(int)> const& after_step = {});

  /// Takes steps back that advance() made, with options().reversible. Positions and momenta are then those that advance() would
  /// have stopped with there, to the bit: all the way back the ones that it began with.
  ///
  /// advance() joins the kicks, or drifts, on both sides of a step's end that it goes past, so that particles never were there. Where
  /// reverse() ends at such a time it makes the closing move that advance() would have ended with; steps that are made from there
  /// differ from those taken back by rounding.
  ///
  /// \param steps  at most those that this simulation has made
  /// \throws PreconditionError without options().reversible, or if fewer steps were made
  /// \throws NumericalError if particles have been changed by others
  void reverse(int steps);

  /// Takes the last call of advance() back, as reverse() does, and pulls the derivatives of a loss J back through it: from those
  /// by the particles at its end to those by the particles at its start. Calls that made no steps don't count; of one that
  /// reverse() has taken back in part, the rest does. Memory doesn't depend on the number of steps, but for momenta of BullFrog's
  /// steps in which D1 grows by a factor of about 3.2: a copy of all is stored for each of these.
  ///
  /// With x1 and F = F(x1) a move x1 = x + d1 p; p' = k p + K F; x2 = x1 + d2 p' is pulled back by
  ///
  ///   pi += d2 xi;  xi += K (dF/dx)^T pi;  pi = k pi;  pi += d1 xi
  ///
  /// where (dF/dx)^T takes both ways by which a particle enters the forces, as their source and where they are read. Where
  /// assignments have kinks (cic, at mesh points) derivatives are those towards larger positions.
  ///
  /// \param cotangents  dJ / d position and dJ / d momentum at the end, in lattice order; overwritten by those at the start.
  ///   Bits don't depend on the number of threads (on devices: from run to run) if the options that were given to the
  ///   constructor have `deterministic`; options() has it in any case, because steps are made in that way
  /// \return  dJ / d parameter of the cosmology by way of the steps: of their factors, and of omega_m in the force
  /// \throws PreconditionError without options().reversible, if there is nothing to take back, if shapes don't fit, or if
  ///   cotangents share memory with each other or with the particles
  /// \throws NumericalError if cotangents aren't numbers, overflow, or particles have been changed by others
  /// \throws ResourceError if there is no memory for one mesh more
  cosmology::Parameters<double> pull_back(Cotangents<Exec, T> const& cotangents);

  /// Bytes that pull_back() takes beside those of bytes(): a mesh, and the cotangents that it is given.
  static std::int64_t pull_back_bytes(std::int64_t side, SimulationOptions const& options);

  double a() const { return options_.scale_factors[static_cast<std::size_t>(steps_done())]; }
  /// Steps made, counted from the first scale factor.
  int steps_done() const { return counter_.done(); }
  int steps_left() const { return counter_.left(); }

  /// Changing what they hold between calls is an error: forces may have been found before, and the way back is lost.
  Particles<Exec, T> const& particles() const { return particles_; }
  SimulationOptions const& options() const { return options_; }
  cosmology::Growth<double> const& growth() const { return growth_; }
  PhaseSeconds const& seconds() const { return seconds_; }

  /// The mesh that forces are made on. Between calls of advance() it is free to be written to, once this has been called after
  /// the last of them; after paint_density() it holds 1 + delta.
  mesh::Force<Exec, T>& force() {
    state_.has_force = false;  // callers may write to it
    return mover_.force();
  }

  distributed::Group const& group() const { return group_; }

  /// Paints the particles on the mesh of force().density(), as 1 + delta; over ranks each has that of its planes.
  void paint_density();

 private:
  using Mover = detail::ParticleMover<Exec, T>;
  using Sorter = detail::ParticleSorter<Exec, T>;
  using Migration = detail::ParticleMigration<Exec, T>;
  using Reverser = detail::ParticleReverser<Exec, T>;
  using Potentials = detail::PotentialStore<Exec, T>;
  using Adjoint = detail::ForceAdjoint<Exec, T>;
  using Vectors = typename Particles<Exec, T>::Vectors;

  static SimulationOptions completed(SimulationOptions options);

  static SimulationOptions const& checked(distributed::Group const& group,
                                          SimulationOptions const& options,
                                          Particles<Exec, T> const& particles,
                                          cosmology::Growth<double> const& growth, int first);
  static Shape<3> mesh_shape(std::int64_t side, SimulationOptions const& options);

  /// The moves of the steps from number `first` on, of which `last - first` are made.
  std::vector<StepMoves> moves_between(int first, int last) const;
  /// The same, where no move includes the closing one of the step before.
  std::vector<StepMoves> separate_moves(int first, int last) const;
  std::span<double const> scale_factors_between(int first, int last) const;

  /// Brings particles to the ranks that have their planes.
  void to_planes();
  void go_home();
  void sort_if_due(std::span<Vectors const> further);
  void find_force(std::span<Vectors const> further = {});
  void find_force_of_last_kick(std::span<Vectors const> further);
  void expects_force(bool is_finite, int step) const;
  std::uint32_t const* site() const;

  void round_start();
  void begin_call(std::span<StepMoves const> moves);
  /// \param before  the closing move of the step before, where it isn't part of `move`
  void make(Move const& move, bool closes, Move const& before = {});
  void make_reversibly(Move const& move, bool closes);
  void kick_reversibly(detail::MadeMove& made);
  /// Brings positions and momenta to the same time, and particles into the order of their lattice.
  void close(Move const& closing);
  void rest(std::span<Vectors const> further = {});

  void undo_last(int target);
  void undo_kick(detail::MoveToUndo const& undone);

  void expects_to_pull_back(Cotangents<Exec, T> const& cotangents) const;
  std::vector<detail::FactorSlopes> pull_back_moves(std::span<detail::MadeMove const> moves,
                                                    int first, Adjoint const& adjoint,
                                                    Cotangents<Exec, T> const& cotangents);
  void pull_back_last(int target, Adjoint const& adjoint, Cotangents<Exec, T> const& cotangents,
                      detail::FactorSlopes& slopes);

  Exec exec_;
  distributed::Group group_;
  SimulationOptions options_;
  Particles<Exec, T> particles_;
  detail::ParticleState state_;
  cosmology::Growth<double> growth_;
  detail::StepCounter counter_;
  Mover mover_;
  Sorter sorter_;
  std::optional<Migration> migration_;  // where particles change their ranks
  std::optional<Reverser> reverser_;    // in a reversible simulation, as are those below
  detail::MoveHistory history_;
  Potentials potentials_;  // of the kicks in the history
  detail::ForceAdjointOptions adjoint_options_;
  PhaseSeconds seconds_;
};

}  // namespace coir::nbody
