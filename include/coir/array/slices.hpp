#pragma once

/// \file
/// Functions that return slices of an array: transposed, reversed, reshaped, stretched. No element
/// is copied, and writing to the slice writes to the array. An expression is evaluated first; the
/// slice then owns its values.

#include <coir/array/array.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace coir {

/// A slice of all elements of an array or a slice. An expression is evaluated first.
template <class X>
auto elements_of(X&& x) {
  using E = std::remove_cvref_t<X>;
  if constexpr (requires { x.all(); })
    return x.all();
  else if constexpr (requires { typename E::element_type; })
    return x;
  else
    return detail::evaluated(x).as_operand();
}

namespace detail {

/// All elements of an expression in C order, without gaps: those of an array or of a slice that lie
/// so, and otherwise a copy.
template <class E>
auto in_c_order(E const& x) {
  auto const slice = elements_of(x).as_operand();
  return slice.contiguous() ? slice : evaluated(slice).as_operand();
}

}  // namespace detail

/// The number of an axis from 0 on. Negative numbers count from the last axis, which is -1.
///
/// \throws PreconditionError if there is no such axis
template <class T, int Rank, class Space>
int checked_axis(Slice<T, Rank, Space> const& x, int axis) {
  if (axis < -Rank || axis >= Rank)
    throw PreconditionError("axis " + std::to_string(axis) + " is none of an array of shape " +
                            in_words(x.shape()));
  return axis < 0 ? axis + Rank : axis;
}

namespace detail {

/// The elements [first, first + count) along an axis.
template <class T, int Rank, class Space>
Slice<T, Rank, Space> part_along(Slice<T, Rank, Space> const& x, int axis, std::int64_t first,
                                 std::int64_t count) {
  Shape<Rank> shape = x.shape();
  shape[axis] = count;
  return {x.data() + (count > 0 ? first * x.strides()[axis] : 0), shape, x.strides(), x.owner()};
}

}  // namespace detail

/// The array with its axes permuted: axis d of the result is axis permutation[d] of the array.
///
/// \throws PreconditionError unless `permutation` has each axis once
template <Expression X>
auto transpose(X&& x, std::array<int, rank_of<X>> const& permutation) {
  auto const slice = elements_of(std::forward<X>(x));
  using S = std::remove_const_t<decltype(slice)>;
  constexpr int rank = S::rank;
  Shape<rank> shape{};
  Strides<rank> strides{};
  std::array<bool, rank> seen{};
  for (int d = 0; d < rank; ++d) {
    int const axis = permutation[d] < 0 ? permutation[d] + rank : permutation[d];
    if (axis < 0 || axis >= rank || seen[axis])
      throw PreconditionError("the order of axes must name each of the " + std::to_string(rank) +
                              " axes once, and " + std::to_string(permutation[d]) +
                              " is none or twice");
    seen[axis] = true;
    shape[d] = slice.shape()[axis];
    strides[d] = slice.strides()[axis];
  }
  return S(slice.data(), shape, strides, slice.owner());
}

/// The array with its axes in reverse order: a matrix transposed.
template <Expression X>
auto transpose(X&& x) {
  std::array<int, rank_of<X>> permutation{};
  for (int d = 0; d < rank_of<X>; ++d) permutation[d] = rank_of<X> - 1 - d;
  return transpose(std::forward<X>(x), permutation);
}

/// The array with two axes exchanged: NumPy's swapaxes.
///
/// \throws PreconditionError if there is no such axis
template <Expression X>
auto swap_axes(X&& x, int a, int b) {
  std::array<int, rank_of<X>> permutation{};
  for (int d = 0; d < rank_of<X>; ++d) permutation[d] = d;
  auto const slice = elements_of(std::forward<X>(x));
  std::swap(permutation[checked_axis(slice, a)], permutation[checked_axis(slice, b)]);
  return transpose(slice, permutation);
}

/// The array in reverse order along one axis: NumPy's flip(x, axis).
///
/// \throws PreconditionError if there is no such axis
template <Expression X>
auto flip(X&& x, int axis) {
  auto const slice = elements_of(std::forward<X>(x));
  using S = std::remove_const_t<decltype(slice)>;
  int const d = checked_axis(slice, axis);
  auto strides = slice.strides();
  std::int64_t const last = std::max<std::int64_t>(slice.shape()[d] - 1, 0);
  auto* const data = slice.data() + last * strides[d];
  strides[d] = -strides[d];
  return S(data, slice.shape(), strides, slice.owner());
}

/// The array in reverse order along every axis: NumPy's flip(x).
template <Expression X>
auto flip(X&& x) {
  auto slice = elements_of(std::forward<X>(x));
  if constexpr (rank_of<X> > 0) {
    auto* data = slice.data();
    auto strides = slice.strides();
    for (int d = 0; d < rank_of<X>; ++d) {
      data += std::max<std::int64_t>(slice.shape()[d] - 1, 0) * strides[d];
      strides[d] = -strides[d];
    }
    return decltype(slice)(data, slice.shape(), strides, slice.owner());
  } else {
    return slice;
  }
}

