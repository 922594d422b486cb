#include "picture.hpp"

#include <support/colour_map.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace coir::apps::nbody {

namespace {

/// The value that a part of all lies below.
float quantile(std::vector<float>& values, double part) {
  auto const at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

io::RgbImage picture_of(int side, std::span<float const> density) {
  std::vector<float> values(density.begin(), density.end());
  double const high = std::log(std::max(quantile(values, 0.999), 1e-3f));
  double const low = std::log(std::max(quantile(values, 0.01), 1e-3f));
  auto const table = table_of_colours();
  double const scale = high > low ? static_cast<double>(table.size() - 1) / (high - low) : 0;
  io::RgbImage image{side, side, std::vector<std::uint8_t>(3 * density.size())};
  for (std::size_t n = 0; n < density.size(); ++n) {
    double const value = std::clamp(std::log(std::max(double(density[n]), 1e-30)), low, high);
    Colour const colour = table[static_cast<std::size_t>((value - low) * scale + 0.5)];
    std::copy_n(colour.begin(), 3, image.samples.begin() + static_cast<std::ptrdiff_t>(3 * n));
  }
  return image;
}

}  // namespace coir::apps::nbody
