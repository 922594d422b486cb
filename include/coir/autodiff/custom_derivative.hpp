#pragma once

/// \file
/// Derivatives written by hand, for functions that value_and_grad can't differentiate: transforms,
/// solvers, calls of another library. custom_vjp() joins a function and its derivative. A function
/// that is generic in its arguments' types has two overloads instead:
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
#include <coir/autodiff/detail/forward_arrays.hpp>
#include <coir/autodiff/detail/stand_in.hpp>
#include <coir/autodiff/traced.hpp>
#include <coir/autodiff/traced_moves.hpp>
#include <coir/autodiff/traced_reductions.hpp>

#include <cstdint>
#include <memory>
#include <tuple>
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

namespace detail {

/// A statement's way back that is called in any case.
template <class T, int Rank, class Space, class PullBack>
class AlwaysPulledBack : public TapeEntry {
 public:
  AlwaysPulledBack(std::shared_ptr<TapeNode<T, Space>> node, Shape<Rank> const& shape,
                   PullBack pull_back)
      : node_(std::move(node)), shape_(shape), pull_back_(std::move(pull_back)) {}

  void pull_back() override {
    auto const cotangent = node_->take_cotangent(shape_);
    pull_back_(Slice<T const, Rank, Space>(cotangent.as_operand()));
  }
  std::int64_t bytes() const override { return node_->bytes(); }

 private:
  std::shared_ptr<TapeNode<T, Space>> node_;
  Shape<Rank> shape_;
  PullBack pull_back_;
};

}  // namespace detail

/// with_pull_back() for functions that several ranks must call together: pull_back is called on the
/// way back even if nothing depends on the result or the result has no elements, with zeros as the
/// cotangent.
template <class X, int RankOfArgument, class T, int Rank, class Space, class PullBack>
Traced<T, Rank, Space> with_collective_pull_back(Traced<X, RankOfArgument, Space> const& argument,
                                                 Array<T, Rank, Space> const& result,
                                                 PullBack pull_back) {
  auto& tape = argument.node()->tape();
  auto node =
      std::make_shared<detail::TapeNode<T, Space>>(tape, result.data(), result.shape(), nullptr);
  tape.add(std::make_shared<detail::AlwaysPulledBack<T, Rank, Space, PullBack>>(
      node, result.shape(), std::move(pull_back)));
  return {result.all(), std::move(node)};
}

/// Adds to the cotangent of an argument of with_pull_back() or with_collective_pull_back().
///
/// \param more  of the argument's shape: the cotangent of the result times the derivative of the
///   result with respect to the argument
///
/// \throws PreconditionError if `more` has another shape
template <class T, int Rank, class Space, Expression E>
void add_to_cotangent(Traced<T, Rank, Space> const& argument, E const& more) {
  static_assert(rank_of<E> == Rank, "a cotangent has as many axes as its argument");
  if (more.shape() != argument.shape())
    throw PreconditionError("a derivative by hand gave a cotangent of shape " +
                            in_words(more.shape()) + " for an argument of shape " +
                            in_words(argument.shape()) + ": it needs the argument's shape");
  detail::add_cotangent(argument, more);
}

/// A linear function of an array of duals, which jvp makes.
///
/// \param f               applied to the values; it may add a constant term
/// \param of_derivatives  applied to the derivatives; f without its constant term
template <ForwardExpression X, class F, class G>
auto forward_linear(X const& x, F const& f, G const& of_derivatives) {
  return detail::join_parts(f(detail::value_part<detail::depth_among<X>>(x)),
                            of_derivatives(detail::derivative_part(x)));
}
template <ForwardExpression X, class F>
auto forward_linear(X const& x, F const& f) {
  return forward_linear(x, f, f);
}

namespace detail {

/// The elements that a function gets in place of an argument of value_and_grad, or of a constant.
template <class X>
using PlainSlice =
    Slice<std::conditional_t<DualExpression<X>, real_t<value_t<X>>, value_t<X>> const, rank_of<X>,
          typename X::space>;

}  // namespace detail

/// A function with a derivative of the user's own: see custom_vjp().
template <class F, class PullBack>
class CustomVjp {
 public:
  CustomVjp(F f, PullBack pull_back) : f_(std::move(f)), pull_back_(std::move(pull_back)) {}

  template <Expression... X>
  auto operator()(X const&... x) const {
    if constexpr (!detail::AnyDifferentiated<X...>) {
      return f_(x...);
    } else if constexpr ((DualExpression<X> || ...)) {
      using R = std::remove_cvref_t<decltype(f_(std::declval<detail::PlainSlice<X>>()...))>;
      using First = typename detail::FirstDual<value_t<X>...>::type;
      constexpr int directions = detail::directions_of<First>;
      detail::check_not_evaluated<X...>();
      if constexpr (Expression<R>)
        return detail::StandIn<Dual<value_t<R>, directions>, rank_of<R>, typename R::space>();
      else
        return detail::StandIn<Dual<R, directions>, 0, common_space_t<typename X::space...>>();
    } else {
      auto const arguments = std::tuple(detail::stored_operand(x)...);
      auto const result = std::apply(
          [&](auto const&... stored) {
            auto value = f_(detail::values_of(stored)...);
            if constexpr (Expression<decltype(value)>)
              return evaluate(value);
            else
              return detail::as_array_of_rank_0<common_space_t<typename X::space...>>(value);
          },
          arguments);
      using R = std::remove_const_t<decltype(result)>;
      using Cotangent = Slice<value_t<R> const, rank_of<R>, typename R::space>;
      return detail::taped(
          detail::tape_of(x...), result,
          [arguments, kept = Cotangent(result.as_operand()),
           pull_back = pull_back_](Cotangent const& cotangent) {
            std::apply(
                [&](auto const&... stored) {
                  auto const gradients = pull_back(cotangent, kept, detail::values_of(stored)...);
                  if constexpr (sizeof...(stored) == 1)
                    (add(stored, gradients), ...);
                  else
                    std::apply([&](auto const&... gradient) { (add(stored, gradient), ...); },
                               gradients);
                },
                arguments);
          });
    }
  }

 private:
  template <class Stored, class Gradient>
  static void add(Stored const& stored, Gradient const& gradient) {
    if constexpr (detail::is_traced<Stored>) add_to_cotangent(stored, gradient);
  }

  F f_;
  PullBack pull_back_;
};

/// f with a derivative of the user's own, for functions that value_and_grad differentiates: JAX's
/// custom_vjp.
///
/// \param f          takes arrays, and returns an array or a number
/// \param pull_back  takes the cotangent of f's result, a slice of its shape, the result, and f's
///   arguments; returns the cotangent of the argument, or a std::tuple of one for each, of the
///   arguments' shapes: the cotangent of the result times the derivative
/// \throws PreconditionError on the way back, if a cotangent hasn't its argument's shape
template <class F, class PullBack>
CustomVjp<F, PullBack> custom_vjp(F f, PullBack pull_back) {
  return {std::move(f), std::move(pull_back)};
}

}  // namespace coir
