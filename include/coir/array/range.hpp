#pragma once

/// \file
/// Indices of arrays besides integers: ranges and new axes.

#include <coir/core/errors.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace coir {

/// A bound that a range leaves open: NumPy's None.
struct Open {};

/// To the end of the axis, or from its start if the step is negative.
inline constexpr Open end{};

/// An integer as a signed one of 64 bits. Larger ones become the largest, which is outside of every
/// axis.
template <std::integral I>
constexpr std::int64_t as_index(I index) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return std::cmp_greater(+index, most) ? most : static_cast<std::int64_t>(index);
}

/// One bound of a range. Negative ones count from the end of the axis.
class Bound {
 public:
  Bound(std::integral auto value) : value_(as_index(value)) {}
  Bound(Open) : open_(true) {}

  bool open() const { return open_; }

  /// The position on an axis of `extent` elements.
  std::int64_t on(std::int64_t extent) const { return value_ < 0 ? value_ + extent : value_; }

 private:
  std::int64_t value_ = 0;
  bool open_ = false;
};

namespace detail {

[[noreturn]] void fail_by_bound(std::int64_t position, std::int64_t extent, int axis);

}  // namespace detail

/// Every step-th index from start to before stop, as NumPy's start:stop:step.
struct Range {
  Bound start;
  Bound stop;
  std::int64_t step;

  /// A range on an axis: the first index and the number of indices.
  struct Placed {
    std::int64_t first;
    std::int64_t count;
  };

  /// \throws PreconditionError if a bound lies outside of [-extent, extent], or the step is 0
  Placed on(std::int64_t extent, int axis) const {
    expects(step != 0, "the step of a range must not be 0");
    auto const place = [&](Bound const& bound, std::int64_t if_open) {
      if (bound.open()) return if_open;
      std::int64_t const position = bound.on(extent);
      if (position < 0 || position > extent) detail::fail_by_bound(position, extent, axis);
      return position;
    };
    // The indices lie in [0, extent), so that no difference overflows; a step may be of any size.
    if (step > 0) {
      std::int64_t const first = place(start, 0), last = place(stop, extent);
      return {first, first < last ? (last - first - 1) / step + 1 : 0};
    }
    std::int64_t const first = place(start, extent - 1), last = place(stop, -1);
    std::int64_t const from = first < extent ? first : extent - 1;  // NumPy's x[n::-1]
    return {from, from > last ? (last - from + 1) / step + 1 : 0};
  }
};

/// The whole axis: NumPy's ":".
inline Range range() { return {end, end, 1}; }

/// The indices start, start + step, ... before stop: NumPy's start:stop:step. Negative bounds count
/// from the end; range(end, end, -1) is the whole axis backwards.
inline Range range(Bound start, Bound stop, std::int64_t step = 1) { return {start, stop, step}; }

/// Adds an axis of one element at its place among the indices: NumPy's newaxis.
struct NewAxis {};
inline constexpr NewAxis newaxis{};

/// An index of one axis of an array: an integer, a range, or newaxis.
template <class I>
concept Index = std::integral<I> || std::same_as<I, Range> || std::same_as<I, NewAxis>;

}  // namespace coir
