#pragma once

/// \file
/// Elementwise functions of arrays and expressions, lazy and broadcasting: NumPy's universal
/// functions.
///
/// Real functions of integers compute in double. On hosts the functions that coir/core/math.hpp
/// names are vectorised, to within 4 ulp.

#include <coir/array/detail/complex_math.hpp>
#include <coir/array/detail/floor_division.hpp>
#include <coir/array/operators.hpp>
#include <coir/core/numpy_math.hpp>

#include <limits>
#include <numbers>

namespace coir {

namespace detail {

// Arithmetic types and complex numbers have their functions in coir::math; other number types have
// them in their own namespace, where argument-dependent lookup finds them.
#define COIR_UNARY_FUNCTION(name, of_real)                          \
  struct Function_##name {                                          \
    template <class T>                                              \
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& x) const { \
      if constexpr (std::is_arithmetic_v<T>)                        \
        return math::of_real(static_cast<floating_t<T>>(x));        \
      else if constexpr (is_complex<T>)                             \
        return math::name(x);                                       \
      else                                                          \
        return name(x);                                             \
    }                                                               \
  };
#define COIR_BINARY_FUNCTION(name)                                              \
  struct Function_##name {                                                      \
    template <class A, class B>                                                 \
    KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const { \
      using C = floating_t<promote_t<A, B>>;                                    \
      if constexpr (std::is_arithmetic_v<C> || is_complex<C>)                   \
        return math::name(stored<C>(a), stored<C>(b));                          \
      else                                                                      \
        return name(stored<operand_t<C, A>>(a), stored<operand_t<C, B>>(b));    \
    }                                                                           \
  };

template <class E, class T>
concept CastableTo = is_complex<T> || !is_complex<value_t<E>>;
template <class E>
concept RealOperand = !is_complex<element_t<E>>;

}  // namespace detail

