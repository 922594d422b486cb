#pragma once

/// \file
/// Comparisons of numbers of two types by their values, as in mathematics: -1 is less than 1u, and
/// 2^53 + 1 isn't 2^53 as a double.

#include <coir/array/element.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>

namespace coir::detail {

/// The type in which numbers of types A and B are compared: a type that holds both exactly, or void
/// if there is none.
template <class A, class B>
struct ComparedIn {
  using type = promote_t<A, B>;
};
template <std::integral A, std::integral B>
struct ComparedIn<A, B> {
  using type = std::conditional_t<std::is_integral_v<promote_t<A, B>>, promote_t<A, B>, void>;
};
template <std::integral I, std::floating_point F>
struct ComparedIn<I, F> {
  static constexpr int digits = std::numeric_limits<I>::digits;
  using type = std::conditional_t<
      digits <= std::numeric_limits<F>::digits, F,
      std::conditional_t<digits <= std::numeric_limits<double>::digits, double, void>>;
};
template <std::floating_point F, std::integral I>
struct ComparedIn<F, I> : ComparedIn<I, F> {};

template <class A, class B>
using compared_in_t = typename ComparedIn<A, B>::type;

/// Whether a real number, which is an integer or infinite, is one of the integers I.
template <std::integral I, std::floating_point F>
KOKKOS_FORCEINLINE_FUNCTION constexpr bool is_one_of(F x) {
  constexpr F above = F(2) * static_cast<F>(std::numeric_limits<I>::max() / 2 + 1);
  return x < above && x >= (std::is_signed_v<I> ? -above : F(0));
}

/// a < b
template <class A, class B>
  requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
KOKKOS_FORCEINLINE_FUNCTION constexpr bool exactly_less(A a, B b) {
  using C = compared_in_t<A, B>;
  if constexpr (!std::is_void_v<C>) {
    return static_cast<C>(a) < static_cast<C>(b);
  } else if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    // One is signed, the other unsigned and of 64 bits.
    if constexpr (std::is_signed_v<A>)
      return (a < A(0)) | (static_cast<B>(a) < b);
    else
      return (b >= B(0)) & (a < static_cast<A>(b));
  } else if constexpr (std::is_integral_v<A>) {
    // Rounding keeps the order, so that only equality is undecided.
    using F = std::common_type_t<B, double>;
    F const rounded = static_cast<F>(a), real = static_cast<F>(b);
    return rounded < real || (rounded == real && (!is_one_of<A>(real) || a < static_cast<A>(real)));
  } else {
    using F = std::common_type_t<A, double>;
    F const rounded = static_cast<F>(b), real = static_cast<F>(a);
    return real < rounded || (rounded == real && is_one_of<B>(real) && static_cast<B>(real) < b);
  }
}

/// a == b
template <class A, class B>
  requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
KOKKOS_FORCEINLINE_FUNCTION constexpr bool exactly_equal(A a, B b) {
  using C = compared_in_t<A, B>;
  if constexpr (!std::is_void_v<C>) {
    return static_cast<C>(a) == static_cast<C>(b);
  } else if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
    if constexpr (std::is_signed_v<A>)
      return (a >= A(0)) & (static_cast<B>(a) == b);
    else
      return exactly_equal(b, a);
  } else if constexpr (std::is_integral_v<A>) {
    using F = std::common_type_t<B, double>;
    F const real = static_cast<F>(b);
    return static_cast<F>(a) == real && is_one_of<A>(real) && static_cast<A>(real) == a;
  } else {
    return exactly_equal(b, a);
  }
}

/// The parts of a number, real or complex.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr real_t<T> real_part(T const& z) {
  if constexpr (is_complex<T>)
    return z.real();
  else
    return z;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr real_t<T> imaginary_part(T const& z) {
  if constexpr (is_complex<T>)
    return z.imag();
  else
    return real_t<T>(0);
}

// Comparisons as functors. If the common type of the operands holds both, its operator compares.
// Other number types have operators of their own.
#define COIR_COMPARISON(Name, symbol, exactly)                                  \
  struct Name {                                                                 \
    template <class A, class B>                                                 \
    KOKKOS_FORCEINLINE_FUNCTION bool operator()(A const& a, B const& b) const { \
      if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {       \
        using C = compared_in_t<A, B>;                                          \
        if constexpr (std::is_void_v<C>)                                        \
          return exactly;                                                       \
        else                                                                    \
          return static_cast<C>(a) symbol static_cast<C>(b);                    \
      } else {                                                                  \
        using C = promote_t<A, B>;                                              \
        return static_cast<C>(a) symbol static_cast<C>(b);                      \
      }                                                                         \
    }                                                                           \
  };
COIR_COMPARISON(Less, <, exactly_less(a, b))
COIR_COMPARISON(LessEqual, <=, exactly_less(a, b) || exactly_equal(a, b))
COIR_COMPARISON(Greater, >, exactly_less(b, a))
COIR_COMPARISON(GreaterEqual, >=, exactly_less(b, a) || exactly_equal(a, b))
#undef COIR_COMPARISON

struct Equal {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(A const& a, B const& b) const {
    if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B>) {
      return exactly_equal(a, b);
    } else if constexpr (is_complex<A> || is_complex<B>) {
      return exactly_equal(real_part(a), real_part(b)) &&
             exactly_equal(imaginary_part(a), imaginary_part(b));
    } else {
      using C = promote_t<A, B>;
      return static_cast<C>(a) == static_cast<C>(b);
    }
  }
};
struct NotEqual {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(A const& a, B const& b) const {
    return !Equal{}(a, b);
  }
};

/// The comparison of integers x with a number that their type may not hold: `F{}(x, bound)`, or one
/// answer for all x.
template <class F, std::integral T>
struct BesideNumber {
  T bound;
  bool depends, always;
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(T x) const {
    return (F{}(x, bound) & depends) | always;
  }
};

/// F{}(x, number) as a function of x, of type T. On hosts.
template <class F, std::integral T, class S>
  requires std::is_arithmetic_v<S>
BesideNumber<F, T> beside_number(S number) {
  constexpr bool equality = std::same_as<F, Equal> || std::same_as<F, NotEqual>;
  if (number != number) return {T(0), false, F{}(T(0), number)};
  if (exactly_less(std::numeric_limits<T>::max(), number)) return {T(0), false, F{}(0, 1)};
  if (exactly_less(number, std::numeric_limits<T>::min())) return {T(0), false, F{}(1, 0)};
  if constexpr (std::is_floating_point_v<S>) {
    S const below = std::floor(number);
    if (below != number) {
      if constexpr (equality) return {T(0), false, F{}(0, 1)};
      // x < 2.5 is x < 3, and x <= 2.5 is x <= 2.
      constexpr bool up = std::same_as<F, Less> || std::same_as<F, GreaterEqual>;
      return {static_cast<T>(up ? std::ceil(number) : below), true, false};
    }
  }
  return {static_cast<T>(number), true, false};
}

}  // namespace coir::detail
