#pragma once

/// Derivatives of functions of arrays along directions, beside the values in one pass: jvp. The
/// function is called with arrays of dual numbers. hvp is the derivative of a gradient along a
/// direction, the product of the Hessian and a vector.

#include <coir/array/creation.hpp>
#include <coir/autodiff/detail/forward_arrays.hpp>
#include <coir/autodiff/detail/program_gradient.hpp>
#include <coir/autodiff/forward_order.hpp>
#include <coir/autodiff/grad.hpp>
#include <coir/autodiff/jacobian.hpp>
#include <coir/autodiff/traced.hpp>
#include <coir/autodiff/traced_moves.hpp>
#include <coir/autodiff/traced_reductions.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

namespace detail {

/// An argument that changes along a direction: an array of duals, or a dual. Either may have
/// derivatives already, of any order.
template <class X, class V>
  requires(!Expression<X> && !Expression<V>)
auto moving(X const& x, V const& direction) {
  using T = floating_t<promote_t<X, std::conditional_t<is_dual<V>, V, X>>>;
  return JoinParts{}(T(x), T(direction));
}
template <Expression X, Expression V>
auto moving(X const& x, V const& direction) {
  static_assert(std::floating_point<value_t<X>> || is_dual<value_t<X>>,
                "jvp takes arrays of float or double");
  static_assert(rank_of<X> == rank_of<V>, "jvp takes a direction of the argument's shape");
  if (x.shape() != direction.shape())
    throw PreconditionError("jvp takes a direction of the argument's shape, which is " +
                            in_words(x.shape()) + ", not " + in_words(direction.shape()));
  using D = value_t<V>;
  using T = std::conditional_t<is_dual<D>, promote_t<value_t<X>, D>, value_t<X>>;
  return join_parts(in_type<T>(x), in_type<T>(direction));
}

/// What a function of arrays of duals returned, as values and derivatives. An expression without
/// axes becomes a number.
template <int Depth, class Y>
auto parts_of(Y const& y) {
  if constexpr (Expression<Y>) {
    if constexpr (rank_of<Y> == 0) {
      return parts_of<Depth>(evaluated(y).item());
    } else {
      auto const value = evaluated(value_part<Depth>(y));
      if constexpr (dual_depth<value_t<Y>> == Depth) {
        return ValueAndDerivative<std::remove_const_t<decltype(value)>>{value, derivative_part(y)};
      } else {
        auto zeros = evaluated(value);
        zeros = value_t<Y>(0);
        return ValueAndDerivative<decltype(zeros)>{value, zeros};
      }
    }
  } else if constexpr (is_dual<Y>) {
    if constexpr (dual_depth<Y> == Depth)
      return ValueAndDerivative<decltype(y.value)>{y.value, y.derivative[0]};
    else
      return ValueAndDerivative<Y>{y, Y(0)};
  } else if constexpr (std::is_arithmetic_v<Y>) {
    return ValueAndDerivative<Y>{y, Y(0)};
  } else {
    return std::apply(
        [](auto const&... each) {
          auto values = together(parts_of<Depth>(each).value...);
          return ValueAndDerivative<decltype(values)>{
              std::move(values), together(parts_of<Depth>(each).derivative...)};
        },
        y);
  }
}

template <class X>
inline constexpr int depth_of_argument = dual_depth<X>;
template <Expression X>
inline constexpr int depth_of_argument<X> = dual_depth<value_t<X>>;

template <class F, class... X, class... V>
auto jvp_of_arrays(F const& f, std::tuple<X...> const& x, std::tuple<V...> const& directions) {
  static_assert(sizeof...(X) == sizeof...(V), "jvp takes as many directions as arguments");
  static_assert(!AnyDifferentiated<X..., V...>,
                "jvp and hvp of arguments of value_and_grad have no derivative: use grad there");
  return [&]<std::size_t... K>(std::index_sequence<K...>) {
    return parts_of<1 + std::max({depth_of_argument<std::remove_cvref_t<X>>...,
                                  depth_of_argument<std::remove_cvref_t<V>>...})>(
        f(moving(std::get<K>(x), std::get<K>(directions))...));
  }(std::index_sequence_for<X...>{});
}

}  // namespace detail

/// The function (x, v) -> the Hessian of f at x times v, by one pass forward through f's gradient.
/// For a function of several arrays x and v are tuples, std::tuple(x, y), and the result is a
/// std::array or a std::tuple.
///
/// \param f  a generic function of arrays that returns one real number, as for value_and_grad
template <class F>
auto hvp(F f) {
  return [f](auto const& x, auto const& v) { return jvp(grad(f))(x, v).derivative; };
}

