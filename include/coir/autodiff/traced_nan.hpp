#pragma once

/// Reductions that leave NaN out, in functions that value_and_grad or jvp differentiates. Elements
/// that are NaN have the derivative 0.

#include <coir/array/nan_reductions.hpp>
#include <coir/autodiff/traced_samples.hpp>

#include <cstdint>
#include <limits>

namespace coir {

namespace detail {

/// x with a number in place of NaN.
template <class E>
auto number_for_nan(E const& x, double number) {
  if constexpr (DualExpression<E>) {
    return stand_in<rank_of<E>>(x);
  } else {
    auto const stored = stored_operand(x);
    auto const are_nan = evaluated(isnan(numbers_of_stored(stored)));
    return evaluate(where(are_nan, static_cast<real_t<value_t<E>>>(number), stored));
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

/// How many numbers there are less ddof, of all elements or along an axis; NaN in place of 0 and
/// less.
template <class E, class... Axis>
auto numbers_left(E const& x, std::int64_t ddof, Axis... axis) {
  using T = real_t<value_t<E>>;
  CountLess<T> const less{ddof};
  if constexpr (DualExpression<E> && sizeof...(Axis) > 0)
    return stand_in<rank_of<E> - 1>(x);
  else if constexpr (DualExpression<E>)
    return T(1);
  else if constexpr (sizeof...(Axis) == 0)
    return less(count_nonzero(numbers_in(numbers_of_stored(stored_operand(x)))));
  else
    return evaluated(
        map(less, count_nonzero(numbers_in(numbers_of_stored(stored_operand(x))), axis...)));
}

/// NaN where no numbers are, and otherwise 0.
template <class E, class... Axis>
auto nan_without_numbers(E const& x, Axis... axis) {
  return 0 * numbers_left(x, 0, axis...);
}

}  // namespace detail

/// The sum of the numbers. 0 if there are none.
template <DerivedExpression E>
auto nansum(E const& x) {
  return sum(detail::number_for_nan(x, 0));
}
template <DerivedExpression E>
auto nansum(E const& x, int axis) {
  return sum(detail::number_for_nan(x, 0), axis);
}

/// The product of the numbers. 1 if there are none.
template <DerivedExpression E>
auto nanprod(E const& x) {
  return prod(detail::number_for_nan(x, 1));
}
template <DerivedExpression E>
auto nanprod(E const& x, int axis) {
  return prod(detail::number_for_nan(x, 1), axis);
}

/// The smallest number; equal ones share the derivative.
///
/// \throws PreconditionError if there are no elements
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanmin(E const& x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return min(detail::number_for_nan(x, infinity)) + detail::nan_without_numbers(x);
}
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanmin(E const& x, int axis) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return min(detail::number_for_nan(x, infinity), axis) + detail::nan_without_numbers(x, axis);
}

/// The largest number; equal ones share the derivative.
///
/// \throws PreconditionError if there are no elements
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanmax(E const& x) {
  return -nanmin(-x);
}
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanmax(E const& x, int axis) {
  return -nanmin(-x, axis);
}

/// The mean of the numbers.
template <DerivedExpression E>
auto nanmean(E const& x) {
  return nansum(x) / detail::numbers_left(x, 0);
}
template <DerivedExpression E>
auto nanmean(E const& x, int axis) {
  return nansum(x, axis) / detail::numbers_left(x, 0, axis);
}

/// The variance of the numbers: the sum of squared distances from the mean, over n - ddof.
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanvar(E const& x, Ddof ddof = Ddof(0)) {
  auto const middle = evaluate(nanmean(x));
  return nansum(square(x - middle)) / detail::numbers_left(x, ddof.number());
}
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanvar(E const& x, int axis, Ddof ddof = Ddof(0)) {
  auto const middle = with_axis(evaluate(nanmean(x, axis)), axis);
  return nansum(square(x - middle), axis) / detail::numbers_left(x, ddof.number(), axis);
}

/// The standard deviation of the numbers. Its derivative at 0 is not finite.
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanstd(E const& x, Ddof ddof = Ddof(0)) {
  return sqrt(nanvar(x, ddof));
}
template <DerivedExpression E>
  requires detail::RealOperand<E>
auto nanstd(E const& x, int axis, Ddof ddof = Ddof(0)) {
  return sqrt(nanvar(x, axis, ddof));
}

/// Sums from the first element on, with 0 in place of NaN.
///
/// \throws PreconditionError if there is no such axis
template <DerivedExpression E>
  requires OfRankAtLeast<E, 1>
auto nancumsum(E const& x, int axis) {
  return cumsum(detail::number_for_nan(x, 0), axis);
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
  return cumprod(detail::number_for_nan(x, 1), axis);
}
template <DerivedExpression E>
  requires OfRank<E, 1>
auto nancumprod(E const& x) {
  return nancumprod(x, 0);
}

}  // namespace coir
