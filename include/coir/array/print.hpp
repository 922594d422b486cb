#pragma once

/// \file
/// Arrays as text for readers, as NumPy prints them.

#include <coir/array/creation.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace coir {

namespace detail {

/// NaN without its sign, which depends on the machine.
inline double printed(double value) {
  return value != value ? std::numeric_limits<double>::quiet_NaN() : value;
}

/// \param digits  significant ones, at most 17
template <class T>
std::string number_in_words(T const& value, int digits) {
  char text[64];
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (is_complex<T>) {
    std::snprintf(text, sizeof text, "%.*g%+.*gi", digits, printed(double(value.real())), digits,
                  printed(double(value.imag())));
    return text;
  } else if constexpr (std::is_floating_point_v<T>) {
    std::snprintf(text, sizeof text, "%.*g", digits, printed(double(value)));
    return text;
  } else {
    return std::to_string(value);
  }
}

/// The indices along an axis that are printed: all, or the first and last three with -1 for the
/// dots between them.
inline std::vector<std::int64_t> shown(std::int64_t extent, bool all) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (!all && extent > 6 && i == 3) {
      indices.push_back(-1);
      i = extent - 3;
    }
    indices.push_back(i);
  }
  return indices;
}

template <class A>
void print_axis(std::ostream& out, A const& array, std::vector<std::int64_t> const& offsets,
                int axis, std::int64_t offset, bool all, std::size_t width, int digits) {
  constexpr int rank = A::rank;
  if (axis == rank) {
    std::string const text = number_in_words(array.data()[offset], digits);
    out << std::string(width > text.size() ? width - text.size() : 0, ' ') << text;
    return;
  }
  out << '[';
  bool first = true;
  for (std::int64_t const i : shown(array.shape()[axis], all)) {
    if (!first) {
      if (axis == rank - 1)
        out << ' ';
      else
        out << std::string(static_cast<std::size_t>(rank - 1 - axis), '\n')
            << std::string(static_cast<std::size_t>(axis + 1), ' ');
    }
    first = false;
    if (i < 0)
      out << "...";
    else
      print_axis(out, array, offsets, axis + 1, offset + i * offsets[axis], all, width, digits);
  }
  out << ']';
}

template <class A>
std::size_t widest(A const& array, std::vector<std::int64_t> const& offsets, int axis,
                   std::int64_t offset, bool all, int digits) {
  if (axis == A::rank) return number_in_words(array.data()[offset], digits).size();
  std::size_t width = 0;
  for (std::int64_t const i : shown(array.shape()[axis], all))
    if (i >= 0)
      width = std::max(width,
                       widest(array, offsets, axis + 1, offset + i * offsets[axis], all, digits));
  return width;
}

}  // namespace detail

/// Writes the values in brackets with the stream's precision: six significant digits by default,
/// and at most 17. Of more than 1000 values it writes the first and last three along each axis.
template <Expression E>
std::ostream& operator<<(std::ostream& out, E const& values) {
  auto const array = to_host(values);
  bool const all = array.size() <= 1000;
  auto const strides = array.strides();
  std::vector<std::int64_t> const offsets(strides.begin(), strides.end());
  int const digits = static_cast<int>(std::clamp<std::streamsize>(out.precision(), 0, 17));
  detail::print_axis(out, array, offsets, 0, 0, all,
                     detail::widest(array, offsets, 0, 0, all, digits), digits);
  return out;
}

}  // namespace coir