/// The function x -> the Jacobian of f at x, an array with the axes of the result and then those of
/// x. Each element of x is a column, and costs a pass forward. jacobian() takes a pass back for
/// each row.
///
/// \param f  a generic function of one array that returns an array; the result's axes and those of
///   x are 4 at most
/// \throws PreconditionError if x has no elements
template <class F>
auto jacfwd(F f) {
  return [f](auto const& x) {
    using X = std::remove_cvref_t<decltype(x)>;
    using T = value_t<X>;
    auto const column = [&](std::int64_t k) {
      auto const one =
          from_function<space_like<X>>(Shape<1>{size_of(x.shape())}, detail::UnitVector<T>{k});
      return jvp(f)(x, reshape(one, x.shape())).derivative;
    };
    using Y = decltype(column(0));
    static_assert(Expression<Y>,
                  "jacfwd is for functions that return an array: use grad for one "
                  "number");
    static_assert(rank_of<Y> + rank_of<X> <= 4,
                  "arrays have at most 4 axes, and a Jacobian has those of the result and those of "
                  "the argument: ravel them");
    std::int64_t const columns = size_of(x.shape());
    expects(columns > 0, "jacfwd takes arrays with elements");
    Array<value_t<Y>, rank_of<Y> + rank_of<X>, space_like<X>> result;
    for (std::int64_t k = 0; k < columns; ++k) {
      auto const found = column(k);
      std::int64_t const rows = found.size();
      if (k == 0) {
        Shape<rank_of<Y> + rank_of<X>> shape{};
        std::copy_n(x.shape().begin(), rank_of<X>,
                    std::copy_n(found.shape().begin(), rank_of<Y>, shape.begin()));
        result = Array<value_t<Y>, rank_of<Y> + rank_of<X>, space_like<X>>(shape);
      }
      if (rows > 0)
        reshape(result, Shape<2>{rows, columns})(range(), k) = reshape(found, Shape<1>{rows});
    }
    return result;
  };
}

namespace detail {

/// value_and_grad of arguments of another value_and_grad: both results are statements, and the way
/// back through the gradient is a product with the Hessian.
template <class F, class... X>
auto value_and_grad_inside(F const& f, X const&... x) {
  if constexpr ((DualExpression<X> || ...)) {
    auto gradients = together(real_stand_in<rank_of<X>>(x...)...);
    return ValueAndGradient<decltype(real_stand_in<0>(x...)), decltype(gradients)>{
        real_stand_in<0>(x...), std::move(gradients)};
  } else {
    using Space = common_space_t<typename X::space...>;
    auto const arguments = std::tuple(stored_operand(x)...);
    auto const values = std::apply(
        [](auto const&... stored) { return std::tuple(values_of(stored)...); }, arguments);
    auto const found = std::apply(value_and_grad(f), values);
    auto const gradients = [&] {
      if constexpr (sizeof...(X) == 1)
        return std::tuple(found.gradient);
      else
        return std::apply([](auto const&... g) { return std::tuple(g...); }, found.gradient);
    }();
    Tape& tape = tape_of(x...);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      auto const add = [](auto const& argument, auto const& more) {
        if constexpr (is_traced<std::remove_cvref_t<decltype(argument)>>)
          add_cotangent(argument, evaluated(more));
      };
      auto const slope = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
        auto const& gradient = std::get<I>(gradients);
        using G = std::remove_cvref_t<decltype(gradient)>;
        using Cotangent = Slice<value_t<G> const, G::rank, Space>;
        return taped(tape, gradient, [f, arguments, values, add](Cotangent const& cotangent) {
          auto const direction = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
            auto const& like = std::get<J>(values);
            Array<value_t<decltype(like)>, rank_of<decltype(like)>, Space> v(like.shape());
            if constexpr (I == J)
              v = cotangent;
            else
              v = value_t<decltype(like)>(0);
            return v;
          };
          auto const product =
              hvp(f)(values, std::tuple(direction(std::integral_constant<std::size_t, K>{})...));
          if constexpr (sizeof...(X) == 1)
            add(std::get<0>(arguments), product);
          else
            (add(std::get<K>(arguments), std::get<K>(product)), ...);
        });
      };
      auto value = taped(tape, as_array_of_rank_0<Space>(found.value),
                         [arguments, gradients, add](auto const& cotangent) {
                           (add(std::get<K>(arguments), cotangent * std::get<K>(gradients)), ...);
                         });
      auto slopes = together(slope(std::integral_constant<std::size_t, K>{})...);
      return ValueAndGradient<decltype(value), decltype(slopes)>{std::move(value),
                                                                 std::move(slopes)};
    }(std::index_sequence_for<X...>{});
  }
}

}  // namespace detail

}  // namespace coir
