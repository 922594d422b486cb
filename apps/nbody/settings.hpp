#pragma once

#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>
#include <coir/nbody/stepper.hpp>

#include <support/precision.hpp>
#include <support/progress.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace coir::apps::nbody {

/// What the names of a run's files hold.
enum class NamedBy { scale_factor, redshift };

/// The command line, read.
struct Settings {
  // Particles and forces
  std::int64_t particles = 64;  ///< along a side
  double box = 100;             ///< Mpc/h
  double mesh_ratio = 2;
  mesh::Assignment assignment = mesh::Assignment::cic;
  mesh::ForceKernel kernel = mesh::ForceKernel::one_four;
  std::optional<mesh::Softening> softening{};  ///< where it isn't given the library chooses
  bool allow_false_structure = false;
  coir::nbody::ForceSource force_source = coir::nbody::ForceSource::automatic;
  Precision precision = Precision::float32;
  bool deterministic = false;

  // Time
  coir::nbody::Stepper stepper = coir::nbody::Stepper::fastpm;
  int steps = 20;
  double a_start = 0.1;
  double a_end = 1;
  coir::nbody::Spacing spacing = coir::nbody::Spacing::linear;
  std::vector<double> scale_factors{};  ///< in place of the four above, if there are any

  // The start
  int lpt = 2;
  coir::nbody::NoiseOptions random{};
  std::filesystem::path noise{};
  std::filesystem::path start{};  ///< a snapshot in place of perturbation theory

  // The universe
  cosmology::Parameters<double> cosmology = cosmology::planck18();
  cosmology::TransferFunction transfer = cosmology::TransferFunction::eisenstein_hu;
  std::filesystem::path power_table{};
  double table_redshift = 0;
  bool renormalise = false;
  std::optional<std::uint64_t> table_checksum{};  ///< of the table's bytes, once it is read

  // Output
  std::filesystem::path output = "nbody";
  std::vector<double> outputs{};    ///< scale factors; the end is always one
  std::vector<double> redshifts{};  ///< in their place
  NamedBy named_by = NamedBy::scale_factor;
  bool pictures = true;
  bool spectra = true;
  bool multipoles = false;  ///< of the spectrum in redshift space
  bool density = false;
  bool snapshots = false;
  bool white_noise = false;
  int bins = 0;  ///< of spectra; 0: as wide as the fundamental
  bool logarithmic_bins = false;
  double k_min = 0, k_max = 0;             ///< h/Mpc; 0: the fundamental, the Nyquist frequency
  std::optional<double> slab_thickness{};  ///< Mpc/h
  std::optional<int> pixels{};             ///< along a side
  std::filesystem::path report{};

  // Checkpoints
  int checkpoint = 0;  ///< steps between them; 0: none
  std::filesystem::path restart{};
  int stop_after = 0;  ///< steps; 0: go on to the end

  std::filesystem::path measure{};  ///< a snapshot to measure, in place of a run

  std::optional<double> headroom{};  ///< over ranks: see SimulationOptions

  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;

  double slab() const { return slab_thickness.value_or(box / 16); }

  /// At least 512, and a multiple of the lattice, so that evenly spread particles give an even
  /// picture.
  int picture_side() const {
    if (pixels) return *pixels;
    return static_cast<int>(particles * ((511 + particles) / particles));
  }
};

/// How the library wants it. The scale factors are the caller's to set.
inline coir::nbody::SimulationOptions simulation_options(Settings const& settings,
                                                         std::vector<double> scale_factors) {
  coir::nbody::SimulationOptions options;
  options.scale_factors = std::move(scale_factors);
  options.stepper = settings.stepper;
  options.mesh_ratio = settings.mesh_ratio;
  options.kernel = settings.kernel;
  options.softening = settings.softening;
  options.allow_false_structure = settings.allow_false_structure;
  options.force_source = settings.force_source;
  options.assignment = settings.assignment;
  options.deterministic = settings.deterministic;
  return options;
}

}  // namespace coir::apps::nbody