#define COIR_ELEMENTWISE(name)                                 \
  namespace detail {                                           \
  COIR_UNARY_FUNCTION(name, name)                              \
  }                                                            \
  template <Expression E>                                      \
  auto name(E&& x) {                                           \
    return map(detail::Function_##name{}, std::forward<E>(x)); \
  }
#define COIR_REAL_ELEMENTWISE(name) COIR_REAL_ELEMENTWISE_BY(name, name)
#define COIR_REAL_ELEMENTWISE_BY(name, of_real)                \
  namespace detail {                                           \
  COIR_UNARY_FUNCTION(name, of_real)                           \
  }                                                            \
  template <Expression E>                                      \
    requires detail::RealOperand<E>                            \
  auto name(E&& x) {                                           \
    return map(detail::Function_##name{}, std::forward<E>(x)); \
  }
#define COIR_REAL_ELEMENTWISE_2(name)                                                          \
  namespace detail {                                                                           \
  COIR_BINARY_FUNCTION(name)                                                                   \
  }                                                                                            \
  template <class A, class B>                                                                  \
    requires detail::CombinableOrdered<A, B>                                                   \
  auto name(A&& a, B&& b) {                                                                    \
    return detail::combine(detail::Function_##name{}, std::forward<A>(a), std::forward<B>(b)); \
  }

// Functions of real and complex numbers.
COIR_ELEMENTWISE(sqrt)
COIR_ELEMENTWISE(exp)
COIR_ELEMENTWISE(log)
COIR_ELEMENTWISE(log10)
COIR_ELEMENTWISE(sin)
COIR_ELEMENTWISE(cos)
COIR_ELEMENTWISE(tan)
COIR_ELEMENTWISE(asin)
COIR_ELEMENTWISE(acos)
COIR_ELEMENTWISE(atan)
COIR_ELEMENTWISE(sinh)
COIR_ELEMENTWISE(cosh)
COIR_ELEMENTWISE(tanh)
COIR_ELEMENTWISE(asinh)
COIR_ELEMENTWISE(acosh)
COIR_ELEMENTWISE(atanh)

// Functions of real numbers alone.
COIR_REAL_ELEMENTWISE(cbrt)
COIR_REAL_ELEMENTWISE(exp2)
COIR_REAL_ELEMENTWISE(expm1)
COIR_REAL_ELEMENTWISE(log2)
COIR_REAL_ELEMENTWISE(log1p)
COIR_REAL_ELEMENTWISE(erf)
COIR_REAL_ELEMENTWISE(erfc)
COIR_REAL_ELEMENTWISE_BY(tgamma, gamma)
COIR_REAL_ELEMENTWISE(lgamma)
COIR_REAL_ELEMENTWISE_BY(floor, round_down)
COIR_REAL_ELEMENTWISE_BY(ceil, round_up)
COIR_REAL_ELEMENTWISE_BY(trunc, round_to_zero)
COIR_REAL_ELEMENTWISE(rint)  // to the nearest integer, halves to even: NumPy's round
COIR_REAL_ELEMENTWISE_BY(round, round_halves_away)  // halves away from 0: C's round
COIR_REAL_ELEMENTWISE(sinc)                         // sin(pi x) / (pi x)
COIR_REAL_ELEMENTWISE_2(logaddexp)                  // log(e^x + e^y)
COIR_REAL_ELEMENTWISE_2(atan2)
COIR_REAL_ELEMENTWISE_2(hypot)
COIR_REAL_ELEMENTWISE_2(fmod)
COIR_REAL_ELEMENTWISE_2(remainder)
COIR_REAL_ELEMENTWISE_2(copysign)
COIR_REAL_ELEMENTWISE_2(nextafter)
COIR_REAL_ELEMENTWISE_2(fdim)
COIR_REAL_ELEMENTWISE_2(fmin)  // the other number if one is NaN
COIR_REAL_ELEMENTWISE_2(fmax)

#undef COIR_ELEMENTWISE
#undef COIR_REAL_ELEMENTWISE
#undef COIR_REAL_ELEMENTWISE_BY
#undef COIR_REAL_ELEMENTWISE_2

namespace detail {

COIR_BINARY_FUNCTION(pow)

struct Power {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const {
    using C = promote_t<A, B>;
    if constexpr (std::is_integral_v<C>) {
      return integer_power(static_cast<number_t<C>>(a), static_cast<number_t<C>>(b));
    } else {
      return Function_pow{}(a, b);
    }
  }

 private:
  /// a^n; 0 for a negative n unless |a| is 1. Overflow wraps around.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T integer_power(T a, T n) {
    using U = wrapping_t<T>;
    if constexpr (std::is_signed_v<T>)
      if (n < T(0)) return a == T(1) ? T(1) : a == T(-1) ? (n % 2 == 0 ? T(1) : T(-1)) : T(0);
    U result = 1, factor = static_cast<U>(a);
    for (U left = static_cast<U>(n); left != 0; left >>= 1) {
      if (left & 1u) result = static_cast<U>(result * factor);
      factor = static_cast<U>(factor * factor);
    }
    return static_cast<T>(result);
  }
};

#undef COIR_UNARY_FUNCTION
#undef COIR_BINARY_FUNCTION

struct Square {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& x) const {
    return Multiply{}(x, x);
  }
};
struct Abs {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& x) const {
    if constexpr (std::is_unsigned_v<T>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(x < T(0) ? Negate{}(x) : x);
    else if constexpr (std::is_floating_point_v<T> || is_complex<T>)
      return math::abs(x);
    else
      return abs(x);
  }
};
/// -1, 0 or 1; NaN for NaN
struct Sign {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x) const {
    T const unit = x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0);
    return x == x ? unit : x;
  }
};
struct Minimum {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const {
    using C = promote_t<A, B>;
    C const x = stored<C>(a), y = stored<C>(b);
    if constexpr (std::is_integral_v<C>)
      return x < y ? x : y;
    else if constexpr (std::is_floating_point_v<C>)
      return math::select((x < y) | (x != x), x, y);
    else
      return minimum(x, y);
  }
};
struct Maximum {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const {
    using C = promote_t<A, B>;
    C const x = stored<C>(a), y = stored<C>(b);
    if constexpr (std::is_integral_v<C>)
      return x > y ? x : y;
    else if constexpr (std::is_floating_point_v<C>)
      return math::select((x > y) | (x != x), x, y);
    else
      return maximum(x, y);
  }
};
struct Clip {
  template <class T, class L, class H>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& x, L const& low, H const& high) const {
    return Minimum{}(Maximum{}(x, low), high);
  }
};
/// x - floor(x / y) y: the sign of y, as in NumPy and Python
struct Mod {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const {
    using C = number_t<promote_t<A, B>>;
    C const x = stored<C>(a), y = stored<C>(b);
    if constexpr (std::is_floating_point_v<C>) {
      return floor_rest(x, y);
    } else {
      C rest;
      if constexpr (std::is_integral_v<C>)
        rest = Remainder{}(x, y);
      else
        rest = Function_fmod{}(x, y);
      bool const wrong_sign = (rest < C(0)) != (y < C(0));
      if (rest != C(0) && wrong_sign) rest += y;
      return rest;
    }
  }
};
struct FloorDivide {
  template <class A, class B>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(A const& a, B const& b) const {
    using C = number_t<promote_t<A, B>>;
    C const x = stored<C>(a), y = stored<C>(b);
    if constexpr (std::is_integral_v<C>) {
      C const quotient = Divide{}(x, y);
      bool const down = (x < C(0)) != (y < C(0)) && Remainder{}(x, y) != C(0);
      return static_cast<C>(quotient - (down ? C(1) : C(0)));
    } else if constexpr (std::is_floating_point_v<C>) {
      return floor_quotient(x, y);
    } else {
      return Function_rint{}((x - Mod{}(x, y)) / y);
    }
  }
};
/// Whether A is an expression of integers, and B an integer that counts as one of their type.
template <class A, class B>
inline constexpr bool divides_by_integer = [] {
  if constexpr (Expression<A> && Scalar<std::remove_cvref_t<B>>) {
    using T = value_t<A>;
    return std::signed_integral<T> && sizeof(T) >= 4 &&
           std::same_as<weak_t<T, std::remove_cvref_t<B>>, T>;
  } else {
    return false;
  }
}();
struct IsNan {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(T const& x) const {
    return x != x;
  }
};
struct IsInf {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(T const& x) const {
    if constexpr (std::is_integral_v<T>)
      return false;
    else if constexpr (is_complex<T>)
      return math::isinf(x.real()) || math::isinf(x.imag());
    else if constexpr (std::is_floating_point_v<T>)
      return math::isinf(x);
    else
      return isinf(x);
  }
};
struct IsFinite {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(T const& x) const {
    if constexpr (std::is_integral_v<T>)
      return true;
    else if constexpr (is_complex<T>)
      return math::isfinite(x.real()) && math::isfinite(x.imag());
    else if constexpr (std::is_floating_point_v<T>)
      return math::isfinite(x);
    else
      return isfinite(x);
  }
};
struct SignBit {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION bool operator()(T const& x) const {
    if constexpr (std::is_integral_v<T>)
      return x < T(0);
    else if constexpr (std::is_floating_point_v<T>)
      return math::signbit(x);
    else
      return signbit(x);
  }
};
/// x, with numbers in place of NaN and of the two infinities
template <class R>
struct NanToNum {
  R nan, above, below;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& x) const {
    if constexpr (std::is_integral_v<T>)
      return x;
    else if constexpr (is_complex<T>)
      return T((*this)(x.real()), (*this)(x.imag()));
    else
      return IsNan{}(x) ? T(nan) : IsInf{}(x) ? (x > T(0) ? T(above) : T(below)) : x;
  }
};
struct Real {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& z) const {
    if constexpr (is_complex<T>)
      return z.real();
    else
      return z;
  }
};
struct Imag {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& z) const {
    if constexpr (is_complex<T>)
      return z.imag();
    else
      return T(0);
  }
};
struct Conj {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& z) const {
    if constexpr (is_complex<T>)
      return T(z.real(), -z.imag());
    else
      return z;
  }
};
struct Angle {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION auto operator()(T const& z) const {
    if constexpr (is_complex<T>) {
      return math::arg(z);
    } else {
      using C = floating_t<T>;
      return math::atan2(C(0), static_cast<C>(z));
    }
  }
};
template <class To>
struct Cast {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION To operator()(T const& x) const {
    return stored<To>(x);
  }
};

