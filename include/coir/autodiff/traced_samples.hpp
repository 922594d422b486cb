#pragma once

/// Functions of samples in functions that value_and_grad or jvp differentiates: gradient, trapezoid
/// and interp. They are made of functions that have derivatives.

#include <coir/array/calculus.hpp>
#include <coir/array/interpolation.hpp>
#include <coir/array/sorting.hpp>
#include <coir/autodiff/forward_order.hpp>
#include <coir/autodiff/traced_gathers.hpp>
#include <coir/autodiff/traced_moves.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace coir {

/// An expression that has a derivative: of arguments of value_and_grad, or of arrays of duals.
template <class E>
concept DerivedExpression = DifferentiatedExpression<E> || ForwardExpression<E>;

namespace detail {

template <class... E>
concept AnyDerived = (DerivedExpression<std::remove_cvref_t<E>> || ...);

/// The numbers of a stored operand, without derivatives.
template <class S>
auto numbers_of_stored(S const& stored) {
  return evaluated(map(NumberPart{}, values_of(stored)));
}

/// `count` elements along an axis from `first` on.
template <class S>
auto samples(S const& stored, int axis, std::int64_t first, std::int64_t count) {
  auto const part = part_along(values_of(stored), axis, first, count);
  if constexpr (is_traced<S>)
    return stored.seen_as(part);
  else
    return part;
}

}  // namespace detail

/// The derivative of equally spaced samples along an axis.
///
/// \throws PreconditionError if there is no such axis, or it has fewer than 2 elements
template <DerivedExpression F>
  requires OfRankAtLeast<F, 1>
auto gradient(F const& f, double spacing, int axis) {
  if constexpr (DualExpression<F>) {
    return detail::stand_in<rank_of<F>>(f);
  } else {
    using Real = real_t<value_t<F>>;
    auto const x = detail::stored_operand(f);
    int const d = checked_axis(detail::values_of(x), axis);
    detail::expects_slope(detail::values_of(x), d);
    std::int64_t const n = x.shape()[d];
    auto const difference = [&](std::int64_t later, std::int64_t earlier, std::int64_t count,
                                double step) {
      return evaluate(
          (detail::samples(x, d, later, count) - detail::samples(x, d, earlier, count)) /
          static_cast<Real>(step));
    };
    return concatenate(d, difference(1, 0, 1, spacing), difference(2, 0, n - 2, 2 * spacing),
                       difference(n - 1, n - 2, 1, spacing));
  }
}
template <DerivedExpression F>
  requires OfRank<F, 1>
auto gradient(F const& f, double spacing = 1) {
  return gradient(f, spacing, 0);
}

/// The integral of equally spaced samples along an axis by the trapezoidal rule.
///
/// \throws PreconditionError if there is no such axis
template <DerivedExpression F>
  requires OfRankAtLeast<F, 1>
auto trapezoid(F const& f, double spacing = 1, int axis = -1) {
  if constexpr (DualExpression<F>) {
    return detail::stand_in<rank_of<F> - 1>(f);
  } else {
    auto const x = detail::stored_operand(f);
    int const d = checked_axis(detail::values_of(x), axis);
    std::int64_t const n = x.shape()[d], count = n > 0 ? n - 1 : 0;
    return detail::sum_along(
        static_cast<real_t<value_t<F>>>(spacing / 2) *
            (detail::samples(x, d, 0, count) + detail::samples(x, d, n - count, count)),
        d);
  }
}

namespace detail {

/// A table read at x, given what stands for the values beyond its ends.
template <class X, class P, class F, class Left, class Right>
auto read_derived_table(X const& x, P const& points, F const& values, Left const& left,
                        Right const& right) {
  std::int64_t const n = points.shape()[0];
  auto const at = numbers_of_stored(x), table = numbers_of_stored(points);
  auto const before = evaluated(
      clip(searchsorted(table, at, Side::right) - 1, 0, std::max<std::int64_t>(n - 2, 0)));
  auto const behind = evaluated(minimum(before + 1, n - 1));
  auto const low = evaluate(take(points, before)), high = evaluate(take(points, behind)),
             from = evaluate(take(values, before)), to = evaluate(take(values, behind));
  // A single point has no line, nor have two equal ones at the end: the value there is that of the
  // end.
  auto const width =
      evaluate(where(evaluated(numbers_of_stored(low) != numbers_of_stored(high)), high - low, 1));
  // Only the last point is reached from its left, exactly.
  auto const is_last = evaluated(at >= numbers_of_stored(high));
  auto const inside =
      evaluate(where(is_last, to, from) + (x - where(is_last, high, low)) / width * (to - from));
  auto const too_low = evaluated(at < table(range(0, 1))),
             too_high = evaluated(at > table(range(n - 1, n)));
  return evaluate(where(too_low, left, where(too_high, right, inside)));
}

}  // namespace detail

/// A table read at x, with the first and the last value beyond its ends. It has derivatives along
/// x, points and values. At a point the derivative along x is that to the right, at the last one
/// that to the left, and beyond the ends it is 0.
///
/// \throws PreconditionError if there are no points, or another number of values
template <class X, class P, class F>
  requires detail::TableAndPlaces<X, P, F> && detail::AnyDerived<X, P, F>
auto interp(X const& x, P const& points, F const& values) {
  if constexpr (DualExpression<X> || DualExpression<P> || DualExpression<F>) {
    return detail::stand_in<rank_of<X>>(x, points, values);
  } else {
    detail::expects_table(points, values);
    auto const f = detail::stored_operand(values);
    std::int64_t const n = f.shape()[0];
    return detail::read_derived_table(detail::stored_operand(x), detail::stored_operand(points), f,
                                      detail::samples(f, 0, 0, 1), detail::samples(f, 0, n - 1, 1));
  }
}

/// The same with given numbers beyond the ends.
///
/// \throws PreconditionError if there are no points, or another number of values
template <class X, class P, class F>
  requires detail::TableAndPlaces<X, P, F> && detail::AnyDerived<X, P, F>
auto interp(X const& x, P const& points, F const& values, double left, double right) {
  if constexpr (DualExpression<X> || DualExpression<P> || DualExpression<F>) {
    return detail::stand_in<rank_of<X>>(x, points, values);
  } else {
    detail::expects_table(points, values);
    return detail::read_derived_table(detail::stored_operand(x), detail::stored_operand(points),
                                      detail::stored_operand(values), left, right);
  }
}

}  // namespace coir
