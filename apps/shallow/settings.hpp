#pragma once

#include <coir/shallow/parameters.hpp>

#include <support/precision.hpp>
#include <support/progress.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps::shallow {

using coir::shallow::Parameters;

enum class Start { jet, vortex, dam, tsunami };
enum class Walls { none, x, y, both };

/// What was asked for on the command line, read. Empty optionals have defaults that depend on
/// others.
struct Settings {
  Start start = Start::jet;
  int columns = 360, rows = 180;
  double cell = 5e3;
  std::optional<double> dt, f0, beta, viscosity, amplitude, radius, place_x, place_y;
  double depth = 100, gravity = 9.81, drag = 0, epsilon = 0.1;
  std::optional<Walls> walls;
  bool compatible = false;
  std::filesystem::path topography;
  std::optional<double> relief;
  std::int64_t steps = 2000;
  std::vector<std::int64_t> outputs;
  bool npy = false;
  std::int64_t totals = 100;
  std::int64_t checkpoint = 0;
  std::filesystem::path restart;
  std::filesystem::path output = "shallow";
  std::filesystem::path report;
  Precision precision = Precision::float32;
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
};

/// The model of a new run. Jets and vortices are in balance with the rotation of the demo's plane;
/// dam breaks and tsunamis have none unless it is asked for.
inline Parameters parameters_of(Settings const& s) {
  bool const rotates = s.start == Start::jet || s.start == Start::vortex;
  Walls const walls = s.walls.value_or(s.start == Start::jet ? Walls::y : Walls::both);
  Parameters p;
  p.rows = s.rows;
  p.columns = s.columns;
  p.dx = p.dy = s.cell;
  p.gravity = s.gravity;
  p.dt = s.dt.value_or(0.125 * s.cell / std::sqrt(s.gravity * s.depth));
  p.f0 = s.f0.value_or(rotates ? 2e-4 : 0);
  p.beta = s.beta.value_or(s.start == Start::jet ? 2e-11 : 0);
  // 1e-3 f0 dx^2 in the demo; otherwise a hundredth of what a wave carries through a cell.
  p.viscosity = s.viscosity.value_or(rotates ? 1e-3 * 2e-4 * s.cell * s.cell
                                             : 0.01 * std::sqrt(s.gravity * s.depth) * s.cell);
  p.drag = s.drag;
  p.epsilon = s.epsilon;
  p.periodic_x = walls == Walls::none || walls == Walls::y;
  p.periodic_y = walls == Walls::none || walls == Walls::x;
  p.compatible = s.compatible;
  return p;
}

}  // namespace coir::apps::shallow
