#pragma once

/// \file
/// Derivatives written by hand, for functions that value_and_grad can't look into: transforms, solvers, a call of another
/// library. Such a function has one overload for DualExpression and one for TracedExpression:
///
///     // y[i] = x[0] + ... + x[i], whose derivative is the sum from the other end.
///     template <coir::DualExpression E>
///     auto running_sum(E const& x) {
///       return coir::trial_result<double, 1>(x);
///     }
///     template <coir::TracedExpression E>
///     auto running_sum(E const& x) {
///       auto const stored = evaluate(x);
///       return coir::with_pull_back(stored, running_sum(stored.values()), [stored](auto const& cotangent) {
///         coir::add_to_cotangent(stored, coir::flip(running_sum(coir::flip(cotangent, 0)), 0));
///       });
///     }
///
/// value_and_grad calls the first one while it finds out how the function around can be differentiated, for the compiler
/// alone, and the second one when it runs.

#include <coir/array/array.hpp>
#include <coir/array/dual_elements.hpp>
#include <coir/autodiff/detail/dual_complex.hpp>
#include <coir/autodiff/detail/stand_in.hpp>
#include <coir/autodiff/traced.hpp>

#include <type_traits>
#include <utility>

namespace coir {

/// What a function returns for an expression of dual numbers where one pass can't differentiate it: something of the type that the
/// result's elements have with their derivatives, which is never evaluated.
///
/// \tparam T     the type of the result's elements, a real or complex number
/// \tparam Rank  the result's number of axes
template <Element T, int Rank, DualExpression E>
auto trial_result(E const&) {
  detail::check_not_evaluated<E>();
  constexpr int directions = detail::directions_of<value_t<E>>;
  using D = std::conditional_t<is_complex<T>, detail::DualComplex<real_t<T>, directions>,
                               Dual<real_t<T>, directions>>;
  return detail::StandIn<D, Rank, typename E::space>();
}

/// The result of a function of one array, with its derivative.
///
/// \param argument   what the function was called with, evaluated
/// \param result     what it computed from argument.values()
/// \param pull_back  called on the way back, unless nothing depends on the result, with its cotangent: a slice of constants in the
///                   result's shape, the derivative of the final value along each element, for complex ones along the real part
///                   and the imaginary part. It calls add_to_cotangent(argument, ...)
template <class X, int RankOfArgument, class T, int Rank, class Space, class PullBack>
Traced<T, Rank, Space> with_pull_back(Traced<X, RankOfArgument, Space> const& argument,
                                      Array<T, Rank, Space> const& result, PullBack pull_back) {
  return detail::taped(argument.node()->tape(), result, std::move(pull_back));
}

/// Adds to the cotangent of an argument of with_pull_back().
///
/// \param more  in the argument's shape: the result's cotangent times the derivative of the result along the argument
template <class T, int Rank, class Space, Expression E>
void add_to_cotangent(Traced<T, Rank, Space> const& argument, E const& more) {
  detail::add_cotangent(argument, more);
}

}  // namespace coir
