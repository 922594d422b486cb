#pragma once

/// \file
/// Values that count as constants where value_and_grad differentiates: JAX's stop_gradient.

#include <coir/autodiff/array_grad.hpp>

#include <type_traits>

namespace coir {

/// The values of an expression, whose derivative counts as 0. Arrays and numbers that don't depend
/// on an argument of value_and_grad are returned as they are.
template <class X>
  requires Expression<X> || std::is_arithmetic_v<X> || is_dual<X> || detail::AnObjective<X>
auto stop_gradient(X const& x) {
  if constexpr (detail::AnObjective<X>)
    return evaluate(x);
  else if constexpr (DualExpression<X>)
    return detail::stand_in<rank_of<X>>(x);
  else if constexpr (TracedExpression<X>)
    return stop_gradient(evaluate(x).values());
  else if constexpr (ForwardExpression<X>)
    return detail::evaluated(map(detail::NumberPart{}, x));
  else if constexpr (is_dual<X>)
    return detail::number_of(x);
  else if constexpr (Expression<X>)
    return operand(x);
  else
    return x;
}

}  // namespace coir
