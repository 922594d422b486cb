#pragma once

#include <support/precision.hpp>
#include <support/progress.hpp>

#include <array>
#include <filesystem>
#include <optional>

namespace coir::apps::escape {

enum class Set { mandelbrot, julia };
enum class Scheme { arrays, kernel };

/// A rectangle of the complex plane: real parts from left to right, imaginary ones from bottom to
/// top.
struct Region {
  double left;
  double right;
  double bottom;
  double top;
};

/// The command line, read.
struct EscapeSettings {
  Set set = Set::mandelbrot;
  std::optional<std::array<double, 2>> constant;
  std::optional<Region> region;
  std::optional<std::array<double, 2>> center;
  std::optional<double> width;
  int columns = 1024;
  int rows = 1024;
  int iterations = 256;
  Precision precision = Precision::float32;
  Scheme scheme = Scheme::kernel;
  std::optional<bool> smooth;
  std::filesystem::path output;
  std::filesystem::path report;
  int repeat = 1;
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;

  /// Whether smooth values are computed: as the user said, or else if there is an output.
  bool wants_smooth() const { return smooth.value_or(!output.empty()); }
};

inline char const* escape_set_name(Set set) { return set == Set::julia ? "julia" : "mandelbrot"; }
inline char const* escape_scheme_name(Scheme scheme) {
  return scheme == Scheme::arrays ? "arrays" : "kernel";
}

/// The c of a Julia set unless another is given.
inline constexpr std::array<double, 2> default_constant = {-0.8, 0.156};

/// The region that the settings show. Unless the user says otherwise pixels are square, and the
/// shorter side of the picture shows 3 units, around -0.5 for the Mandelbrot set and 0 for Julia
/// sets.
inline Region region_of(EscapeSettings const& settings) {
  if (settings.region) return *settings.region;
  double const columns = settings.columns, rows = settings.rows;
  std::array<double, 2> const middle = {settings.set == Set::mandelbrot ? -0.5 : 0.0, 0.0};
  auto const [re, im] = settings.center.value_or(middle);
  double const width = settings.width.value_or(columns > rows ? 3 * columns / rows : 3);
  double const height = width * rows / columns;
  return {re - width / 2, re + width / 2, im - height / 2, im + height / 2};
}

}  // namespace coir::apps::escape
