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
#include <coir/nbody/detail/universe.hpp>
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
/// with t in units of 1/H0. A step takes one force. Consecutive kicks and drifts are made in one
/// pass over the particles, and accelerations aren't stored. During steps particles are roughly
/// sorted by the mesh; between calls they are in the order of their lattice. docs/architecture.md
/// lists the parts in detail/.
///
/// \see Feng et al., Mon. Not. R. Astron. Soc. 463, 2273 (2016); Rampf, List, Hahn,
///   arXiv:2409.19049
template <CompiledSpace Exec, Real T>
class Simulation {
 public:
  /// \param particles  at options.scale_factors[first]. The simulation takes over their memory;
  ///   particles() returns the Views that hold them
  /// \param growth     its range must hold the scale factors
  /// \param first      the index of the particles' scale factor
  /// \throws PreconditionError on all ranks if on one an option or the particles' shape is out of
  ///   its range, or options differ between ranks
  /// \throws NumericalError with options.reversible, if a momentum is NaN or can't be held
  /// \throws ResourceError if there is no memory
  Simulation(Exec const& exec, Particles<Exec, T> particles, cosmology::Growth<double> growth,
             SimulationOptions const& options, int first = 0)
      : Simulation(exec, distributed::Group::self(), std::move(particles), std::move(growth),
                   options, first) {}

  /// A simulation over ranks. Each rank passes the particles of the lattice planes that
  /// distributed::share_of() gives it, as initial_conditions() returns them, and has them again
  /// between calls. During steps each particle is on the rank of its plane of the mesh. On hosts
  /// deterministic simulations have the same bits for any number of ranks, on the way back and in
  /// their derivatives, too. All functions that move or paint particles are collective.
  Simulation(Exec const& exec, distributed::Group const& group, Particles<Exec, T> particles,
             cosmology::Growth<double> growth, SimulationOptions const& options, int first = 0);

  /// A simulation can be moved, but not copied: a copy would share its particles and meshes. For a
  /// branch, make another Simulation from copies of the Views of particles(), with first =
  /// steps_done().
  Simulation(Simulation const&) = delete;
  Simulation& operator=(Simulation const&) = delete;
  Simulation(Simulation&&) = default;
  Simulation& operator=(Simulation&&) = default;
  ~Simulation() = default;

  /// Bytes that the calling rank holds, with its particles and the workspace of transforms.
  /// Painting and outputs need more meanwhile. What a reversible simulation keeps for the way back
  /// comes beside: potentials (SimulationOptions::keep_potentials), and momenta of steps that
  /// forget them (see pull_back()).
  ///
  /// Over ranks there are places for more particles than the lattice has, by options.headroom, for
  /// as many on their way between ranks, and for a copy in the order of the lattice. More particles
  /// that gather on a rank, or cross at once, take more.
  struct Held {
    std::int64_t stepping;  ///< while steps are made
    std::int64_t at_rest;   ///< between calls of advance(): the same on one rank
    /// Beside `stepping` in pull_back(): a mesh, and its argument. Over ranks a constant argument
    /// is copied, and comes on top.
    std::int64_t pull_back;
  };
  /// Not collective.
  ///
  /// \throws PreconditionError if an option is out of its range
  static Held bytes(Exec const& exec, distributed::Group const& group, std::int64_t side,
                    SimulationOptions const& options);

  /// The most particles along a side over several ranks.
  static constexpr std::int64_t most_over_ranks = detail::most_along_a_side;

  /// Cells of the force mesh along a side: mesh_ratio side, rounded.
  static std::int64_t mesh_side(std::int64_t side, SimulationOptions const& options);

  /// Makes steps. Between steps momenta and positions may be at different times; afterwards both
  /// are at a(). After an error inside a step, advance(), reverse() and pull_back() throw
  /// PreconditionError.
  ///
  /// \param steps       at most steps_left(); the same on all ranks
  /// \param after_step  called with the number of steps made so far after each step. It may throw
  ///   to stop; positions and momenta are then at a(), too. If it throws on one rank, all ranks
  ///   stop; it may be empty on some. It can't read momenta of a reversible simulation: their
  ///   memory holds whole numbers
  /// \throws PreconditionError if fewer steps are left, or a scale factor is out of the growth's
  ///   range
  /// \throws NumericalError naming the step, if a force isn't finite, or a particle moves by more
  ///   than 4096 boxes at once. With options().reversible also if it moves by a whole box, or a
  ///   momentum can't be held
  void advance(int steps, std::function<void(int)> const& after_step = {});

  /// Undoes steps of advance(), with options().reversible. Positions and momenta are then, to the
  /// bit, those with which advance() would have stopped at that time.
  ///
  /// advance() joins the kicks, or drifts, on both sides of the end of a step. If reverse() ends
  /// there, it makes the closing move with which advance() would have ended. Steps made from there
  /// differ by rounding from those that were undone.
  ///
  /// \param steps  at most those that this simulation has made
  /// \throws PreconditionError without options().reversible, or if fewer steps were made
  /// \throws NumericalError if the caller has changed particles
  void reverse(int steps);

