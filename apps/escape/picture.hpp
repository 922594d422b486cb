#pragma once

#include <coir/io/png.hpp>

#include <span>

namespace coir::apps::escape {

/// The rows of a picture of counts: colour_of the logarithm of 1 + value, stretched over the values
/// there are. Pixels that never left are black. Rows are made one by one, so that a
/// picture takes no memory of its own.
///
/// \param counts      [rows * columns] in; those equal to `iterations` never left
/// \param values      [rows * columns] in; smooth values, or empty to show the counts
/// \param iterations  the most a count can be
/// \returns           for io::write_png; reads counts and values whenever it is called
template <class T>
io::RgbRows picture_of(std::span<int const> counts, std::span<T const> values, int iterations);

extern template io::RgbRows picture_of(std::span<int const>, std::span<float const>, int);
extern template io::RgbRows picture_of(std::span<int const>, std::span<double const>, int);

}  // namespace coir::apps::escape