/// The array with one more axis, of one element, at `axis`: NumPy's expand_dims.
///
/// \throws PreconditionError if the axis isn't one of the result's
template <Expression X>
auto with_axis(X&& x, int axis) {
  auto const slice = elements_of(std::forward<X>(x));
  constexpr int rank = rank_of<X> + 1;
  if (axis < -rank || axis >= rank)
    throw PreconditionError("a new axis of an array of shape " + in_words(slice.shape()) +
                            " must lie in [" + std::to_string(-rank) + ", " +
                            std::to_string(rank - 1) + "], not " + std::to_string(axis));
  int const at = axis < 0 ? axis + rank : axis;
  Shape<rank> shape{};
  Strides<rank> strides{};
  for (int d = 0, from = 0; d < rank; ++d) {
    shape[d] = d == at ? 1 : slice.shape()[from];
    strides[d] = d == at ? 0 : slice.strides()[from++];
  }
  using S = std::remove_const_t<decltype(slice)>;
  return Slice<typename S::element_type, rank, typename S::space>(slice.data(), shape, strides,
                                                                  slice.owner());
}

/// The array stretched to a shape by repeating axes of one element: NumPy's broadcast_to. The slice
/// can only be read.
///
/// \throws PreconditionError if the array doesn't stretch to the shape, an extent is negative, or
///   the shape has more than 2^63 - 1 elements
template <Expression X, std::size_t Rank>
auto broadcast_to(X&& x, std::array<std::int64_t, Rank> const& shape) {
  auto const slice = elements_of(std::forward<X>(x)).as_operand();
  static_assert(static_cast<int>(Rank) >= rank_of<X>, "a shape to stretch to has no fewer axes");
  for (std::int64_t const extent : shape)
    if (extent < 0) detail::fail_by_negative_extent(shape);
  expects_fits(slice.shape(), shape);
  static_cast<void>(size_of(shape));
  return Slice<value_t<X> const, static_cast<int>(Rank), typename decltype(slice)::space>(
      slice.data(), shape, detail::stretched_strides<static_cast<int>(Rank)>(slice), slice.owner());
}

template <Expression X, std::size_t Rank>
auto broadcast_to(X&& x, std::int64_t const (&shape)[Rank]) {
  return broadcast_to(std::forward<X>(x), std::to_array(shape));
}

/// The elements, in C order, in another shape: reshape(x, {m, -1}). One extent may be -1: it
/// follows from the size and the other extents. Elements that don't lie side by side, as those of a
/// transposed array, are copied. Writing to a copy doesn't change the array, as in NumPy.
///
/// \throws PreconditionError if the sizes differ
template <Expression X, std::size_t Rank>
auto reshape(X&& x, std::array<std::int64_t, Rank> shape) {
  auto slice = elements_of(std::forward<X>(x));
  using S = decltype(slice);
  using T = typename S::element_type;
  auto const wanted = shape;
  auto const open = std::ranges::find(shape, -1);
  if (open != shape.end()) {
    *open = 1;
    std::int64_t const known = size_of(shape);
    *open = known > 0 ? slice.size() / known : -1;
  }
  bool const valid = std::ranges::all_of(shape, [](std::int64_t n) { return n >= 0; });
  if (!valid || size_of(shape) != slice.size())
    throw PreconditionError("an array of shape " + in_words(slice.shape()) +
                            " can't take the shape " + in_words(wanted) +
                            ": the numbers of elements differ");
  using Result = Slice<T, static_cast<int>(Rank), typename S::space>;
  if (slice.contiguous()) return Result(slice.data(), shape, c_strides(shape), slice.owner());
  Array<value_t<S>, S::rank, typename S::space> copied(slice);
  auto const whole = copied.all();
  return Result(whole.data(), shape, c_strides(shape), whole.owner());
}

template <Expression X, std::size_t Rank>
auto reshape(X&& x, std::int64_t const (&shape)[Rank]) {
  return reshape(std::forward<X>(x), std::to_array(shape));
}

/// All elements in C order, as a vector: NumPy's ravel.
template <Expression X>
auto ravel(X&& x) {
  return reshape(std::forward<X>(x), Shape<1>{-1});
}

/// The diagonal of a matrix that lies `above` columns above the main one: element i is x(i, i +
/// above).
///
/// \throws PreconditionError if the matrix has no such diagonal
template <Expression X>
  requires OfRank<X, 2>
auto diagonal(X&& x, std::int64_t above = 0) {
  auto const slice = elements_of(std::forward<X>(x));
  using S = std::remove_const_t<decltype(slice)>;
  auto const [rows, columns] = slice.shape();
  auto const [down, right] = slice.strides();
  if (above < -rows || above > columns)
    throw PreconditionError("a matrix of shape " + in_words(slice.shape()) + " has no diagonal " +
                            std::to_string(above));
  std::int64_t const row = std::max<std::int64_t>(-above, 0);
  std::int64_t const column = std::max<std::int64_t>(above, 0);
  std::int64_t const length = std::min(rows - row, columns - column);
  return Slice<typename S::element_type, 1, typename S::space>(
      slice.data() + (length > 0 ? row * down + column * right : 0), {length}, {down + right},
      slice.owner());
}

}  // namespace coir
