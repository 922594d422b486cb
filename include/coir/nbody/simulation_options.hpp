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
  /// potential for a spectral gradient, and on devices from mesh ratio 1.5 on; otherwise vectors
  automatic,
  vectors,  ///< interpolated from a mesh of forces
  /// Differences of the potential around each particle. Forces agree with those of vectors to
  /// rounding, and there is no mesh of forces, which takes three quarters of the meshes' memory. A
  /// spectral gradient is read out by components.
  potential,
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
  /// Cells of the force mesh along a side, per particle: 0.5 to 4. A coarser mesh takes less memory
  /// and time, and smooths more: see growth_lost() in linear_growth.hpp.
  double mesh_ratio = 2;
  mesh::ForceKernel kernel = mesh::ForceKernel::one_four;
  /// By default none, except for kernels that make false structure at this mesh ratio: see
  /// softening_of() in linear_growth.hpp.
  std::optional<mesh::Softening> softening{};
  /// Allow a kernel and softening that make false structure, to compare with codes that have it.
  bool allow_false_structure = false;
  mesh::Assignment assignment = mesh::Assignment::cic;
  /// automatic: slabs on hosts; on devices tiles if particles are sorted by the mesh, otherwise
  /// atomics.
  mesh::PaintScheme scheme = mesh::PaintScheme::automatic;
  ForceSource force_source = ForceSource::automatic;
  /// Every run gives the same bits, for any number of threads, and wherever callers stop between
  /// steps. Densities are added up in whole numbers, transforms are planned without measuring, and
  /// consecutive kicks or drifts are rounded one by one.
  bool deterministic = false;
  /// reverse() and pull_back() can undo steps to the bit: positions and momenta are whole multiples
  /// of small quanta, so that additions are undone without rounding. Densities are painted as with
  /// `deterministic`; forces come from a mesh of vectors.
  bool reversible = false;
  /// With reversible: the largest momentum that can be held, from 1 to 2^20, in units of the rms of
  /// a component by linear theory at that time. Momenta are whole multiples of 2^-30 (float) or
  /// 2^-51 (double) of the largest one at the end. This quantum must be at most 1/16 of the rms at
  /// the start: in float, with the default, a must be about 1e-4 or more there.
  double momentum_range = 64;
  /// With reversible: keep the potential of each step, as long as half of the free memory is left,
  /// so that the way back needn't paint and transform densities again. Takes 4 bytes (float) or 8
  /// (double) per cell of the mesh and step.
  bool keep_potentials = false;
  /// Over ranks: the share of additional particles that a rank has memory for.
  double headroom = 0.1;
  /// Simulation::seconds() says what phases take. On devices each phase waits for the one before,
  /// which makes steps of few particles longer.
  bool measure_phases = true;
};

/// Seconds that the phases of a simulation took.
struct PhaseSeconds {
  double paint = 0;    ///< densities
  double fft = 0;      ///< transforms, and the multiplication and differences between them
  double readout = 0;  ///< forces at particles, and the kicks and drifts in the same pass
  double push = 0;     ///< drifts alone
  double sort = 0;     ///< sorting particles by the mesh, and back into the order of their lattice
  double migrate = 0;  ///< particles on their way to other ranks
};

}  // namespace coir::nbody
