#pragma once

/// \file
/// Lines of numbers in the lanes of vectors, which work on as many lines at a time.

#include <cstdint>

namespace coir::simd {

/// Lines of a vector on this build's machine.
template <class T>
std::int64_t lanes_of_vector();

/// Lines in memory, n numbers `stride` apart, the next line `step` further.
template <class T>
struct SomeLines {
  T* data;
  std::int64_t n, stride, step, count;
};

/// Copies lines to vectors, a line in each lane: n vectors of the first lines, n of the next ones
/// and so on. Lanes without a line become zeros.
///
/// \param vectors  aligned to vectors
template <class T>
void to_lanes(SomeLines<T const> const& lines, T* vectors);

/// Copies vectors back to lines.
template <class T>
void from_lanes(T const* vectors, SomeLines<T> const& lines);

}  // namespace coir::simd
