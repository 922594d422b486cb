#pragma once

/// \file
/// Options of particle-mesh simulations, and the times of their phases.

#include <coir/mesh/assignment.hpp>
#include <coir/mesh/force_kernel.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/nbody/stepper.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace coir::nbody {

/// Where particles get their forces.
enum class ForceSource {
  automatic,  ///< vectors; but potential for a spectral gradient, which would take two meshes more, and on devices from
              ///< mesh ratio 1.5 on, where it is faster
  vectors,    ///< interpolated from a mesh of forces
  potential,  ///< differences of the potential around each particle, without a mesh of forces, which is three quarters of
  ///< the meshes' memory. Forces agree with those of vectors to rounding. A spectral gradient is read out by components.
};

/// "automatic", "vectors", "potential".
constexpr std::string_view name_of(ForceSource source) {
  return source == ForceSource::automatic ? "automatic"
         : source == ForceSource::vectors ? "vectors"
                                          : "potential";
}

/// Options of Simulation.
struct SimulationOptions {
  /// a at the start and after each step, rising.
  std::vector<double> scale_factors{};
  Stepper stepper = Stepper::fastpm;
  /// Cells of the force mesh along a side, per particle: 0.5 to 4. With 1 the mesh has an eighth of the cells, and smooths more:
  /// see growth_lost() in linear_growth.hpp.
  double mesh_ratio = 2;
  mesh::ForceKernel kernel = mesh::ForceKernel::one_four;
  /// Left to choose it is none, but for kernels that would make false structure at this mesh ratio: softening_of() in
  /// linear_growth.hpp.
  std::optional<mesh::Softening> softening{};
  /// Take kernel and softening even where they make false structure: to compare with codes that have it.
  bool allow_false_structure = false;
  mesh::Assignment assignment = mesh::Assignment::cic;
  /// automatic: slabs on hosts; on devices tiles while particles are sorted by the mesh, else atomics.
  mesh::PaintScheme scheme = mesh::PaintScheme::automatic;
  ForceSource force_source = ForceSource::automatic;
  /// Every run gives the same bits, for any number of threads, and wherever callers look at the particles between steps:
  /// densities are added up in whole numbers, transforms are planned without measuring, and of two kicks or drifts that
  /// follow each other each is rounded.
  bool deterministic = false;
  /// Steps can be taken back to the bit, by reverse() and pull_back(): positions and momenta only take values that are whole
  /// multiples of small quanta, so that what a step adds is subtracted without rounding. Densities are painted as with
  /// `deterministic`; forces come from a mesh of vectors. On one rank.
  bool reversible = false;
  /// With reversible: the largest momentum that can be held, in units of the rms (of a component) that linear theory predicts at
  /// that time for the particles given. Momenta are whole multiples of 2^-30 (float) or 2^-51 (double) of the one at the end, which
  /// must be no more than 1/16 of the rms at the start: in float from a of about 1e-4 on, with the default. From 1 to 2^20.
  double momentum_range = 64;
  /// With reversible: keep the potential of each step for the way back, which then needn't paint and transform densities again,
  /// as long as half of the free memory is left. Takes 4 bytes per cell of the mesh and step (float) or 8 (double).
  bool keep_potentials = false;
  /// Over ranks: the share by which a rank may have more particles than its part of the lattice before memory must grow.
  double headroom = 0.1;
};

/// Seconds that the phases of a simulation took.
struct PhaseSeconds {
  double paint = 0;    ///< densities
  double fft = 0;      ///< transforms, and the multiplication and differences between them
  double readout = 0;  ///< forces at particles, and the kicks and drifts in the same pass
  double push = 0;     ///< drifts alone
  double sort =
      0;  ///< sorting particles by the mesh, and putting them back in the order of their lattice
  double migrate = 0;  ///< particles on their way to other ranks
};

}  // namespace coir::nbody
