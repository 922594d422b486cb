#pragma once

/// \file
/// Arrays with a margin around them: NumPy's pad.

#include <coir/array/creation.hpp>
#include <coir/array/slices.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace coir {

/// The width of a margin: 2 (everywhere), {1, 2} (before and behind, along each axis), or
/// {{1, 2}, {0, 3}, ...} (a pair for each axis).
class Margin {
 public:
  struct Sides {
    std::int64_t before, behind;
  };

  Margin(std::integral auto everywhere)
      : Margin(static_cast<std::int64_t>(everywhere), static_cast<std::int64_t>(everywhere)) {}
  Margin(std::int64_t before, std::int64_t behind) { sides_[0] = checked({before, behind}); }
  Margin(std::initializer_list<Sides> sides) : axes_(static_cast<int>(sides.size())) {
    expects(axes_ >= 1 && axes_ <= 4, "a margin has 1 to 4 pairs of widths", axes_);
    std::size_t d = 0;
    for (Sides const& pair : sides) sides_[d++] = checked(pair);
  }

  /// The widths along an axis of an array.
  Sides along(int axis) const { return sides_[axes_ == 1 ? 0 : static_cast<std::size_t>(axis)]; }

  /// \throws PreconditionError unless there is a pair for each of `rank` axes, or one for all
  void expects_rank(int rank) const {
    expects(axes_ == 1 || axes_ == rank,
            "a margin has one pair of widths, or as many as the array has axes: " + in_words(rank),
            axes_);
  }

 private:
  static Sides checked(Sides const& sides) {
    expects(sides.before >= 0, "the widths of a margin must be 0 or more", sides.before);
    expects(sides.behind >= 0, "the widths of a margin must be 0 or more", sides.behind);
    return sides;
  }

  std::array<Sides, 4> sides_{};
  int axes_ = 1;
};

/// The elements of a margin, here around 1 2 3.
enum class Pad {
  edge,       ///< 1 1 [1 2 3] 3 3: the nearest element
  reflect,    ///< 3 2 [1 2 3] 2 1: mirrored at the last element
  symmetric,  ///< 2 1 [1 2 3] 3 2: mirrored at the array's edge
  wrap        ///< 2 3 [1 2 3] 1 2: periodic
};

namespace detail {

/// Element (i, j, ...) of a padded array.
template <class T, int Rank>
struct PaddedElement {
  T const* data;
  std::int64_t strides[Rank], extents[Rank], before[Rank];
  Pad pad;

  template <class... I>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(I... indices) const {
    std::int64_t const at[] = {indices...};
    std::int64_t offset = 0;
    for (int d = 0; d < Rank; ++d) offset += along(d, at[d]);
    return data[offset];
  }

  /// How far from the first element that one is which stands at an index of an axis.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t along(int axis, std::int64_t index) const {
    return source(index - before[axis], extents[axis]) * strides[axis];
  }

 private:
  /// The index in [0, n) of the element that is taken for i, which may lie outside.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t source(std::int64_t i, std::int64_t n) const {
    if (i >= 0 && i < n) return i;
    if (pad == Pad::edge || n == 1) return i < 0 ? 0 : n - 1;
    std::int64_t const period = pad == Pad::wrap ? n : pad == Pad::symmetric ? 2 * n : 2 * (n - 1);
    std::int64_t const within = (i % period + period) % period;
    if (within < n) return within;
    return pad == Pad::symmetric ? period - 1 - within : period - within;
  }
};

/// Writes rows of a padded array, on hosts: their margins element by element, and copies between.
template <class T, int Rank>
struct PadRows {
  PaddedElement<T, Rank> element;
  RowNumbers<Rank - 1> rows;
  T* to;
  std::int64_t columns;

  void stretch(std::int64_t row, std::int64_t begin, std::int64_t end) const {
    constexpr int last = Rank - 1;
    Place<last> const at = rows.place(row);
    T const* from = element.data;
    for (int d = 0; d < last; ++d) from += element.along(d, at.index[d]);
    T* const out = to + row * columns;
    std::int64_t const first = element.before[last], step = element.strides[last],
                       inner = std::clamp(first, begin, end),
                       behind = std::clamp(first + element.extents[last], begin, end);
    for (std::int64_t c = begin; c < inner; ++c) out[c] = from[element.along(last, c)];
    if (step == 1)
      std::copy(from + (inner - first), from + (behind - first), out + inner);
    else
      for (std::int64_t c = inner; c < behind; ++c) out[c] = from[(c - first) * step];
    for (std::int64_t c = behind; c < end; ++c) out[c] = from[element.along(last, c)];
  }
};

template <std::size_t Rank>
std::array<std::int64_t, Rank> padded_shape(std::array<std::int64_t, Rank> shape,
                                            Margin const& margin) {
  margin.expects_rank(static_cast<int>(Rank));
  for (std::size_t d = 0; d < Rank; ++d) {
    Margin::Sides const sides = margin.along(static_cast<int>(d));
    shape[d] = joined_extent(joined_extent(shape[d], sides.before), sides.behind);
  }
  return shape;
}

}  // namespace detail

/// The array with a margin of one number, by default 0: pad(x, 1), pad(x, {1, 2}, 7.0).
///
/// \throws PreconditionError if a width is negative, or their number isn't that of the axes
template <Expression X>
  requires OfRankAtLeast<X, 1>
auto pad(X const& x, Margin const& margin, value_t<X> number = value_t<X>(0)) {
  auto const shape = x.shape();
  auto result = full<value_t<X>, space_like<X>>(detail::padded_shape(shape, margin), number);
  auto const whole = result.all();
  using S = std::remove_const_t<decltype(whole)>;
  std::int64_t first = 0;
  for (int d = 0; d < rank_of<X>; ++d) first += margin.along(d).before * whole.strides()[d];
  if (size_of(shape) > 0) S(whole.data() + first, shape, whole.strides(), whole.owner()) = x;
  return result;
}

/// The array with a margin of its own elements: see Pad. A margin may be wider than the array.
///
/// \throws PreconditionError if a width is negative, their number isn't that of the axes, or an
///   axis that gets a margin has no elements
template <Expression X>
  requires OfRankAtLeast<X, 1>
auto pad(X const& x, Margin const& margin, Pad how) {
  auto const slice = elements_of(x).as_operand();
  auto const shape = detail::padded_shape(slice.shape(), margin);
  detail::PaddedElement<value_t<X>, rank_of<X>> element{slice.data(), {}, {}, {}, how};
  for (int d = 0; d < rank_of<X>; ++d) {
    element.strides[d] = slice.strides()[d];
    element.extents[d] = slice.shape()[d];
    element.before[d] = margin.along(d).before;
    if (slice.shape()[d] == 0 && shape[d] > 0)
      throw PreconditionError("axis " + std::to_string(d) + " of an array of shape " +
                              in_words(slice.shape()) +
                              " has no element to stand in a margin: give a number");
  }
  using Exec = typename space_like<X>::execution_space;
  if constexpr (runs_on_host<Exec>) {
    auto result = empty<value_t<X>, space_like<X>>(shape);
    detail::PadRows<value_t<X>, rank_of<X>> body{element, {}, result.data(), shape[rank_of<X> - 1]};
    std::int64_t rows = 1;
    for (int d = 0; d + 1 < rank_of<X>; ++d) rows *= body.rows.extent[d] = shape[d];
    for_each("coir::array::padding", detail::instance<Exec>(),
             box<2, std::int64_t>({rows, body.columns}), body);
    return result;
  } else {
    return from_function<space_like<X>>(shape, element);
  }
}

}  // namespace coir
