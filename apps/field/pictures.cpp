#include "pictures.hpp"

#include <coir/io/png.hpp>

#include <support/colour_map.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace coir::apps::field {

Range range_of(Frame const& frame) {
  std::vector<float> values = frame.values;
  auto const quantile = [&](double part) {
    auto const at = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + at, values.end());
    return static_cast<double>(values[static_cast<std::size_t>(at)]);
  };
  return {quantile(0.01), quantile(0.999)};
}

Frame logarithm_of(Frame density) {
  constexpr float least = 1e-3F;  // voids are never as empty
  for (float& value : density.values) value = std::log(std::max(value, least));
  return density;
}

Frame enlarged(std::vector<double> const& values, std::int64_t side, int pixels) {
  Frame frame{pixels, {}};
  frame.values.reserve(static_cast<std::size_t>(pixels) * static_cast<std::size_t>(pixels));
  struct Between {
    std::int64_t below, above;
    double share;  // of the one above
  };
  auto const place = [&](int pixel) {
    double const u = (pixel + 0.5) * double(side) / pixels;
    auto const below = static_cast<std::int64_t>(u);
    return Between{below % side, (below + 1) % side, u - double(below)};
  };
  auto const at = [&](std::int64_t i, Between const& column) {
    auto const value = [&](std::int64_t j) {
      return values[static_cast<std::size_t>(i * side + j)];
    };
    return (1 - column.share) * value(column.below) + column.share * value(column.above);
  };
  for (int i = 0; i < pixels; ++i) {
    auto const row = place(i);
    for (int j = 0; j < pixels; ++j) {
      auto const column = place(j);
      frame.values.push_back(static_cast<float>((1 - row.share) * at(row.below, column) +
                                                row.share * at(row.above, column)));
    }
  }
  return frame;
}

void write_frames(std::filesystem::path const& path, std::vector<Frame> const& frames,
                  std::vector<Range> const& ranges) {
  int const pixels = frames.front().pixels, gap = std::max(1, pixels / 64);
  int const count = static_cast<int>(frames.size());
  auto const table = table_of_colours();
  constexpr Colour between = {255, 255, 255};
  auto const colour = [&](std::size_t n, float value) {
    auto const [low, high] = ranges[n];
    double const part = (double(value) - low) / (high - low);
    // NaN, of a range without width, too, is the darkest.
    return table[part > 0 ? static_cast<std::size_t>(
                                std::min(part, 1.0) * double(table.size() - 1) + 0.5)
                          : 0];
  };
  io::write_png(path, pixels, count * pixels + (count - 1) * gap,
                [&](int row, std::span<std::uint8_t> samples) {
                  auto to = samples.begin();
                  auto const put = [&](Colour const& c) { to = std::copy(c.begin(), c.end(), to); };
                  for (std::size_t n = 0; n < frames.size(); ++n) {
                    for (int j = 0; n > 0 && j < gap; ++j) put(between);
                    auto const* const values =
                        frames[n].values.data() + std::ptrdiff_t(row) * pixels;
                    for (int j = 0; j < pixels; ++j) put(colour(n, values[j]));
                  }
                });
}

}  // namespace coir::apps::field
