#pragma once

/// Reductions that leave NaN out, in functions that value_and_grad or jvp differentiates. Elements
/// that are NaN have the derivative 0.

#include <coir/array/nan_reductions.hpp>
#include <coir/autodiff/traced_samples.hpp>

#include <cstdint>
#include <limits>

namespace coir {

namespace detail {

/// x in memory.
template <class E>
auto stored_for_nan(E const& x) {
  if constexpr (DualExpression<E>)
    return stand_in<rank_of<E>>(x);
  else
    return stored_operand(x);
}

/// What stored_for_nan() made with a number in place of NaN.
template <class S>
auto number_for_nan(S const& stored, double number) {
  if constexpr (DualExpression<S>) {
    return stored;
  } else {
    auto const are_nan = evaluated(isnan(numbers_of_stored(stored)));
    return evaluate(where(are_nan, static_cast<real_t<value_t<S>>>(number), stored));
  }
}

/// A count less ddof; NaN in place of 0 and less.
template <class T>
struct CountLess {
  std::int64_t ddof;
  KOKKOS_FUNCTION T operator()(std::int64_t count) const {
    return count > ddof ? static_cast<T>(count - ddof) : std::numeric_limits<T>::quiet_NaN();
  }
};

/// How many numbers stored_for_nan() kept less ddof, of all elements or along an axis; NaN in place
/// of 0 and less.
template <class S, class... Axis>
auto numbers_left(S const& stored, std::int64_t ddof, Axis... axis) {
  using T = real_t<value_t<S>>;
  CountLess<T> const less{ddof};
  if constexpr (DualExpression<S> && sizeof...(Axis) > 0)
    return stand_in<rank_of<S> - 1>(stored);
  else if constexpr (DualExpression<S>)
    return T(1);
  else if constexpr (sizeof...(Axis) == 0)
    return less(count_nonzero(numbers_in(numbers_of_stored(stored))));
  else
    return evaluated(map(less, count_nonzero(numbers_in(numbers_of_stored(stored)), axis...)));
}

template <class S, class... Axis>
auto mean_of_stored_numbers(S const& stored, Axis... axis) {
  return sum(number_for_nan(stored, 0), axis...) / numbers_left(stored, 0, axis...);
}

}  // namespace detail

/// The sum of the numbers. 0 if there are none.
template <DerivedExpression E, class... Axis>
  requires detail::AxisOrNone<Axis...>
auto nansum(E const& x, Axis... axis) {
  return sum(detail::number_for_nan(detail::stored_for_nan(x), 0), axis...);
}

/// The product of the numbers. 1 if there are none.
template <DerivedExpression E, class... Axis>
  requires detail::AxisOrNone<Axis...>
auto nanprod(E const& x, Axis... axis) {
  return prod(detail::number_for_nan(detail::stored_for_nan(x), 1), axis...);
}

/// The smallest number; equal ones share the derivative.
///
/// \throws PreconditionError if there are no elements
template <DerivedExpression E, class... Axis>
  requires detail::RealOperand<E> && detail::AxisOrNone<Axis...>
auto nanmin(E const& x, Axis... axis) {
  auto const stored = detail::stored_for_nan(x);
  auto const numbers = detail::number_for_nan(stored, std::numeric_limits<double>::infinity());
  // NaN where there are no numbers.
  return min(numbers, axis...) + 0 * detail::numbers_left(stored, 0, axis...);
}

/// The largest number; equal ones share the derivative.
///
/// \throws PreconditionError if there are no elements
template <DerivedExpression E, class... Axis>
  requires detail::RealOperand<E> && detail::AxisOrNone<Axis...>
auto nanmax(E const& x, Axis... axis) {
  return -nanmin(-x, axis...);
}

/// The mean of the numbers.
template <DerivedExpression E, class... Axis>
  requires detail::AxisOrNone<Axis...>
auto nanmean(E const& x, Axis... axis) {
  return detail::mean_of_stored_numbers(detail::stored_for_nan(x), axis...);
}

/// The variance of the numbers: the sum of squared distances from the mean, over n - ddof.
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanvar(E const& x, Ddof ddof = Ddof(0)) {
  auto const stored = detail::stored_for_nan(x);
  auto const middle = evaluate(detail::mean_of_stored_numbers(stored));
  return nansum(square(stored - middle)) / detail::numbers_left(stored, ddof.number());
}
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanvar(E const& x, int axis, Ddof ddof = Ddof(0)) {
  auto const stored = detail::stored_for_nan(x);
  auto const middle = with_axis(evaluate(detail::mean_of_stored_numbers(stored, axis)), axis);
  return nansum(square(stored - middle), axis) / detail::numbers_left(stored, ddof.number(), axis);
}

/// The standard deviation of the numbers: the root of nanvar, whose arguments it takes. Its
/// derivative at 0 is not finite.
template <DerivedExpression E, class... Arguments>
  requires detail::RealOperand<E>
auto nanstd(E const& x, Arguments... arguments) {
  return sqrt(nanvar(x, arguments...));
}

/// Sums from the first element on, with 0 in place of NaN.
///
/// \throws PreconditionError if there is no such axis
template <DerivedExpression E>
  requires OfRankAtLeast<E, 1>
auto nancumsum(E const& x, int axis) {
  return cumsum(detail::number_for_nan(detail::stored_for_nan(x), 0), axis);
}
template <DerivedExpression E>
  requires OfRank<E, 1>
auto nancumsum(E const& x) {
  return nancumsum(x, 0);
}

/// Products from the first element on, with 1 in place of NaN.
///
/// \throws PreconditionError if there is no such axis
template <DerivedExpression E>
  requires OfRankAtLeast<E, 1>
auto nancumprod(E const& x, int axis) {
  return cumprod(detail::number_for_nan(detail::stored_for_nan(x), 1), axis);
}
template <DerivedExpression E>
  requires OfRank<E, 1>
auto nancumprod(E const& x) {
  return nancumprod(x, 0);
}

}  // namespace coir