  /// Undoes the last call of advance(), as reverse() does, and pulls the derivatives of a loss J
  /// back through it: from derivatives with respect to the particles at its end to those with
  /// respect to the particles at its start. Calls without steps don't count. Of a call that
  /// reverse() has undone in part, the rest counts. Memory doesn't depend on the number of steps,
  /// with one exception: all momenta are stored for each step of BullFrog in which D1 grows by a
  /// factor of about 3.2 or more.
  ///
  /// With x1 and F = F(x1) a move x1 = x + d1 p; p' = k p + K F; x2 = x1 + d2 p' is pulled back by
  ///
  ///   pi += d2 xi;  xi += K (dF/dx)^T pi;  pi = k pi;  pi += d1 xi
  ///
  /// where (dF/dx)^T includes both ways in which a particle enters the forces: as a source, and at
  /// the place where they are read. At kinks of assignments (cic, at mesh points) derivatives are
  /// those towards larger positions.
  ///
  /// Over ranks the cotangents of particles travel with them.
  ///
  /// \param cotangents  dJ / d position and dJ / d momentum at the end, of this rank's particles in
  ///   lattice order; overwritten by those at the start. Bits are the same in each run, on hosts
  ///   for any number of threads and ranks, if the options that the constructor got have
  ///   `deterministic`
  /// \return  dJ / d parameter of the cosmology by way of the steps: of their factors, and of
  ///   omega_m in the force
  /// \throws PreconditionError without options().reversible, if there are no steps to undo, if
  ///   shapes don't fit, or if cotangents share memory with each other or with the particles
  /// \throws NumericalError if cotangents are NaN or overflow, or the caller has changed particles
  /// \throws ResourceError if there is no memory for one mesh more
  cosmology::Parameters<double> pull_back(Cotangents<Exec, T> const& cotangents);

  /// pull_back() that over ranks replaces the Views by others, and holds both for no longer than it
  /// must. After an error they and the particles may be empty.
  ///
  /// \param varied_growth  returns growth() with derivatives, called after the last kernel is
  ///   launched; by default they are computed meanwhile
  cosmology::Parameters<double> pull_back(
      Cotangents<Exec, T>& cotangents,
      std::function<detail::VariedGrowth const&()> const& varied_growth = {});

  double a() const { return options_.scale_factors[static_cast<std::size_t>(steps_done())]; }
  /// Steps made, counted from the first scale factor.
  int steps_done() const { return steps_done_; }
  int steps_left() const {
    return static_cast<int>(options_.scale_factors.size()) - 1 - steps_done_;
  }

  /// The particles. Changing them between calls is an error: forces may have been computed already,
  /// and steps can't be undone any more.
  Particles<Exec, T> const& particles() const { return particles_; }
  SimulationOptions const& options() const { return options_; }
  cosmology::Growth<double> const& growth() const { return growth_; }
  /// Zeros without options().measure_phases.
  PhaseSeconds const& seconds() const { return seconds_; }

  /// The mesh of forces. Between calls of advance() callers may write to it, if they call force()
  /// again after each advance(). After paint_density() it holds 1 + delta.
  mesh::Force<Exec, T>& force() {
    state_.has_force = false;  // callers may write to it
    return mover_.force();
  }

  distributed::Group const& group() const { return group_; }

  /// Paints the particles on force().density(), as 1 + delta; each rank has its planes.
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

  /// The moves of the steps [first, last).
  std::vector<StepMoves> moves_between(int first, int last) const;
  /// The moves of the steps [first, last), in which no move includes the closing one of the step
  /// before.
  std::vector<StepMoves> separate_moves(int first, int last) const;
  std::span<double const> scale_factors_between(int first, int last) const;
  void expects_between_steps() const;

  /// Brings particles to the ranks that have their planes.
  detail::LentMemory<T> lent_on_the_way_back();
  void to_planes();
  void go_home();
  std::vector<Vectors*> further();
  void sort_if_due();
  void find_force();
  void find_force_on_planes();
  void find_force_of_last_kick();
  template <class Action>
  void at_home(Action const& action);
  void expects_force(bool is_finite, int step) const;
  std::uint32_t const* site() const;

  void round_start();
  void begin_call(std::span<StepMoves const> moves);
  /// \param before  the closing move of the step before, if it isn't part of `move`
  void make(Move const& move, bool closes, Move const& before = {});
  void make_reversibly(Move const& move, bool closes);
  void kick_reversibly(detail::MadeMove& made);
  /// Brings positions and momenta to the same time, and particles into the order of their lattice.
  void close(Move const& closing);
  void rest();

  void undo_last(int target);
  void undo_kick(detail::MoveToUndo const& undone);

  void expects_to_pull_back(Cotangents<Exec, T> const& cotangents) const;
  std::vector<detail::FactorSlopes> pull_back_moves(std::span<detail::MadeMove const> moves,
                                                    int first, Adjoint& adjoint);
  void pull_back_last(int target, Adjoint& adjoint, detail::FactorSlopes& slopes);

  Exec exec_;
  distributed::Group group_;
  SimulationOptions options_;
  Particles<Exec, T> particles_;
  detail::ParticleState state_;
  cosmology::Growth<double> growth_;
  int steps_done_;
  bool is_between_steps_ = true;  // not while a call moves particles, nor after one has failed
  Mover mover_;
  Sorter sorter_;
  std::optional<Migration> migration_;  // if particles change ranks
  std::optional<Reverser> reverser_;    // if reversible, as the members below
  detail::MoveHistory history_;
  Potentials potentials_;  // of the kicks in the history
  detail::ForceAdjointOptions adjoint_options_;
  std::optional<Cotangents<Exec, T>> carried_;  // that travel with the particles in pull_back()
  PhaseSeconds seconds_;
};

}  // namespace coir::nbody
