#pragma once

/// \file
/// Whether strided elements share memory.

#include <coir/core/errors.hpp>
#include <coir/core/shape.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coir {

/// The addresses [begin, end) between which strided elements lie.
struct ByteRange {
  std::intptr_t begin, end;

  bool overlaps(ByteRange const& other) const { return begin < other.end && other.begin < end; }
};

/// The range of addresses of strided elements.
///
/// \param data     the element of index 0, 0, ...
/// \param shape    extents, each at least 1
/// \param strides  elements between neighbours along each axis; may be negative
/// \param bytes    of an element
template <std::size_t Rank>
ByteRange byte_range(void const* data, std::array<std::int64_t, Rank> const& shape,
                     std::array<std::int64_t, Rank> const& strides, std::size_t bytes) {
  auto const begin = reinterpret_cast<std::intptr_t>(data);
  ByteRange range{begin, begin + static_cast<std::intptr_t>(bytes)};
  for (std::size_t d = 0; d < Rank; ++d) {
    std::int64_t const reach = (shape[d] - 1) * strides[d] * static_cast<std::int64_t>(bytes);
    (reach < 0 ? range.begin : range.end) += reach;
  }
  return range;
}

/// Whether no two indices refer to the same element, as kernels that write require. Also false for
/// some distinct elements: those whose axes interleave as in no slice of a contiguous array.
template <std::size_t Rank>
bool has_distinct_elements(std::array<std::int64_t, Rank> const& shape,
                           std::array<std::int64_t, Rank> const& strides) {
  std::array<std::size_t, Rank> permutation;
  for (std::size_t d = 0; d < Rank; ++d) permutation[d] = d;
  auto const step = [&](std::size_t d) { return strides[d] < 0 ? -strides[d] : strides[d]; };
  detail::sort_axes(permutation, [&](auto a, auto b) { return step(a) < step(b); });
  std::int64_t span = 1;  // elements from the first to the last along the axes so far
  bool distinct = true;
  for (std::size_t const d : permutation) {
    if (shape[d] == 0) return true;
    if (shape[d] == 1) continue;
    distinct = distinct && step(d) >= span;
    span += (shape[d] - 1) * step(d);
  }
  return distinct;
}

/// Checks that elements that are going to be written are distinct.
///
/// \param what  the elements, for the message: "a mesh"
/// \throws PreconditionError unless has_distinct_elements()
template <std::size_t Rank>
void expects_distinct_elements(std::array<std::int64_t, Rank> const& shape,
                               std::array<std::int64_t, Rank> const& strides,
                               std::string_view what) {
  if (has_distinct_elements(shape, strides)) return;
  std::string found = std::to_string(strides[0]);
  for (std::size_t d = 1; d < Rank; ++d) found += ", " + std::to_string(strides[d]);
  throw PreconditionError(std::string(what) + " with strides " + found +
                          " has elements in the same place and can't be written: copy it first");
}

}  // namespace coir
