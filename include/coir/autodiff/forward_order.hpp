#pragma once

/// Functions that compare elements, for arrays of duals: min, max, sort, quantiles, unwrap.

#include <coir/array/calculus.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/quantile.hpp>
#include <coir/array/sorting.hpp>
#include <coir/autodiff/detail/forward_arrays.hpp>
#include <coir/autodiff/detail/program_gradient.hpp>
#include <coir/autodiff/traced_moves.hpp>
#include <coir/autodiff/traced_reductions.hpp>

#include <cstdint>
#include <numbers>

namespace coir {

namespace detail {

struct NumberPart {
  template <class D>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(D const& x) const {
    return number_of(x);
  }
};

/// An extreme with its derivative, the mean of the derivatives of all elements that equal it.
template <class E, class Extreme, class Stretch, class Sum>
auto forward_extreme(E const& x, Extreme const& extreme, Stretch const& stretch,
                     Sum const& sum_up) {
  auto const values = value_part<depth_among<E>>(x);
  auto const derivatives = derivative_part(x);
  auto const top = extreme(values);
  auto const is_it = evaluated(map(IsExtreme{}, values, stretch(top)));
  return join_parts(top, sum_up(is_it * derivatives) / sum_up(is_it));
}
template <class E, class Extreme>
auto forward_extreme(E const& x, Extreme const& extreme) {
  return forward_extreme(
      x, extreme, [](auto const& number) { return Constant(number); },
      [](auto const& terms) { return sum(terms); });
}
template <class E, class Extreme>
auto forward_extreme(E const& x, int axis, Extreme const& extreme) {
  return forward_extreme(
      x, extreme, [axis](auto const& tops) { return with_axis(tops, axis); },
      [axis](auto const& terms) { return sum(terms, axis); });
}

/// An element of an array sorted along an axis. Elements are numbered in C order of (before the
/// axis, along it, behind it).
template <class T>
struct InOrder {
  T const* unsorted;
  std::int64_t const* order;
  std::int64_t along, behind;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(std::int64_t i) const {
    std::int64_t const row = i / (along * behind), within = i % behind;
    return unsorted[(row * along + order[i]) * behind + within];
  }
};

/// Quantiles along axis d of derivatives that were sorted by their values.
template <class T, int Rank, class Space, bool Several>
auto forward_quantiles(Array<T, Rank, Space> const& sorted, Asked<Several> const& q, int d) {
  auto const one = [&](double share) {
    std::int64_t const n = sorted.shape()[d], below = rank_below(share, n);
    auto const fraction =
        static_cast<real_t<T>>(share * static_cast<double>(n - 1) - static_cast<double>(below));
    auto const low = sum(part_along(sorted.as_operand(), d, below, 1), d);
    if (below + 1 >= n) return low;
    auto const high = sum(part_along(sorted.as_operand(), d, below + 1, 1), d);
    return evaluated((1 - fraction) * low + fraction * high);
  };
  if constexpr (!Several) {
    return one(q.shares[0]);
  } else {
    Shape<Rank> shape{static_cast<std::int64_t>(q.shares.size())};
    for (int at = 0, to = 1; at < Rank; ++at)
      if (at != d) shape[to++] = sorted.shape()[at];
    Array<T, Rank, Space> result(shape);
    for (std::int64_t k = 0; k < shape[0]; ++k)
      part_along(result.all(), 0, k, 1) = with_axis(one(q.shares[static_cast<std::size_t>(k)]), 0);
    return result;
  }
}

/// quantile(), percentile() and median() call these.
template <ForwardExpression E, bool Several>
auto quantiles_of(E const& x, Asked<Several> const& q, int axis) {
  auto const values = value_part<depth_among<E>>(x);
  int const d = checked_axis(values.as_operand(), axis);
  auto const found = quantiles_of(values, q, d);
  auto const sorted = evaluated(map(DerivativePart{}, sort(x, d)));
  return join_parts(found, forward_quantiles(sorted, q, d));
}
template <ForwardExpression E, bool Several>
auto quantiles_of(E const& x, Asked<Several> const& q) {
  expects(size_of(x.shape()) > 0, "there is no quantile of an array without elements");
  auto const flat = evaluated(reshape(x, Shape<1>{size_of(x.shape())}));
  if constexpr (Several)
    return quantiles_of(flat, q, 0);
  else
    return quantiles_of(flat, q, 0).item();
}

}  // namespace detail

/// The extremes of arrays of duals. Elements that equal an extreme share its derivative.
///
/// \throws PreconditionError if there are no elements
template <ForwardExpression E>
  requires detail::RealOperand<E>
auto min(E const& x) {
  return detail::forward_extreme(x, [](auto const& values) { return min(values); });
}
template <ForwardExpression E>
  requires detail::RealOperand<E>
auto max(E const& x) {
  return detail::forward_extreme(x, [](auto const& values) { return max(values); });
}
template <ForwardExpression E>
  requires detail::RealOperand<E>
auto min(E const& x, int axis) {
  return detail::forward_extreme(x, axis, [axis](auto const& values) { return min(values, axis); });
}
template <ForwardExpression E>
  requires detail::RealOperand<E>
auto max(E const& x, int axis) {
  return detail::forward_extreme(x, axis, [axis](auto const& values) { return max(values, axis); });
}

/// The indices that sort arrays of duals by their values.
///
/// \throws PreconditionError if there is no such axis
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1> && detail::carries_derivatives<value_t<E>> && (!DualExpression<E>)
auto argsort(E const& x, int axis = -1) {
  return argsort(map(detail::NumberPart{}, x), axis);
}

/// Arrays of duals sorted by their values, along an axis, by default the last one.
///
/// \throws PreconditionError if there is no such axis
template <detail::Ordered E>
  requires OfRankAtLeast<E, 1> && ForwardExpression<E>
auto sort(E const& x, int axis = -1) {
  using D = value_t<E>;
  auto const elements = detail::in_c_order(x);
  auto const order = argsort(elements, axis);
  int const d = checked_axis(elements, axis);
  std::int64_t behind = 1;
  for (int at = d + 1; at < rank_of<E>; ++at) behind *= elements.shape()[at];
  auto const sorted = from_function<typename decltype(order)::space>(
      Shape<1>{elements.size()},
      detail::InOrder<D>{elements.data(), order.data(), elements.shape()[d], behind});
  return detail::evaluated(reshape(sorted, elements.shape()));
}

/// Angles without jumps. The number of periods has no derivative.
///
/// \throws PreconditionError if there is no such axis, or the period isn't above 0
template <ForwardExpression X>
  requires OfRankAtLeast<X, 1> && detail::RealOperand<X>
auto unwrap(X const& x, int axis = -1, double period = 2 * std::numbers::pi) {
  auto const numbers = detail::evaluated(map(detail::NumberPart{}, x));
  return detail::evaluated(x + (unwrap(numbers, axis, period) - numbers));
}

}  // namespace coir
