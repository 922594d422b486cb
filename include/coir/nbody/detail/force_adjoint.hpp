#pragma once

/// \file
/// The adjoint of the forces on particles.

#include <coir/core/concepts.hpp>
#include <coir/core/shape.hpp>
#include <coir/mesh/assignment.hpp>
#include <coir/mesh/force.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/nbody/particles.hpp>
#include <coir/nbody/simulation_options.hpp>

#include <cstdint>

namespace coir::nbody::detail {

/// Options of ForceAdjoint.
struct ForceAdjointOptions {
  mesh::Assignment assignment = mesh::Assignment::cic;
  /// Sums are those of whole numbers, which don't depend on the order of particles.
  bool deterministic = false;
};

/// Pulls the derivatives of a loss back from momenta that a force has kicked to the density that the force came from. It
/// holds a mesh of its own for that, and works in the force's mesh of vectors. It moves no particles.
template <CompiledSpace Exec, Real T>
class ForceAdjoint {
 public:
  using Force = mesh::Force<Exec, T>;
  using Vectors = typename Particles<Exec, T>::Vectors;
  using Density = typename Force::Density;

  /// \param force  with a mesh of vectors; it must live as long as this
  /// \throws ResourceError if there is no memory for the mesh
  ForceAdjoint(Exec const& exec, Force& force, ForceAdjointOptions const& options);

  /// Bytes of the mesh.
  static std::int64_t bytes(Shape<3> const& shape);

  /// The adjoint's potential psi, which mesh::ForceAndSlopes reads: paints the derivatives by momenta, which times the kick
  /// are those by the forces at particles, as a mesh of vectors (the adjoint of readout), and pulls these back through the
  /// force. The force on the mesh is lost.
  ///
  /// \param slopes   dJ / d momentum of each particle
  /// \param largest  no component of them is larger in size; only looked at if sums are deterministic
  /// \param scale    that of Force::solve(), times the kick
  /// \param scheme   how devices paint, unless sums are deterministic
  /// \return  in memory that the next call overwrites
  Density potential(Particles<Exec, T> const& particles, Vectors const& slopes, double largest,
                    double scale, mesh::PaintScheme scheme, PhaseSeconds& seconds) const;

 private:
  Density potential_of_whole_numbers(Particles<Exec, T> const& particles, Vectors const& slopes,
                                     double largest, double scale, PhaseSeconds& seconds) const;

  Exec exec_;
  Force* force_;
  ForceAdjointOptions options_;
  Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, typename Exec::memory_space> mesh_;
};

}  // namespace coir::nbody::detail
