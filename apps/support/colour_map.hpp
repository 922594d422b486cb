#pragma once

/// Colours for numbers from 0 to 1 that look evenly spaced: a path through OKLab, a space in which
/// distances are what the eye sees (B. Ottosson, "A perceptual color space for image processing",
/// 2020).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace coir::apps {

/// Red, green and blue of sRGB, 0 to 255.
using Colour = std::array<std::uint8_t, 3>;

/// A place in OKLab: lightness from 0 (black) to 1 (white), and the two axes of colour.
struct OkLab {
  double lightness;
  double a;  ///< green to red
  double b;  ///< blue to yellow
};

/// The sRGB values of a colour in OKLab, 0 to 1; outside of that where no screen shows it.
inline std::array<double, 3> to_srgb(OkLab const& lab) {
  auto const cube = [](double x) { return x * x * x; };
  double const l = cube(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b);
  double const m = cube(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b);
  double const s = cube(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b);
  auto const gamma = [](double linear) {
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  };
  return {gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          gamma(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

/// The path: lightness rises evenly from dark to light, while the hue turns from blue over violet
/// and red to yellow. The saturation is that of an arch, which fits between the darkest and
/// lightest colours that screens show.
inline OkLab colour_path(double t) {
  constexpr double pi = std::numbers::pi;
  double const hue = (-0.55 + 1.1 * t) * pi;
  double const chroma = 0.02 + 0.13 * std::sin(pi * t);
  return {0.12 + 0.84 * t, chroma * std::cos(hue), chroma * std::sin(hue)};
}

/// The colour of a number from 0 (dark) to 1 (light); others are clamped.
inline Colour colour_of(double t) {
  auto const srgb = to_srgb(colour_path(std::clamp(t, 0.0, 1.0)));
  Colour colour;
  for (int n = 0; n < 3; ++n)
    colour[n] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(srgb[n], 0.0, 1.0)));
  return colour;
}

/// Colours of evenly spaced numbers from 0 to 1, finer than the eye and 8 bits can tell.
inline std::vector<Colour> table_of_colours() {
  constexpr int entries = 4096;
  std::vector<Colour> table;
  for (int n = 0; n < entries; ++n) table.push_back(colour_of(n / double(entries - 1)));
  return table;
}

}  // namespace coir::apps
