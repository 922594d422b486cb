#pragma once

#include <cstdint>
#include <vector>

namespace coir::io {

/// A picture in colour (sRGB): red, green and blue of each pixel, row after row from the top.
struct RgbImage {
  int rows = 0;
  int columns = 0;
  std::vector<std::uint8_t> samples;  ///< 3 rows columns of them, 0 to 255

  /// The three samples of the pixel in row i, column j.
  std::uint8_t* pixel(int i, int j) { return samples.data() + 3 * (std::int64_t{columns} * i + j); }
  std::uint8_t const* pixel(int i, int j) const {
    return samples.data() + 3 * (std::int64_t{columns} * i + j);
  }
};

}  // namespace coir::io
