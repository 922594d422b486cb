#pragma once

/// \file
/// Derivatives of functions of a few numbers, by dual numbers, on hosts and in kernels.
///
/// Each function here takes a function f of one or more numbers, generic in their type, and returns
/// a new function of the same arguments:
///
///     auto const slope = coir::grad([](auto x) { return x * sin(x); });
///     slope(2.0)                                    // sin 2 + 2 cos 2
///
/// The arguments take their common type, double for integers; f is called once with duals that have
/// one direction per argument. In kernels for devices f must be callable there: a struct with
/// KOKKOS_FUNCTION, or a lambda that the compiler accepts. grad and value_and_grad also take
/// arrays: see array_grad.hpp.

#include <coir/array/dual_elements.hpp>
#include <coir/array/numbers.hpp>

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

namespace coir {

struct ExpressionBase;  // what arrays derive from

/// A function's value and its gradient.
template <class V, class G>
struct ValueAndGradient {
  V value;
  G gradient;
};

/// A function's value and its derivative along a direction.
template <class V>
struct ValueAndDerivative {
  V value;
  V derivative;
};

template <class F>
auto jacfwd(F f);

namespace detail {

template <class F, class... X, class... V>
auto jvp_of_arrays(F const& f, std::tuple<X...> const& x, std::tuple<V...> const& directions);

/// A number to differentiate at: a plain one, or a dual for higher orders.
template <class X>
concept Differentiable = std::is_arithmetic_v<X> || is_dual<X>;

template <class X>
concept AnArray = std::derived_from<X, ExpressionBase>;

/// Arguments that are all numbers.
template <class... X>
concept AllNumbers = (Differentiable<X> && ...) && (sizeof...(X) > 0);
template <class... X>
concept AllArrays = (AnArray<X> && ...) && (sizeof...(X) > 0);

/// Arrays, and numbers beside them.
template <class... X>
concept ArraysAndNumbers =
    (AnArray<X> || ...) && !AllArrays<X...> && ((AnArray<X> || std::is_arithmetic_v<X>) && ...);

template <class... X>
struct ArgumentOf {
  using type = floating_t<promoted_t<X...>>;
};
template <class... X>
  requires(is_dual<X> || ...)
struct ArgumentOf<X...> {
  using type = dual_among_t<X...>;
};
/// The common type that arguments are converted to.
template <class... X>
using argument_t = typename ArgumentOf<X...>::type;

template <class R>
inline constexpr bool is_several = requires(R const& r) {
  r[0];
  std::tuple_size<R>::value;
};

/// A result of f as a D. If it doesn't depend on the arguments, it is a constant.
template <class D, class R>
KOKKOS_FORCEINLINE_FUNCTION constexpr D as_dual(R const& result) {
  static_assert(std::convertible_to<R, D>,
                "the function to differentiate must return a number made of its arguments, such as "
                "x * sin(y): it must be generic in their type");
  return D(result);
}

/// f of some dual numbers.
COIR_CALLS_WHAT_IT_IS_GIVEN
template <class F, class... D>
KOKKOS_FORCEINLINE_FUNCTION constexpr auto called_with(F const& f, D const&... x) {
  constexpr bool callable = requires { f(x...); };
  static_assert(callable,
                "the function to differentiate can't be called with dual numbers, one for each "
                "argument: it must be generic in their type, [](auto x, auto y) { ... }");
  if constexpr (callable)
    return f(x...);
  else
    return 0;
}

/// f at the variables x..., each along a direction of its own.
COIR_CALLS_WHAT_IT_IS_GIVEN
template <class F, std::size_t... K, class... X>
KOKKOS_FORCEINLINE_FUNCTION constexpr auto at_variables(F const& f, std::index_sequence<K...>,
                                                        X const&... x) {
  using T = argument_t<X...>;
  using D = Dual<T, static_cast<int>(sizeof...(X))>;
  return called_with(f, D::variable(static_cast<T>(x), static_cast<int>(K))...);
}

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr auto gradient_of(Dual<T, N> const& y) {
  if constexpr (N == 1) {
    return y.derivative[0];
  } else {
    Numbers<T, N> gradient{};
    COIR_UNROLL
    for (int k = 0; k < N; ++k) gradient[k] = y.derivative[k];
    return gradient;
  }
}

}  // namespace detail

// Other arguments are refused in one line of the compiler's.

template <class F>
struct ValueAndGradOf {
  F f;

  COIR_CALLS_WHAT_IT_IS_GIVEN
  template <class... X>
    requires detail::AllNumbers<X...>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto operator()(X const&... x) const {
    using T = detail::argument_t<X...>;
    using D = Dual<T, static_cast<int>(sizeof...(X))>;
    D const y = detail::as_dual<D>(detail::at_variables(f, std::index_sequence_for<X...>{}, x...));
    return ValueAndGradient<T, decltype(detail::gradient_of(y))>{y.value, detail::gradient_of(y)};
  }

