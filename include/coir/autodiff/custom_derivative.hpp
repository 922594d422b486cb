#pragma once

/// \file
/// Derivatives written by hand, for functions that value_and_grad can't differentiate: transforms,
/// solvers, calls of another library. Such a function has two overloads:
///
///     // y[i] = x[0] + ... + x[i], whose derivative is the sum from the other end.
///     template <coir::DualExpression E>
///     auto running_sum(E const& x) {
///       return coir::trial_result<double, 1>(x);
///     }
///     template <coir::TracedExpression E>
///     auto running_sum(E const& x) {
///       auto const stored = evaluate(x);
///       auto const pull_back = [stored](auto const& cotangent) {
///         coir::add_to_cotangent(stored, coir::flip(running_sum(coir::flip(cotangent, 0)), 0));
///       };
///       return coir::with_pull_back(stored, running_sum(stored.values()), pull_back);
///     }
///
/// The first one is never run. The compiler needs its type to find out how the function that calls
/// it is differentiated. The second one runs.

#include <coir/array/array.hpp>
#include <coir/array/dual_elements.hpp>
#include <coir/autodiff/detail/dual_complex.hpp>
#include <coir/autodiff/detail/stand_in.hpp>
#include <coir/autodiff/traced.hpp>

#include <type_traits>
#include <utility>

namespace coir {

/// What the overload for DualExpression returns. It has the type of the result with derivatives,
/// and is never evaluated.
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
/// \param pull_back  a function that calls add_to_cotangent(argument, ...). It is called on the way
///   back with the cotangent of the result: a constant slice of the result's shape that holds the
///   derivative of the final value with respect to each element, for complex ones with respect to
///   the real and the imaginary part. It isn't called if nothing depends on the result.
template <class X, int RankOfArgument, class T, int Rank, class Space, class PullBack>
Traced<T, Rank, Space> with_pull_back(Traced<X, RankOfArgument, Space> const& argument,
                                      Array<T, Rank, Space> const& result, PullBack pull_back) {
  return detail::taped(argument.node()->tape(), result, std::move(pull_back));
}

/// Adds to the cotangent of an argument of with_pull_back().
///
/// \param more  of the argument's shape: the cotangent of the result times the derivative of the
///   result with respect to the argument
template <class T, int Rank, class Space, Expression E>
void add_to_cotangent(Traced<T, Rank, Space> const& argument, E const& more) {
  detail::add_cotangent(argument, more);
}

}  // namespace coir
