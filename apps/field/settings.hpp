#pragma once

#include <nbody/settings.hpp>

#include <support/progress.hpp>

#include <filesystem>
#include <optional>

namespace coir::apps::field {

/// The command line, read.
struct FieldSettings {
  FieldSettings() {
    universe.mesh_ratio = 1;
    universe.stepper = coir::nbody::Stepper::bullfrog;
    universe.steps = 10;
    universe.a_start = 0.05;
  }

  /// The settings of coir-nbody that grow the same universe.
  nbody::Settings universe{};

  // The target
  std::filesystem::path target{};
  std::filesystem::path gradient_of{};  ///< in its place: one gradient of its misfit
  bool check = false;                   ///< compare the gradient with a difference of misfits
  double sigma = 0.2;                   ///< of a cell or column, in units of the mean density
  std::optional<double> smooth{};       ///< Mpc/h
  double contrast = 10;                 ///< density of white over that of black

  // The search
  int iterations = 100;
  double tolerance = 1e-5;
  bool realisation = false;

  // Output
  std::filesystem::path output = "field";
  std::filesystem::path report{};
  int pixels = 512;  ///< of a picture along a side
  int frames = 6;    ///< of the strip

  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;

  std::filesystem::path const& target_file() const {
    return gradient_of.empty() ? target : gradient_of;
  }
};

}  // namespace coir::apps::field
