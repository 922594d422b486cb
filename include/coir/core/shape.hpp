#pragma once

/// \file
/// Shapes of arrays, and NumPy's rules of broadcasting.

#include <coir/core/errors.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace coir {

/// Extents of an array of rank `Rank`, the first axis first. Rank 0 is a single number.
template <int Rank>
using Shape = std::array<std::int64_t, static_cast<std::size_t>(Rank)>;

/// Elements between neighbours along each axis.
template <int Rank>
using Strides = std::array<std::int64_t, static_cast<std::size_t>(Rank)>;

/// A shape as NumPy writes it: "(3, 4)", "(3,)", "()".
std::string shape_in_words(std::span<std::int64_t const> shape);
template <std::size_t Rank>
std::string in_words(std::array<std::int64_t, Rank> const& shape) {
  return shape_in_words(shape);
}

namespace detail {

// Messages are made by functions that are compiled once, because every array statement checks
// shapes.

[[noreturn]] void fail_to_broadcast(std::span<std::int64_t const> a,
                                    std::span<std::int64_t const> b, std::size_t axis,
                                    std::int64_t from_a, std::int64_t from_b);

[[noreturn]] void fail_to_fit(std::span<std::int64_t const> from, std::span<std::int64_t const> to);

[[noreturn]] void fail_by_negative_extent(std::span<std::int64_t const> shape);

[[noreturn]] void fail_by_overflow(std::span<std::int64_t const> shape, std::int64_t element_bytes);

[[noreturn]] void fail_to_count(std::span<std::int64_t const> shape);

[[noreturn]] void fail_by_extent(std::int64_t a, std::string_view operation, std::int64_t b);

/// Sorts a few axes by insertion; equal ones keep their order. The standard library's sorts would
/// be most of the code of some array statements.
template <class Axis, std::size_t Rank, class Before>
void sort_axes(std::array<Axis, Rank>& axes, Before const& before) {
  for (std::size_t last = 1; last < Rank; ++last)
    for (std::size_t at = last; at > 0 && before(axes[at], axes[at - 1]); --at)
      std::swap(axes[at], axes[at - 1]);
}

}  // namespace detail

/// `unit` times the extents that aren't 0. Arrays without elements have strides, too: as in NumPy
/// these products must fit 64 bits whether an extent is 0 or not.
///
/// \return false if the product doesn't fit
template <std::size_t Rank>
[[nodiscard]] bool multiply_extents(std::array<std::int64_t, Rank> const& shape, std::int64_t unit,
                                    std::int64_t& product) {
  product = unit;
  for (std::int64_t const extent : shape)
    if (extent != 0 && __builtin_mul_overflow(product, extent, &product)) return false;
  return true;
}

/// Number of elements: the product of the extents, 1 for rank 0.
///
/// \throws PreconditionError if the product of the extents that aren't 0 exceeds 2^63 - 1
template <std::size_t Rank>
std::int64_t size_of(std::array<std::int64_t, Rank> const& shape) {
  std::int64_t product;
  if (!multiply_extents(shape, 1, product)) detail::fail_to_count(shape);
  for (std::int64_t const extent : shape)
    if (extent == 0) return 0;
  return product;
}

/// The extent of an axis whose elements are repeated.
///
/// \throws PreconditionError if it exceeds 2^63 - 1
inline std::int64_t repeated_extent(std::int64_t extent, std::int64_t times) {
  std::int64_t product;
  if (__builtin_mul_overflow(extent, times, &product)) detail::fail_by_extent(extent, " x ", times);
  return product;
}

/// The extent of an axis that is put together from two.
///
/// \throws PreconditionError if it exceeds 2^63 - 1
inline std::int64_t joined_extent(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) detail::fail_by_extent(a, " + ", b);
  return sum;
}

