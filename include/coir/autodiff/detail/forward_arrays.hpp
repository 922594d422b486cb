#pragma once

/// Arrays of dual numbers, by which derivatives go forward beside the values: their two parts, and
/// rules for functions that aren't made of operations on elements.

#include <coir/array/array.hpp>
#include <coir/array/dual_elements.hpp>
#include <coir/array/slices.hpp>
#include <coir/autodiff/detail/dual_complex.hpp>
#include <coir/autodiff/detail/linear.hpp>
#include <coir/autodiff/detail/stand_in.hpp>

#include <algorithm>
#include <concepts>
#include <type_traits>

namespace coir {

/// An expression of arrays of duals, which are no arguments of value_and_grad.
template <class E>
concept ForwardExpression = Expression<E> && detail::carries_derivatives<value_t<E>> &&
                            !detail::holds_traced<std::remove_cvref_t<E>> &&
                            !detail::holds_argument<std::remove_cvref_t<E>>;

namespace detail {

/// Operands of which one is a ForwardExpression, and none an argument of value_and_grad.
template <class... E>
concept AnyForward =
    (ForwardExpression<E> || ...) &&
    !((holds_traced<std::remove_cvref_t<E>> || holds_argument<std::remove_cvref_t<E>>) || ...);

/// How many duals are within each other in an element: the order of its derivatives.
template <class T>
inline constexpr int dual_depth = 0;
template <class T, int N>
inline constexpr int dual_depth<Dual<T, N>> = 1 + dual_depth<T>;
template <class T, int N>
inline constexpr int dual_depth<DualComplex<T, N>> = 1 + dual_depth<T>;
template <class... E>
inline constexpr int depth_among = std::max({dual_depth<value_t<E>>...});

struct ValuePart {
  template <class D>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(D const& x) const {
    return x.value;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(DualComplex<T, 1> const& z) const {
    return Kokkos::complex<T>(z.re.value, z.im.value);
  }
};
struct DerivativePart {
  template <class D>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(D const& x) const {
    return x.derivative[0];
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(DualComplex<T, 1> const& z) const {
    return Kokkos::complex<T>(z.re.derivative[0], z.im.derivative[0]);
  }
};
struct JoinParts {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION Dual<T, 1> operator()(T const& value, T const& derivative) const {
    Dual<T, 1> result(value);
    result.derivative[0] = derivative;
    return result;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION DualComplex<T, 1> operator()(
      Kokkos::complex<T> const& value, Kokkos::complex<T> const& derivative) const {
    return {(*this)(value.real(), derivative.real()), (*this)(value.imag(), derivative.imag())};
  }
};

/// An expression without its outermost derivatives. An expression whose duals are fewer than
/// `Depth` within each other is a constant, and stays as it is.
template <int Depth, class E>
auto value_part(E const& x) {
  if constexpr (Depth > 0 && dual_depth<value_t<E>> == Depth)
    return evaluated(map(ValuePart{}, x));
  else
    return elements_of(x).as_operand();
}
template <class E>
auto derivative_part(E const& x) {
  return evaluated(map(DerivativePart{}, x));
}

/// A number, which may be a dual, as one of type T.
template <class T>
struct InType {
  template <class X>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(X const& x) const {
    return T(x);
  }
};
/// The elements of an expression as numbers of type T.
template <class T, class E>
auto in_type(E const& x) {
  if constexpr (std::same_as<value_t<E>, T>)
    return elements_of(x).as_operand();
  else if constexpr (is_dual<T>)
    return evaluated(map(InType<T>{}, x));
  else
    return evaluated(cast<T>(x));
}

/// Values and derivatives of one shape as an array of duals, or two numbers as one dual.
template <class V, class D>
auto join_parts(V const& values, D const& derivatives) {
  if constexpr (Expression<V>)
    return evaluated(map(JoinParts{}, values, derivatives));
  else
    return JoinParts{}(values, derivatives);
}

/// A function that is linear in each of its two arguments.
template <class A, class B, class F>
auto forward_bilinear(A const& a, B const& b, F const& f) {
  constexpr int depth = depth_among<A, B>;
  auto const left = value_part<depth>(a);
  auto const right = value_part<depth>(b);
  auto const value = f(left, right);
  if constexpr (dual_depth<value_t<A>> < depth)
    return join_parts(value, f(left, derivative_part(b)));
  else if constexpr (dual_depth<value_t<B>> < depth)
    return join_parts(value, f(derivative_part(a), right));
  else
    return join_parts(value, f(derivative_part(a), right) + f(left, derivative_part(b)));
}

}  // namespace detail

}  // namespace coir
