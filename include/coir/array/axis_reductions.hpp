#pragma once

/// \file
/// Reductions along one axis of an expression, which isn't stored. The result lacks that axis:
/// sum(x, 0) of a 3 x 4 array has 4 elements. Negative axes count from the last. with_axis() puts
/// an axis of one element back, so that the result broadcasts against the array (NumPy's keepdims).
///
/// Sums are pairwise. Bits don't depend on the number of threads.

#include <coir/array/detail/kernels/reduce_axis.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/slices.hpp>

namespace coir {

namespace detail {

template <class E>
std::int64_t extent_along(E const& x, int axis) {
  constexpr int rank = rank_of<E>;
  if (axis < -rank || axis >= rank)
    throw PreconditionError("axis " + std::to_string(axis) + " is none of an array of shape " +
                            in_words(x.shape()));
  return x.shape()[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)];
}

template <class E>
void expects_elements_along(E const& x, int axis, char const* what) {
  if (extent_along(x, axis) == 0 && size_of(x.shape()) == 0)
    throw PreconditionError(std::string("there is no ") + what + " along axis " +
                            std::to_string(axis) + " of an array of shape " + in_words(x.shape()) +
                            ": it has no elements there");
}

}  // namespace detail

/// sum(x, axis) for arrays. Overloads of sum() call it for their value.
template <Expression E>
auto sum_of_elements(E const& x, int axis) {
  return detail::reduce_axis(operand(x), axis, detail::Sum<value_t<E>, detail::on_host<E>>{});
}

/// Sums along an axis; integers and bool are added in 64 bits.
///
/// \throws PreconditionError if there is no such axis, as all functions of this file
template <Expression E>
auto sum(E const& x, int axis) {
  return sum_of_elements(x, axis);
}

/// Products along an axis; integers in 64 bits.
template <Expression E>
auto prod(E const& x, int axis) {
  return detail::reduce_axis(operand(x), axis, detail::Product<value_t<E>>{});
}

/// The smallest elements along an axis, NaN where there is one.
///
/// \throws PreconditionError if the axis has no elements
template <Expression E>
  requires detail::RealOperand<E>
auto min(E const& x, int axis) {
  detail::expects_elements_along(x, axis, "minimum");
  return detail::reduce_axis(operand(x), axis, detail::Min<value_t<E>>{});
}

/// The largest elements along an axis, NaN where there is one.
///
/// \throws PreconditionError if the axis has no elements
template <Expression E>
  requires detail::RealOperand<E>
auto max(E const& x, int axis) {
  detail::expects_elements_along(x, axis, "maximum");
  return detail::reduce_axis(operand(x), axis, detail::Max<value_t<E>>{});
}

/// The index along an axis of the first smallest element, or of the first NaN.
///
/// \throws PreconditionError if the axis has no elements
template <Expression E>
  requires detail::RealOperand<E>
auto argmin(E const& x, int axis) {
  detail::expects_elements_along(x, axis, "smallest element");
  return detail::reduce_axis(operand(x), axis, detail::ArgExtreme<value_t<E>, false>{});
}

/// The index along an axis of the first largest element, or of the first NaN.
///
/// \throws PreconditionError if the axis has no elements
template <Expression E>
  requires detail::RealOperand<E>
auto argmax(E const& x, int axis) {
  detail::expects_elements_along(x, axis, "largest element");
  return detail::reduce_axis(operand(x), axis, detail::ArgExtreme<value_t<E>, true>{});
}

/// Whether any element along an axis isn't 0.
template <Expression E>
auto any(E const& x, int axis) {
  return detail::reduce_axis(operand(x), axis, detail::Any<value_t<E>>{});
}

/// Whether no element along an axis is 0.
template <Expression E>
auto all(E const& x, int axis) {
  return detail::reduce_axis(operand(x), axis, detail::All<value_t<E>>{});
}

/// How many elements along an axis aren't 0.
template <Expression E>
auto count_nonzero(E const& x, int axis) {
  return detail::reduce_axis(operand(x), axis, detail::CountNonzero<value_t<E>>{});
}

/// Means along an axis; of integers in double.
///
/// \throws PreconditionError if the axis has no elements
template <Expression E>
auto mean(E const& x, int axis) {
  detail::expects_elements_along(x, axis, "mean");
  using T = real_t<detail::mean_t<value_t<E>>>;
  auto result = sum(detail::to_floating(x), axis);
  result /= static_cast<T>(detail::extent_along(x, axis));
  return result;
}

/// Variances along an axis: the sum of |x - mean|^2 over n - ddof.
///
/// \throws PreconditionError unless the axis has more than ddof elements
template <Expression E>
auto var(E const& x, int axis, Ddof ddof = Ddof(0)) {
  std::int64_t const divisor = ddof.divisor(detail::extent_along(x, axis));
  auto const values = detail::to_floating(x);
  auto const middle = mean(values, axis);
  auto result = sum(map(detail::SquaredAbs{}, values - with_axis(middle, axis)), axis);
  using T = value_t<decltype(result)>;
  result /= static_cast<T>(divisor);
  return result;
}

/// Standard deviations along an axis: roots of the variances.
template <Expression E>
auto std_dev(E const& x, int axis, Ddof ddof = Ddof(0)) {
  auto result = var(x, axis, ddof);
  result = sqrt(result);
  return result;
}

/// Euclidean norms along an axis.
template <Expression E>
auto norm(E const& x, int axis) {
  auto result = sum(map(detail::SquaredAbs{}, detail::to_floating(x)), axis);
  result = sqrt(result);
  return result;
}

}  // namespace coir
