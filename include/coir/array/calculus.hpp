#pragma once

/// \file
/// Differences of neighbouring elements, angles without jumps, and derivatives and integrals of
/// sampled functions: NumPy's diff, unwrap, gradient and trapezoid.

#include <coir/array/axis_reductions.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/scan.hpp>
#include <coir/array/slices.hpp>

#include <algorithm>
#include <cstdint>
#include <numbers>
#include <string>
#include <type_traits>

namespace coir {

namespace detail {

/// x[i + 1] - x[i] along an axis, as an expression. For bool: whether the two differ, as in NumPy.
template <class T, int Rank, class Space>
auto neighbour_differences(Slice<T, Rank, Space> const& x, int axis) {
  std::int64_t const count = std::max<std::int64_t>(x.shape()[axis] - 1, 0);
  auto const later = part_along(x, axis, x.shape()[axis] - count, count);
  auto const earlier = part_along(x, axis, 0, count);
  if constexpr (std::is_same_v<std::remove_const_t<T>, bool>)
    return map(NotEqual{}, later, earlier);
  else
    return map(Subtract{}, later, earlier);
}

/// A vector as an array of `Rank` axes, with one element along all but one.
template <int Rank, class T, class Space>
Slice<T, Rank, Space> laid_along(Slice<T, 1, Space> const& x, int axis) {
  Shape<Rank> shape{};
  Strides<Rank> strides{};
  shape.fill(1);
  shape[axis] = x.shape()[0];
  strides[axis] = x.strides()[0];
  return {x.data(), shape, strides, x.owner()};
}

/// Coordinates of the elements along an axis of x.
template <class X, class Coordinates>
auto coordinates_along(X const& x, int axis, Coordinates const& coordinates) {
  auto const slice = elements_of(coordinates).as_operand();
  if (slice.shape()[0] != x.shape()[axis])
    throw PreconditionError("axis " + std::to_string(axis) + " of an array of shape " +
                            in_words(x.shape()) + " needs as many coordinates as elements, not " +
                            std::to_string(slice.shape()[0]));
  return laid_along<X::rank>(slice, axis);
}

template <class T, int Rank, class Space>
void expects_slope(Slice<T, Rank, Space> const& x, int axis) {
  if (x.shape()[axis] < 2)
    throw PreconditionError("a gradient needs at least 2 elements along axis " +
                            std::to_string(axis) + ", and the array has the shape " +
                            in_words(x.shape()));
}

/// (f[i + 1] - f[i]) / step for one i. The axis has one element in the result.
template <class F, class Step>
auto slope_at(F const& f, int axis, std::int64_t i, Step const& step) {
  return (part_along(f, axis, i + 1, 1) - part_along(f, axis, i, 1)) / step;
}

}  // namespace detail

/// x[i + 1] - x[i] along the last axis, which has one element less in the result. An expression.
/// For bool: whether the two differ.
template <Expression X>
  requires OfRankAtLeast<X, 1>
auto diff(X const& x) {
  return detail::neighbour_differences(elements_of(x), rank_of<X> - 1);
}

/// The n-th differences along an axis, which has n elements less in the result.
///
/// \throws PreconditionError if there is no such axis or n is negative
template <Expression X>
  requires OfRankAtLeast<X, 1>
auto diff(X const& x, int n, int axis = -1) {
  expects(n >= 0, "differences can be taken 0 or more times", n);
  auto const slice = elements_of(x);
  int const d = checked_axis(slice, axis);
  auto result = evaluate(slice);
  for (int taken = 0; taken < n; ++taken)
    result = evaluate(detail::neighbour_differences(result.all(), d));
  return result;
}

/// The derivative of equally spaced samples along an axis: (f[i + 1] - f[i - 1]) / (2 h) inside,
/// with the spacing h, and the one-sided difference at both ends.
///
/// \returns the shape of f; its element type, double for integers
/// \throws PreconditionError if there is no such axis, or it has fewer than 2 elements
template <Expression F>
  requires OfRankAtLeast<F, 1>
auto gradient(F const& f, double spacing, int axis) {
  auto const values = elements_of(detail::to_floating(f));
  int const d = checked_axis(values, axis);
  detail::expects_slope(values, d);
  std::int64_t const n = values.shape()[d];
  auto result = empty_like(values);
  auto const target = result.all();
  detail::part_along(target, d, 1, n - 2) =
      (detail::part_along(values, d, 2, n - 2) - detail::part_along(values, d, 0, n - 2)) /
      (2 * spacing);
  detail::part_along(target, d, 0, 1) = detail::slope_at(values, d, 0, spacing);
  detail::part_along(target, d, n - 1, 1) = detail::slope_at(values, d, n - 2, spacing);
  return result;
}

/// The derivative of equally spaced samples in a vector.
template <Expression F>
  requires OfRank<F, 1>
auto gradient(F const& f, double spacing = 1) {
  return gradient(f, spacing, 0);
}

/// The derivative along an axis of samples at given coordinates, equally spaced or not:
///
///     (h^2 f[i + 1] + (k^2 - h^2) f[i] - k^2 f[i - 1]) / (h k (h + k))
///
/// with the steps h to the sample before and k to the one behind.
///
/// \param coordinates  one axis, as many as f has elements along the axis; neighbours differ
template <Expression F, Expression X>
  requires(rank_of<F> >= 1) && (rank_of<X> == 1) && SameSpace<F, X>
auto gradient(F const& f, X const& coordinates, int axis) {
  auto const values = elements_of(detail::to_floating(f));
  using Real = real_t<value_t<decltype(values)>>;
  int const d = checked_axis(values, axis);
  detail::expects_slope(values, d);
  auto const places = detail::coordinates_along(values, d, cast<Real>(coordinates));
  auto const steps = evaluate(detail::neighbour_differences(places, d));
  std::int64_t const n = values.shape()[d];
  auto result = empty_like(values);
  auto const target = result.all();
  auto const step = [&](std::int64_t first, std::int64_t count) {
    return detail::part_along(steps.all(), d, first, count);
  };
  auto const before = step(0, n - 2), behind = step(1, n - 2);
  detail::part_along(target, d, 1, n - 2) =
      before / (behind * (before + behind)) * detail::part_along(values, d, 2, n - 2) +
      (behind - before) / (before * behind) * detail::part_along(values, d, 1, n - 2) -
      behind / (before * (before + behind)) * detail::part_along(values, d, 0, n - 2);
  detail::part_along(target, d, 0, 1) = detail::slope_at(values, d, 0, step(0, 1));
  detail::part_along(target, d, n - 1, 1) = detail::slope_at(values, d, n - 2, step(n - 2, 1));
  return result;
}
template <Expression F, Expression X>
  requires(rank_of<F> == 1) && (rank_of<X> == 1) && SameSpace<F, X>
auto gradient(F const& f, X const& coordinates) {
  return gradient(f, coordinates, 0);
}

namespace detail {

/// The sum along an axis; a number for a vector.
template <class E>
auto sum_along(E const& x, int axis) {
  if constexpr (rank_of<E> == 1)
    return sum(x);
  else
    return sum(x, axis);
}

/// f[i] + f[i + 1] along an axis, as an expression.
template <class T, int Rank, class Space>
auto neighbour_sums(Slice<T, Rank, Space> const& f, int axis) {
  std::int64_t const count = std::max<std::int64_t>(f.shape()[axis] - 1, 0);
  return part_along(f, axis, 0, count) + part_along(f, axis, f.shape()[axis] - count, count);
}

}  // namespace detail

/// The integral of equally spaced samples along an axis by the trapezoidal rule: spacing (f[0] / 2
/// + f[1] + ... + f[n - 1] / 2). 0 for fewer than 2 samples.
///
/// \returns a number for a vector, otherwise an array without the axis; double for integers
/// \throws PreconditionError if there is no such axis
template <Expression F>
  requires OfRankAtLeast<F, 1>
auto trapezoid(F const& f, double spacing = 1, int axis = -1) {
  auto const values = elements_of(detail::to_floating(f));
  int const d = checked_axis(values, axis);
  return detail::sum_along((spacing / 2) * detail::neighbour_sums(values, d), d);
}

/// The integral of samples at given coordinates along an axis by the trapezoidal rule: the sum of
/// (x[i + 1] - x[i]) (f[i] + f[i + 1]) / 2.
///
/// \param coordinates  one axis, as many as f has elements along the axis
/// \throws PreconditionError also if their number differs
template <Expression F, Expression X>
  requires(rank_of<F> >= 1) && (rank_of<X> == 1) && SameSpace<F, X>
auto trapezoid(F const& f, X const& coordinates, int axis = -1) {
  auto const values = elements_of(detail::to_floating(f));
  using Real = real_t<value_t<decltype(values)>>;
  int const d = checked_axis(values, axis);
  auto const places = detail::coordinates_along(values, d, cast<Real>(coordinates));
  return detail::sum_along(
      detail::neighbour_differences(places, d) * 0.5 * detail::neighbour_sums(values, d), d);
}

namespace detail {

/// The number of periods to take off a difference so that at most half a period is left.
struct PeriodsBetween {
  double period;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION double operator()(T const& later, T const& earlier) const {
    double const periods = (static_cast<double>(later) - static_cast<double>(earlier)) / period;
    // Differences of half a period stay as they are, rising or falling.
    double const whole = math::ceil(math::abs(periods) - 0.5);
    return math::copysign(whole, periods);
  }
};

}  // namespace detail

/// Angles without jumps: whole periods are added, so that neighbours differ by at most half a
/// period. NumPy's unwrap. Integers give doubles.
///
/// \param axis    the last one by default
/// \param period  2 pi by default
/// \throws PreconditionError if there is no such axis, or the period isn't above 0 and finite
template <Expression X>
  requires OfRankAtLeast<X, 1> && detail::RealOperand<X>
auto unwrap(X const& x, int axis = -1, double period = 2 * std::numbers::pi) {
  expects(period > 0 && math::isfinite(period), "the period of unwrap must be above 0 and finite",
          period);
  using T = floating_t<value_t<X>>;
  auto result = evaluate(cast<T>(x));
  auto const all = result.all();
  int const d = checked_axis(all, axis);
  std::int64_t const n = all.shape()[d];
  if (n < 2) return result;
  auto const later = detail::part_along(all, d, 1, n - 1);
  auto const periods =
      cumsum(map(detail::PeriodsBetween{period}, later, detail::part_along(all, d, 0, n - 1)), d);
  later = cast<T>(later - period * periods);
  return result;
}

}  // namespace coir