  template <class... X>
    requires detail::AllArrays<X...>
  auto operator()(X const&... x) const {
    return value_and_grad_of_arrays(f, x...);  // in array_grad.hpp
  }

  template <class... X>
    requires detail::ArraysAndNumbers<X...>
  auto operator()(X const&... x) const {
    return value_and_grad_beside_numbers(f, x...);  // in array_grad.hpp
  }

  template <class... X>
    requires(!detail::AllNumbers<X...> && !detail::AllArrays<X...> &&
             !detail::ArraysAndNumbers<X...>)
  auto operator()(X const&...) const {
    static_assert(sizeof...(X) > 0,
                  "grad(f) and value_and_grad(f) are called with what f is to be called with");
    static_assert(sizeof...(X) == 0,
                  "grad and value_and_grad take real numbers, and arrays of coir's: "
                  "coir::borrow(view) makes one of a View");
    return ValueAndGradient<double, double>{};
  }
};

template <class F>
struct GradOf {
  F f;

  COIR_CALLS_WHAT_IT_IS_GIVEN
  template <class... X>
    requires detail::AllNumbers<X...>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto operator()(X const&... x) const {
    return ValueAndGradOf<F>{f}(x...).gradient;
  }

  template <class... X>
    requires(!detail::AllNumbers<X...>)
  auto operator()(X const&... x) const {
    return ValueAndGradOf<F>{f}(x...).gradient;
  }
};

template <class F>
struct JacobianOf {
  F f;

  COIR_CALLS_WHAT_IT_IS_GIVEN
  template <class... X>
    requires detail::AllNumbers<X...>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto operator()(X const&... x) const {
    using T = detail::argument_t<X...>;
    using D = Dual<T, static_cast<int>(sizeof...(X))>;
    auto const y = detail::at_variables(f, std::index_sequence_for<X...>{}, x...);
    using Y = std::remove_const_t<decltype(y)>;
    static_assert(detail::is_several<Y>,
                  "jacobian is for functions that return several numbers: numbers(x * y, x + y); "
                  "use grad for one");
    constexpr int rows = static_cast<int>(std::tuple_size<Y>::value);
    using Row = decltype(detail::gradient_of(D()));
    Numbers<Row, rows> result{};
    COIR_UNROLL
    for (int i = 0; i < rows; ++i) result[i] = detail::gradient_of(detail::as_dual<D>(y[i]));
    return result;
  }

  template <detail::AnArray X>
  auto operator()(X const& x) const {
    return jacobian_of_array(f, x);  // in jacobian.hpp
  }

  template <class... X>
    requires(!detail::AllNumbers<X...> && !(sizeof...(X) == 1 && detail::AllArrays<X...>))
  auto operator()(X const&...) const {
    static_assert(detail::never<X...>, "jacobian takes real numbers, one or more, or one array");
    return 0;
  }
};

template <class F>
struct HessianOf {
  F f;

  COIR_CALLS_WHAT_IT_IS_GIVEN
  template <class... X>
    requires detail::AllNumbers<X...>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto operator()(X const&... x) const {
    using T = detail::argument_t<X...>;
    constexpr int n = static_cast<int>(sizeof...(X));
    using Inner = Dual<T, n>;
    using Outer = Dual<Inner, n>;
    Outer const y =
        detail::as_dual<Outer>(at_second_variables(std::index_sequence_for<X...>{}, x...));
    if constexpr (n == 1) {
      return y.derivative[0].derivative[0];
    } else {
      Numbers<Numbers<T, n>, n> result{};
      COIR_UNROLL
      for (int i = 0; i < n; ++i) result[i] = detail::gradient_of(y.derivative[i]);
      return result;
    }
  }

  template <detail::AnArray X>
  auto operator()(X const& x) const {
    return jacfwd(GradOf<F>{f})(x);  // in forward.hpp
  }

  template <class... X>
    requires(!detail::AllNumbers<X...> && !(sizeof...(X) == 1 && detail::AllArrays<X...>))
  auto operator()(X const&...) const {
    static_assert(detail::never<X...>, "hessian takes real numbers, one or more, or one array");
    return 0;
  }

 private:
  COIR_CALLS_WHAT_IT_IS_GIVEN
  template <std::size_t... K, class... X>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto at_second_variables(
      std::index_sequence<K...> directions, X const&... x) const {
    using T = detail::argument_t<X...>;
    using Inner = Dual<T, static_cast<int>(sizeof...(X))>;
    return detail::at_variables(f, directions,
                                Inner::variable(static_cast<T>(x), static_cast<int>(K))...);
  }
};

template <class F>
struct JvpOf {
  F f;

  /// At a point along a direction, for a function of one number.
  COIR_CALLS_WHAT_IT_IS_GIVEN
  template <detail::Differentiable X, detail::Differentiable V>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto operator()(X const& x, V const& direction) const {
    using T = detail::argument_t<X, V>;
    return (*this)(Numbers<T, 1>{{static_cast<T>(x)}}, Numbers<T, 1>{{static_cast<T>(direction)}});
  }