template <class T>
inline constexpr bool bounded_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// The bounds of clip for elements of type T. A number beyond all values of T becomes T's lowest or
/// largest value.
template <class T, class L>
auto lower_bound(L&& low) {
  if constexpr (bounded_integer<T> && std::integral<std::remove_cvref_t<L>>)
    if (exactly_less(low, std::numeric_limits<T>::min()))
      return Constant<T>(std::numeric_limits<T>::min());
  return value_for<T>(std::forward<L>(low));
}
template <class T, class H>
auto upper_bound(H&& high) {
  if constexpr (bounded_integer<T> && std::integral<std::remove_cvref_t<H>>)
    if (exactly_less(std::numeric_limits<T>::max(), high))
      return Constant<T>(std::numeric_limits<T>::max());
  return value_for<T>(std::forward<H>(high));
}

/// An operand of an expression: a number is converted to type T.
template <class T, class E>
auto operand_as(E&& e) {
  if constexpr (Expression<E>)
    return operand(std::forward<E>(e));
  else
    return Constant<T>(number_as<T>(e));
}

}  // namespace detail

/// x^y. For integers overflow wraps around, and negative powers are 0 unless |x| is 1.
template <class A, class B>
  requires detail::Combinable<A, B>
auto pow(A&& a, B&& b) {
  return detail::combine(detail::Power{}, std::forward<A>(a), std::forward<B>(b));
}

