#pragma once

/// \file
/// The adjoint of the forces on particles.

#include <coir/core/concepts.hpp>
#include <coir/core/shape.hpp>
#include <coir/distributed/group.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/cells.hpp>
#include <coir/mesh/force.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <cstdint>

namespace coir::nbody::detail {

/// Options of ForceAdjoint.
struct ForceAdjointOptions {
  mesh::Assignment assignment = mesh::Assignment::cic;
  /// Add up whole numbers, so that sums don't depend on the order of particles.
  bool deterministic = false;
  bool measure_phases = true;  ///< see SimulationOptions
};

/// Pulls the derivatives of a loss back from momenta to the density of the force that has kicked
/// them. It holds a mesh of its own, and works in the force's mesh of vectors. It moves no
/// particles. Over ranks each rank has the particles of its planes, and all functions but bytes()
/// are collective.
template <CompiledSpace Exec, Real T>
class ForceAdjoint {
 public:
  using Force = mesh::Force<Exec, T>;
  using Vectors = typename Particles<Exec, T>::Vectors;
  using Density = typename Force::Density;

  /// \param force  with a mesh of vectors; it must live as long as this
  /// \throws ResourceError on all ranks if one has no memory for the mesh
  ForceAdjoint(Exec const& exec, Force& force, ForceAdjointOptions const& options);

  /// Bytes of its mesh and of ghosts.
  static std::int64_t bytes(distributed::Group const& group, Shape<3> const& shape,
                            SimulationOptions const& options);

  /// The adjoint's potential psi, which mesh::ForceAndSlopes reads. The derivatives with respect to
  /// momenta, times the kick, are those with respect to the forces at particles. They are painted
  /// as a mesh of vectors (the adjoint of readout) and pulled back through the force. The force on
  /// the mesh is lost.
  ///
  /// \param slopes   dJ / d momentum of each particle
  /// \param largest  an upper bound of the size of their components; used if sums are deterministic
  /// \param scale    the scale of Force::solve(), times the kick
  /// \param scheme   how devices paint, unless sums are deterministic
  /// \return  the planes that particles touch, in memory that the next call overwrites
  mesh::CellsWindow<T const> potential(Particles<Exec, T> const& particles, Vectors const& slopes,
                                       double largest, double scale, mesh::PaintScheme scheme,
                                       PhaseSeconds& seconds);

 private:
  Density potential_of_vectors(Particles<Exec, T> const& particles, Vectors const& slopes,
                               double scale, mesh::PaintScheme scheme, PhaseSeconds& seconds);
  Density potential_of_whole_numbers(Particles<Exec, T> const& particles, Vectors const& slopes,
                                     double largest, double scale, PhaseSeconds& seconds);

  Exec exec_;
  Force* force_;
  ForceAdjointOptions options_;
  // Only one of the two is allocated: numbers_ if options_.deterministic.
  typename Force::WholeNumbers numbers_;
  Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, typename Exec::memory_space> mesh_;
};

}  // namespace coir::nbody::detail