/// Strides of a contiguous array in C order.
template <std::size_t Rank>
std::array<std::int64_t, Rank> c_strides(std::array<std::int64_t, Rank> const& shape) {
  std::array<std::int64_t, Rank> strides{};
  std::int64_t stride = 1;
  for (std::size_t d = Rank; d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

/// Whether elements lie one after the other with the last index fastest.
template <std::size_t Rank>
bool is_c_order(std::array<std::int64_t, Rank> const& shape,
                std::array<std::int64_t, Rank> const& strides) {
  std::int64_t stride = 1;
  bool ordered = true, empty = false;
  for (std::size_t d = Rank; d-- > 0;) {
    ordered = ordered && (shape[d] == 1 || strides[d] == stride);
    empty = empty || shape[d] == 0;
    stride *= shape[d];
  }
  return ordered || empty;
}

/// The permutation of axes from the largest stride to the smallest, the fastest nesting of loops:
/// the identity for LayoutRight, the reverse for LayoutLeft. If the axes of more than one element
/// are in order, it is the identity.
template <std::size_t Rank>
std::array<int, Rank> memory_order(std::array<std::int64_t, Rank> const& shape,
                                   std::array<std::int64_t, Rank> const& strides) {
  std::array<int, Rank> permutation;
  auto const step = [&](std::size_t d) { return strides[d] < 0 ? -strides[d] : strides[d]; };
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  bool natural = true;
  for (std::size_t d = 0; d < Rank; ++d) {
    permutation[d] = static_cast<int>(d);
    if (shape[d] == 1) continue;
    natural = natural && step(d) <= before;
    before = step(d);
  }
  if (!natural)
    detail::sort_axes(permutation, [&](int a, int b) {
      return step(static_cast<std::size_t>(a)) > step(static_cast<std::size_t>(b));
    });
  return permutation;
}

/// The shape that both can be stretched to, by NumPy's rules: shapes are aligned at their last
/// axes, and extents along an axis are equal, or one of them is 1 or missing.
///
/// \throws PreconditionError naming both shapes if there is none
template <std::size_t A, std::size_t B>
std::array<std::int64_t, std::max(A, B)> broadcast(std::array<std::int64_t, A> const& a,
                                                   std::array<std::int64_t, B> const& b) {
  constexpr std::size_t rank = std::max(A, B);
  std::array<std::int64_t, rank> result{};
  for (std::size_t d = 0; d < rank; ++d) {
    std::int64_t const from_a = d + A < rank ? 1 : a[d + A - rank];
    std::int64_t const from_b = d + B < rank ? 1 : b[d + B - rank];
    if (from_a != from_b && from_a != 1 && from_b != 1)
      detail::fail_to_broadcast(a, b, d, from_a, from_b);
    result[d] = from_a == 1 ? from_b : from_a;
  }
  return result;
}

/// Checks that an array of shape `from` can be written into one of shape `to`.
///
/// \throws PreconditionError naming both shapes
template <std::size_t A, std::size_t B>
void expects_fits(std::array<std::int64_t, A> const& from, std::array<std::int64_t, B> const& to) {
  bool fits = A <= B;
  for (std::size_t d = 0; fits && d < A; ++d) {
    std::int64_t const extent = from[A - 1 - d];
    fits = extent == 1 || extent == to[B - 1 - d];
  }
  if (!fits) detail::fail_to_fit(from, to);
}

/// Checks that a shape can be allocated at all.
///
/// \throws PreconditionError if an extent is negative, the bytes exceed 2^63 - 1, or there is no
///   size_of()
template <std::size_t Rank>
void expects_allocatable(std::array<std::int64_t, Rank> const& shape, std::int64_t element_bytes) {
  for (std::int64_t const extent : shape)
    if (extent < 0) detail::fail_by_negative_extent(shape);
  std::int64_t bytes;
  if (size_of(shape) > 0 && !multiply_extents(shape, element_bytes, bytes))
    detail::fail_by_overflow(shape, element_bytes);
}

}  // namespace coir