/// The smaller of two numbers; NaN if one of them is NaN. NumPy's minimum.
template <class A, class B>
  requires detail::CombinableOrdered<A, B>
auto minimum(A&& a, B&& b) {
  return detail::combine(detail::Minimum{}, std::forward<A>(a), std::forward<B>(b));
}
/// The larger of two numbers; NaN if one of them is NaN. NumPy's maximum.
template <class A, class B>
  requires detail::CombinableOrdered<A, B>
auto maximum(A&& a, B&& b) {
  return detail::combine(detail::Maximum{}, std::forward<A>(a), std::forward<B>(b));
}
/// a - floor(a / b) b, which has the sign of b: NumPy's mod and Python's %, also for infinities and
/// signed zeros. Integers modulo 0 are 0.
template <class A, class B>
  requires detail::CombinableOrdered<A, B>
auto mod(A&& a, B&& b) {
  return detail::combine(detail::Mod{}, std::forward<A>(a), std::forward<B>(b));
}
/// floor(a / b) of the exact quotient: NumPy's floor_divide and Python's //. Integers divided by 0
/// are 0.
template <class A, class B>
  requires detail::CombinableOrdered<A, B>
auto floor_divide(A&& a, B&& b) {
  if constexpr (detail::divides_by_integer<A, B>) {
    using T = value_t<A>;
    return map(detail::FloorDivideBy<T, detail::FloorDivide>(detail::number_as<T>(b)),
               std::forward<A>(a));
  } else {
    return detail::combine(detail::FloorDivide{}, std::forward<A>(a), std::forward<B>(b));
  }
}
/// floor_divide(a, b) and mod(a, b), as a pair of expressions: NumPy's divmod.
template <class A, class B>
  requires detail::CombinableOrdered<A, B>
auto divmod(A const& a, B const& b) {
  return std::pair(floor_divide(a, b), mod(a, b));
}

/// x limited to [low, high]; NaN stays. The bounds are numbers or expressions. Numbers beyond the
/// range of an integer type don't limit it.
template <Expression E, class L, class H>
  requires detail::CombinableOrdered<E, L> && detail::CombinableOrdered<E, H>
auto clip(E&& x, L&& low, H&& high) {
  using T = value_t<E>;
  return map(detail::Clip{}, std::forward<E>(x), detail::lower_bound<T>(std::forward<L>(low)),
             detail::upper_bound<T>(std::forward<H>(high)));
}

