#pragma once

/// \file
/// The gradient of a function of any statements, by a tape: forward once, then back through all
/// statements.

#include <coir/array/array.hpp>
#include <coir/autodiff/grad.hpp>
#include <coir/autodiff/traced_reductions.hpp>

#include <array>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir::detail {

/// An argument as a Traced. Arrays are read where they are.
template <class T, class Space, class E>
Traced<T, rank_of<E>, Space> traced_argument(Tape& tape, E const& x) {
  constexpr int rank = rank_of<E>;
  using Values = Slice<T const, rank, Space>;
  Values const values = [&]() -> Values {
    if constexpr (requires { x.as_operand(); }) {
      Values const elements = x.as_operand();
      if (elements.contiguous()) return elements;
    }
    return Array<T, rank, Space>(x).as_operand();
  }();
  return {values,
          std::make_shared<TapeNode<T, Space>>(tape, values.data(), values.shape(), nullptr)};
}

/// Several gradients: a std::array if they have the same rank, otherwise a std::tuple.
template <class First, class... Rest>
auto together(First&& first, Rest&&... rest) {
  if constexpr (sizeof...(Rest) == 0)
    return std::remove_cvref_t<First>(std::forward<First>(first));
  else if constexpr ((std::is_same_v<First, Rest> && ...))
    return std::array<First, 1 + sizeof...(Rest)>{std::forward<First>(first),
                                                  std::forward<Rest>(rest)...};
  else
    return std::tuple<First, Rest...>(std::forward<First>(first), std::forward<Rest>(rest)...);
}

/// The value of a program, for its type.
template <class F, class... X>
auto value_of_program(F const& f, std::tuple<X...> const& arguments)
    -> value_t<decltype(std::apply(f, arguments))>;

/// The value of f, a traced array of rank 0.
template <class F, class... X>
auto traced_value(F const& f, std::tuple<X...> const& arguments) {
  auto const returned =
      std::apply([&](auto const&... argument) { return f(argument...); }, arguments);
  static_assert(TracedExpression<decltype(returned)>,
                "the function that is differentiated returns what doesn't depend on its "
                "arguments");
  using V = value_t<decltype(returned)>;
  static_assert(rank_of<decltype(returned)> == 0 && (std::floating_point<V> || is_dual<V>),
                "the function that is differentiated must return one real number");
  return evaluate(returned);
}

/// Calls f, and goes back through its statements.
///
/// \param take_value  called with f's value, an array of rank 0, before the way back
template <class Space, class F, class... X, class TakeValue>
void differentiate(Tape& tape, F const& f, std::tuple<X...> const& arguments,
                   TakeValue const& take_value) {
  auto const result = traced_value(f, arguments);
  using V = value_t<std::remove_const_t<decltype(result)>>;
  take_value(result.values());
  add_cotangent(result, as_array_of_rank_0<Space>(V(1)));
  tape.pull_back();
}

template <class Space, class F, class... X>
auto gradient_of_program(F const& f, X const&... x) {
  Tape tape;
  std::tuple const arguments(traced_argument<value_t<X>, Space>(tape, x)...);
  auto const value = [&] {
    std::optional<decltype(value_of_program(f, arguments))> found;
    differentiate<Space>(tape, f, arguments, [&](auto const& result) { found = result.item(); });
    return *found;
  }();
  using V = std::remove_const_t<decltype(value)>;
  return std::apply(
      [&](auto const&... argument) {
        auto gradients = together(argument.node()->take_cotangent(argument.shape())...);
        return ValueAndGradient<V, decltype(gradients)>{value, std::move(gradients)};
      },
      arguments);
}

}  // namespace coir::detail
