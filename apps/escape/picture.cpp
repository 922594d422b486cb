#include "picture.hpp"

#include <support/colour_map.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace coir::apps::escape {

template <class T>
io::RgbRows picture_of(std::span<int const> counts, std::span<T const> values, int iterations) {
  auto const value = [=](std::size_t n) {
    return values.empty() ? static_cast<double>(counts[n]) : static_cast<double>(values[n]);
  };
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    if (counts[n] == iterations) continue;
    low = std::min(low, value(n));
    high = std::max(high, value(n));
  }
  double const from = std::log1p(low), to = std::log1p(high);

  auto const table = table_of_colours();
  double const scale = to > from ? static_cast<double>(table.size() - 1) / (to - from) : 0;
  return [=](int row, std::span<std::uint8_t> samples) {
    std::size_t const columns = samples.size() / 3;
    for (std::size_t j = 0; j < columns; ++j) {
      std::size_t const n = static_cast<std::size_t>(row) * columns + j;
      Colour colour = {0, 0, 0};
      if (counts[n] != iterations) {
        auto const at = static_cast<std::size_t>((std::log1p(value(n)) - from) * scale + 0.5);
        colour = table[std::min(at, table.size() - 1)];
      }
      std::copy_n(colour.begin(), 3, samples.begin() + static_cast<std::ptrdiff_t>(3 * j));
    }
  };
}

template io::RgbRows picture_of(std::span<int const>, std::span<float const>, int);
template io::RgbRows picture_of(std::span<int const>, std::span<double const>, int);

}  // namespace coir::apps::escape
