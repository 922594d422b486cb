#pragma once

#include <coir/io/rgb_image.hpp>

#include <span>

namespace coir::apps::escape {

/// A picture of counts: colour_of the logarithm of 1 + value, stretched over the values there are. Pixels
/// that never left are black.
///
/// \param counts      [rows * columns] in; those equal to `iterations` never left
/// \param values      [rows * columns] in; smooth values, or empty to show the counts
/// \param iterations  the most a count can be
template <class T>
io::RgbImage picture_of(int rows, int columns, std::span<int const> counts,
                        std::span<T const> values, int iterations);

extern template io::RgbImage picture_of(int, int, std::span<int const>, std::span<float const>,
                                        int);
extern template io::RgbImage picture_of(int, int, std::span<int const>, std::span<double const>,
                                        int);

}  // namespace coir::apps::escape
