#pragma once

/// \file
/// Functions that remove, add and move axes. They return slices that share the array's elements.

#include <coir/array/slices.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <string>

namespace coir {

/// The array without one axis, which must have one element: NumPy's squeeze(x, axis).
///
/// \throws PreconditionError if there is no such axis, or it has another number of elements
template <Expression X, std::integral Axis>
  requires OfRankAtLeast<X, 1>
auto squeeze(X&& x, Axis axis) {
  auto const slice = elements_of(std::forward<X>(x));
  using S = std::remove_const_t<decltype(slice)>;
  int const gone = checked_axis(slice, static_cast<int>(axis));
  if (slice.shape()[gone] != 1)
    throw PreconditionError("axis " + std::to_string(axis) + " of an array of shape " +
                            in_words(slice.shape()) +
                            " can't be taken away: it must have 1 element");
  Shape<S::rank - 1> shape{};
  Strides<S::rank - 1> strides{};
  for (int d = 0, to = 0; d < S::rank; ++d)
    if (d != gone) {
      shape[to] = slice.shape()[d];
      strides[to++] = slice.strides()[d];
    }
  return Slice<typename S::element_type, S::rank - 1, typename S::space>(slice.data(), shape,
                                                                         strides, slice.owner());
}

/// The array with one more axis, of one element: with_axis() by its name in NumPy.
///
/// \throws PreconditionError if the axis isn't one of the result's
template <Expression X>
auto expand_dims(X&& x, int axis) {
  return with_axis(std::forward<X>(x), axis);
}

/// The array with axis from[k] moved to axis to[k], and the others in their order: NumPy's
/// moveaxis.
///
/// \throws PreconditionError if an axis is none of the array's, or named twice
template <Expression X, std::size_t Count>
  requires OfRankAtLeast<X, static_cast<int>(Count)>
auto moveaxis(X&& x, int const (&from)[Count], int const (&to)[Count]) {
  auto const slice = elements_of(std::forward<X>(x));
  constexpr int rank = rank_of<X>;
  constexpr int free = rank;
  std::array<int, rank> permutation{};
  std::array<bool, rank> moved{};
  permutation.fill(free);
  for (std::size_t k = 0; k < Count; ++k) {
    int const source = checked_axis(slice, from[k]);
    int const target = checked_axis(slice, to[k]);
    expects(!moved[source], "an axis can't be moved twice: each source must differ");
    expects(permutation[target] == free,
            "two axes can't be moved to one place: each target must differ");
    moved[source] = true;
    permutation[target] = source;
  }
  int next = 0;
  for (int& place : permutation) {
    if (place != free) continue;
    while (moved[next]) ++next;
    place = next++;
  }
  return transpose(slice, permutation);
}

/// The array with one axis moved: axis `from` becomes axis `to`.
///
/// \throws PreconditionError if an axis is none of the array's
template <Expression X, std::integral From, std::integral To>
  requires OfRankAtLeast<X, 1>
auto moveaxis(X&& x, From from, To to) {
  return moveaxis(std::forward<X>(x), {static_cast<int>(from)}, {static_cast<int>(to)});
}

}  // namespace coir