/// a where the mask is true, b elsewhere. Both are computed everywhere. At least one of a and b is
/// an array or an expression, or both are numbers of one type.
template <Expression M, class A, class B>
  requires std::same_as<value_t<M>, bool> && detail::Operand<A> && detail::Operand<B>
auto where(M&& mask, A&& a, B&& b) {
  using T = typename detail::CombinedType<std::remove_cvref_t<A>, std::remove_cvref_t<B>>::type;
  return map(detail::Where{}, std::forward<M>(mask), detail::operand_as<T>(std::forward<A>(a)),
             detail::operand_as<T>(std::forward<B>(b)));
}

/// The elements converted to type T. Real numbers lose their fraction in integers. Complex numbers
/// aren't converted to real ones: use real().
template <Element T, Expression E>
  requires detail::CastableTo<E, T>
auto cast(E&& x) {
  return map(detail::Cast<T>{}, std::forward<E>(x));
}

#define COIR_UNARY(name, Function)                      \
  template <Expression E>                               \
  auto name(E&& x) {                                    \
    return map(detail::Function{}, std::forward<E>(x)); \
  }
COIR_UNARY(square, Square)      // x^2
COIR_UNARY(abs, Abs)            // |x|
COIR_UNARY(isnan, IsNan)        // NaN, also in one part of a complex number
COIR_UNARY(isinf, IsInf)        // an infinity, also in one part of a complex number
COIR_UNARY(isfinite, IsFinite)  // neither NaN nor infinite
COIR_UNARY(real, Real)          // the real part
COIR_UNARY(imag, Imag)          // the imaginary part, 0 for reals
COIR_UNARY(conj, Conj)          // the complex conjugate
COIR_UNARY(angle, Angle)        // the angle of a complex number in [-pi, pi]
#undef COIR_UNARY

/// -1, 0 or 1 by the sign; NaN for NaN.
template <Expression E>
  requires detail::RealOperand<E>
auto sign(E&& x) {
  return map(detail::Sign{}, std::forward<E>(x));
}

/// Whether the sign bit is set: true for -0, too, and for some NaN.
template <Expression E>
  requires detail::RealOperand<E>
auto signbit(E&& x) {
  return map(detail::SignBit{}, std::forward<E>(x));
}

/// x with numbers in place of NaN and the infinities, in both parts of complex numbers. By default
/// NaN becomes 0, and the infinities the largest and the least finite number. Integers stay as they
/// are.
///
/// \throws PreconditionError if one of the three numbers is finite and beyond the element type
template <Expression E>
auto nan_to_num(E&& x, double nan, double above, double below) {
  using R = real_t<floating_t<value_t<E>>>;
  for (double const given : {nan, above, below}) {
    constexpr double largest = std::numeric_limits<R>::max();
    expects(!math::isfinite(given) || math::abs(given) <= largest,
            "nan_to_num puts numbers of the element type in place of others, here at most " +
                in_words(largest) + " in size",
            given);
  }
  return map(detail::NanToNum<R>{static_cast<R>(nan), static_cast<R>(above), static_cast<R>(below)},
             std::forward<E>(x));
}
template <Expression E>
auto nan_to_num(E&& x, double nan = 0) {
  using Limits = std::numeric_limits<real_t<floating_t<value_t<E>>>>;
  return nan_to_num(std::forward<E>(x), nan, static_cast<double>(Limits::max()),
                    static_cast<double>(Limits::lowest()));
}

/// 1 / x, of real or complex numbers.
template <Expression E>
  requires(!std::integral<value_t<E>>)
auto reciprocal(E&& x) {
  return 1 / std::forward<E>(x);
}

/// Radians converted to degrees: 180 x / pi.
template <Expression E>
  requires detail::RealOperand<E>
auto degrees(E&& x) {
  return std::forward<E>(x) * (180 / std::numbers::pi);
}
/// Degrees converted to radians: pi x / 180.
template <Expression E>
  requires detail::RealOperand<E>
auto radians(E&& x) {
  return std::forward<E>(x) * (std::numbers::pi / 180);
}

}  // namespace coir