  /// At a point along a direction, for a function of several numbers.
  COIR_CALLS_WHAT_IT_IS_GIVEN
  template <class X, class V, int N>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto operator()(Numbers<X, N> const& x,
                                                        Numbers<V, N> const& direction) const {
    using T = detail::argument_t<X, V>;
    return taken_apart<T>(along(std::make_index_sequence<N>{}, x, direction));
  }

  /// At an array along an array of its shape.
  template <detail::AnArray X, detail::AnArray V>
  auto operator()(X const& x, V const& direction) const {
    return detail::jvp_of_arrays(f, std::tuple<X const&>(x), std::tuple<V const&>(direction));
  }

  /// At several arrays and numbers, along as many.
  template <class... X, class... V>
  auto operator()(std::tuple<X...> const& x, std::tuple<V...> const& directions) const {
    return detail::jvp_of_arrays(f, x, directions);  // in forward.hpp
  }

  template <class... X>
  auto operator()(X const&...) const {
    static_assert(detail::never<X...>,
                  "jvp(f) takes a point and a direction: two real numbers or arrays, for functions "
                  "of several numbers(x, y, ...) twice, or std::tuple(x, y, ...) with arrays");
    return ValueAndDerivative<double>{};
  }

 private:
  COIR_CALLS_WHAT_IT_IS_GIVEN
  template <std::size_t... K, class X, class V, int N>
  KOKKOS_FORCEINLINE_FUNCTION constexpr auto along(std::index_sequence<K...>,
                                                   Numbers<X, N> const& x,
                                                   Numbers<V, N> const& direction) const {
    using T = detail::argument_t<X, V>;
    return detail::called_with(f, argument(static_cast<T>(x[static_cast<int>(K)]),
                                           static_cast<T>(direction[static_cast<int>(K)]))...);
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr Dual<T, 1> argument(T const& x, T const& speed) {
    Dual<T, 1> result(x);
    result.derivative[0] = speed;
    return result;
  }

  template <class T, class Y>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr auto taken_apart(Y const& y) {
    using D = Dual<T, 1>;
    if constexpr (detail::is_several<Y>) {
      constexpr int rows = static_cast<int>(std::tuple_size<Y>::value);
      ValueAndDerivative<Numbers<T, rows>> result{};
      COIR_UNROLL
      for (int i = 0; i < rows; ++i) {
        D const d = detail::as_dual<D>(y[i]);
        result.value[i] = d.value;
        result.derivative[i] = d.derivative[0];
      }
      return result;
    } else {
      D const d = detail::as_dual<D>(y);
      return ValueAndDerivative<T>{d.value, d.derivative[0]};
    }
  }
};

// A function that can't be copied on devices, such as one that holds arrays, is differentiated on
// the host alone.
#define COIR_DERIVATIVE(name, Result)                         \
  template <class F>                                          \
    requires std::is_trivially_copyable_v<F>                  \
  KOKKOS_FORCEINLINE_FUNCTION constexpr Result<F> name(F f) { \
    return {f};                                               \
  }                                                           \
  template <class F>                                          \
    requires(!std::is_trivially_copyable_v<F>)                \
  constexpr Result<F> name(F f) {                             \
    return {std::move(f)};                                    \
  }

/// (x, ...) -> {f(x, ...), gradient}, in one evaluation of f. The gradient is a number for one
/// argument, Numbers<T, n> for several.
COIR_DERIVATIVE(value_and_grad, ValueAndGradOf)

/// (x, ...) -> the gradient of f: df/dx for one argument, Numbers<T, n> of df/dx_k for several.
COIR_DERIVATIVE(grad, GradOf)

/// (x, ...) -> J with J[i][j] = df_i/dx_j, for an f that returns several numbers: Numbers,
/// std::array, or what has operator[] and std::tuple_size. For one argument J[i] = df_i/dx.
COIR_DERIVATIVE(jacobian, JacobianOf)

/// (x, ...) -> H with H[i][j] = d^2f/dx_i dx_j; for one argument the number d^2f/dx^2. For an array
/// x of at most 2 axes H is an array with these axes twice; hvp() costs less if few products with H
/// are needed.
COIR_DERIVATIVE(hessian, HessianOf)

/// (x, v) -> {f(x), the derivative of f at x along v}: the Jacobian times v, without the Jacobian.
/// x and v are numbers, or numbers(x, y, ...) for functions of several, and f returns one number or
/// several; or they are arrays, or std::tuple(x, y, ...) of arrays and numbers, and f returns an
/// array or a number. f is called once, with arrays of dual numbers.
COIR_DERIVATIVE(jvp, JvpOf)
#undef COIR_DERIVATIVE

}  // namespace coir
