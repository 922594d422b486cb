#pragma once

/// \file
/// Linear interpolation in tables: NumPy's interp.

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/slices.hpp>

#include <cstdint>
#include <string>
#include <type_traits>

namespace coir {

namespace detail {

/// A table with straight lines between its points.
template <class X, class F>
struct ReadTable {
  X const* points;
  F const* values;
  std::int64_t size;
  bool ends_given;
  F left, right;  // the values beyond the ends if ends_given, else the first and the last one are

  KOKKOS_FORCEINLINE_FUNCTION F operator()(X const& x) const {
    if (x != x) return F(x);
    std::int64_t before = 0, count = size;  // in the end `before` points are at x or left of it
    while (count > 0) {
      std::int64_t const half = count / 2;
      bool const skip = points[before + half] <= x;
      before = skip ? before + half + 1 : before;
      count = skip ? count - half - 1 : half;
    }
    if (before == 0) return ends_given ? left : values[0];
    std::int64_t const i = before - 1;
    if (points[i] == x) return values[i];
    if (before == size) return ends_given ? right : values[size - 1];
    F const slope = (values[i + 1] - values[i]) / (points[i + 1] - points[i]);
    F result = slope * (x - points[i]) + values[i];
    // NaN may come of infinite values: interpolate from the other point, or take the common value.
    if (result != result) result = slope * (x - points[i + 1]) + values[i + 1];
    if (result != result && values[i] == values[i + 1]) result = values[i];
    if constexpr (std::is_floating_point_v<F>)
      if (!math::isfinite(points[i + 1] - points[i]) || !math::isfinite(slope))
        return between_far_points(i, x, result);
    return result;
  }

 private:
  /// Interpolates halves where points or values are so far apart that their differences overflow.
  KOKKOS_FUNCTION F between_far_points(std::int64_t i, X x, F result) const {
    X const low = points[i] / X(2), high = points[i + 1] / X(2);
    F const below = values[i], above = values[i + 1];
    if (!math::isfinite(high - low) || !math::isfinite(below) || !math::isfinite(above))
      return result;
    F const share = static_cast<F>((x / X(2) - low) / (high - low));
    return (F(1) - share) * below + share * above;
  }
};

template <class P, class F>
void expects_table(P const& points, F const& values) {
  if (points.shape()[0] != values.shape()[0] || points.shape()[0] == 0)
    throw PreconditionError("a table needs as many values as points, at least one, not " +
                            std::to_string(values.shape()[0]) + " at " +
                            std::to_string(points.shape()[0]));
}

template <class X, class P, class F>
using table_point_t = floating_t<promote_t<value_t<X>, value_t<P>>>;
template <class X, class P, class F>
using table_value_t = floating_t<promote_t<value_t<F>, table_point_t<X, P, F>>>;

/// The types of real numbers, a table's points, and its values, in one memory space.
template <class X, class P, class F>
concept TableAndPlaces =
    Expression<X> && Expression<P> && Expression<F> && SameSpace<X, P, F> && rank_of<P> == 1 &&
    rank_of<F> == 1 && !is_complex<value_t<X>> && !is_complex<value_t<P>>;

template <class X, class P, class F, class Value>
auto read_table(X const& x, P const& points, F const& values, bool ends_given, Value left,
                Value right) {
  using Point = table_point_t<X, P, F>;
  expects_table(points, values);
  auto const table_points = evaluate(cast<Point>(points));
  auto const table_values = evaluate(cast<Value>(values));
  ReadTable<Point, Value> const read{
      table_points.data(), table_values.data(), table_points.size(), ends_given, left, right};
  return evaluate(map(read, cast<Point>(x)));
}

}  // namespace detail

/// A table read at x, with straight lines between its points: NumPy's interp(x, points, values,
/// left, right).
///
/// \param x       of any shape, which the result has, too
/// \param points  one axis, in ascending order; not checked
/// \param values  as many as points; real or complex
/// \param left    the value for x before the first point
/// \param right   the value for x behind the last point
/// \throws PreconditionError if there are no points, or another number of values
template <class X, class P, class F>
  requires detail::TableAndPlaces<X, P, F>
auto interp(X const& x, P const& points, F const& values, detail::table_value_t<X, P, F> left,
            detail::table_value_t<X, P, F> right) {
  return detail::read_table(x, points, values, true, left, right);
}

/// A table read at x, with the first and the last value beyond its ends: NumPy's interp(x, points,
/// values).
///
/// \throws PreconditionError if there are no points, or another number of values
template <class X, class P, class F>
  requires detail::TableAndPlaces<X, P, F>
auto interp(X const& x, P const& points, F const& values) {
  using Value = detail::table_value_t<X, P, F>;
  return detail::read_table(x, points, values, false, Value(0), Value(0));
}

}  // namespace coir
