#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace coir::apps::field {

/// A square of values, row after row.
struct Frame {
  int pixels = 0;  ///< along a side
  std::vector<float> values{};
};

/// The values drawn darkest and lightest; others are clamped.
struct Range {
  double low = 0, high = 1;
};

/// The range that leaves out the lowest 1 % and the highest 0.1 % of the values.
Range range_of(Frame const& frame);

/// The logarithms of a density's values.
Frame logarithm_of(Frame density);

/// A periodic square of values at the points of a grid, interpolated linearly to pixels.
///
/// \param values  [side * side]; value (i, j) lies at (i, j) over side of the picture
Frame enlarged(std::vector<double> const& values, std::int64_t side, int pixels);

/// Writes pictures of the same size side by side, with a gap of a 64th of them between, as one PNG.
///
/// \param ranges  of each
/// \throws ResourceError if it can't be written
void write_frames(std::filesystem::path const& path, std::vector<Frame> const& frames,
                  std::vector<Range> const& ranges);

}  // namespace coir::apps::field
