#pragma once

/// \file
/// Kicks and drifts of particles, and the forces that kicks need.

#include <coir/core/concepts.hpp>
#include <coir/distributed/group.hpp>
#include <coir/mesh/force.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/nbody/detail/crossings.hpp>
#include <coir/nbody/detail/particle_state.hpp>
#include <coir/nbody/moves.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <cstdint>

namespace coir::nbody::detail {

/// Computes the forces of particles on a mesh and moves the particles, which may lie in memory in
/// any order. Each rank moves the particles whose planes of the mesh it has.
template <CompiledSpace Exec, Real T>
class ParticleMover {
 public:
  /// \param side  particles along a side of their lattice
  /// \throws PreconditionError if the box isn't positive
  /// \throws ResourceError if there is no memory
  ParticleMover(Exec const& exec, distributed::Group const& group, std::int64_t side, double box,
                std::int64_t mesh_side, SimulationOptions const& options, double omega_m);

  /// The options of its force, whose memory is large enough to sort the particles that may come.
  static mesh::ForceOptions force_options(SimulationOptions const& options,
                                          distributed::Group const& group, std::int64_t side);

  /// True for a mesh of forces, false for the potential alone.
  static bool has_vectors(SimulationOptions const& options);

  mesh::Force<Exec, T>& force() { return force_; }
  /// Which particles have crossed planes since crossings().restart().
  Crossings<Exec, T>& crossings() { return crossings_; }

  /// How particles are painted: on devices in tiles if they are sorted, unless options say
  /// otherwise.
  mesh::PaintScheme scheme(ParticleState const& state) const;

  /// Paints the density and computes its force.
  /// \param kept  where the potential is kept, see Force::solve(); may be empty
  void find_force(Particles<Exec, T> const& particles, ParticleState& state, PhaseSeconds& seconds,
                  typename mesh::Force<Exec, T>::Spectrum const& kept = {});

  /// Takes the force from a potential that was kept for the present positions.
  void find_force_again(typename mesh::Force<Exec, T>::Spectrum const& kept, ParticleState& state,
                        PhaseSeconds& seconds);

  /// False if a force or a position is infinite or NaN, on any rank.
  bool force_is_finite(Particles<Exec, T> const& particles) const;

  /// x += factor p
  void drift(Particles<Exec, T> const& particles, ParticleState& state, double factor,
             PhaseSeconds& seconds);

  /// p = keep (p + kick_before F) + kick F, x += drift_after p.
  /// \param kick_before  of a move before, which rounds by itself
  /// \pre state.has_force
  void kick_and_drift(Particles<Exec, T> const& particles, ParticleState& state, Move const& move,
                      PhaseSeconds& seconds, double kick_before = 0);

  /// Paints 1 + delta on the mesh of force().density().
  void paint_density(Particles<Exec, T> const& particles, ParticleState& state);

  /// Lends the memory of the meshes; the force that they hold is lost.
  LentMemory<T> lend_meshes(ParticleState& state);

 private:
  void kick_by_components(Particles<Exec, T> const& particles, Move const& move, double kick_before,
                          PhaseSeconds& seconds);

  /// Paints particles per cell.
  void paint(Particles<Exec, T> const& particles, mesh::PaintOptions const& options);
  bool is_finite_here(Particles<Exec, T> const& particles) const;

  Exec exec_;
  distributed::Group group_;
  SimulationOptions options_;
  double cells_per_particle_;
  double omega_m_;
  mesh::Force<Exec, T> force_;
  Crossings<Exec, T> crossings_;
};

}  // namespace coir::nbody::detail
