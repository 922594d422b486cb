#include "picture.hpp"

#include <coir/io/png.hpp>

#include <support/colour_map.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace coir::apps::nbody {

namespace {

/// The value that a part of all lies below.
float quantile(std::span<float> values, double part) {
  auto const at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

void write_picture_of(std::filesystem::path const& path, int side, std::span<float const> density,
                      std::span<float> scratch) {
  std::copy(density.begin(), density.end(), scratch.begin());
  double const high = std::log(std::max(quantile(scratch, 0.999), 1e-3f));
  double const low = std::log(std::max(quantile(scratch, 0.01), 1e-3f));
  auto const table = table_of_colours();
  double const scale = high > low ? static_cast<double>(table.size() - 1) / (high - low) : 0;
  io::write_png(path, side, side, [&](int row, std::span<std::uint8_t> samples) {
    auto const first = static_cast<std::size_t>(row) * static_cast<std::size_t>(side);
    for (std::size_t n = 0; n < static_cast<std::size_t>(side); ++n) {
      double const value =
          std::clamp(std::log(std::max(double(density[first + n]), 1e-30)), low, high);
      Colour const colour = table[static_cast<std::size_t>((value - low) * scale + 0.5)];
      std::copy_n(colour.begin(), 3, samples.begin() + static_cast<std::ptrdiff_t>(3 * n));
    }
  });
}

}  // namespace coir::apps::nbody
