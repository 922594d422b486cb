#pragma once

/// \file
/// Dual numbers: a value and its derivatives along some directions, carried through every
/// operation.
///
/// The value of a Dual<T, N> obeys T's arithmetic. Comparisons look at the value alone. All
/// functions of coir/core/math.hpp but nextafter are here, found without a namespace: exp(x),
/// fma(x, y, z). Numbers without derivatives mix with duals and don't change the type: 2.5 * x is a
/// Dual<float, N> if x is. T may be a Dual itself: Dual<Dual<double, 1>, 1> has second derivatives.
///
/// Derivatives follow the formulas beside each function. Their error is a few ulp of |f'| + |x f''|
/// if the functions in the formula are that good. At kinks and edges:
///
///   abs, sign, hypot     0 at 0
///   minimum, maximum     the mean of both sides where they are equal; so too fmin, fmax, fdim,
///   clip sqrt, cbrt           infinite at 0; asin, acos, acosh, atanh infinite at the ends of
///   their domain floor and the like   0 everywhere, also at their steps; fmod and remainder as
///   between steps copysign(x, y)       0 at x = 0, and always 0 along y pow(x, y)            along
///   x at 0: 0 for y > 1 and y = 0, 1 for y = 1, infinite for 0 < y < 1;
///                        along y at x = 0: 0 for y >= 0, to all orders; along y for x < 0: NaN
///   atan2                NaN at the origin
///
/// Second derivatives follow from first ones by the same rules, so that Hessians are symmetric at
/// kinks, too: the Hessian of x maximum(x, y) at (1, 1) is ((1, 1/2), (1/2, 0)).
///
/// Where a function's slope is infinite or NaN, derivatives along directions in which its argument
/// doesn't change are 0: sqrt(x) + y has the gradient (inf, 1) at x = 0, and z + atan2(y, x) has 1
/// along z at the origin. Second derivatives there are NaN or infinite. Outside of a function's
/// domain the value is NaN, and derivatives mean nothing.
/// \see Griewank, Walther, Evaluating Derivatives (2008), ch. 2 and 13

#include <coir/core/detail/polygamma.hpp>
#include <coir/core/math.hpp>
#include <coir/core/numpy_math.hpp>

#include <concepts>
#include <numbers>
#include <type_traits>

namespace coir {

template <class T, int N>
struct Dual;

template <class T>
inline constexpr bool is_dual = false;
template <class T, int N>
inline constexpr bool is_dual<Dual<T, N>> = true;

namespace detail {

/// False once a template is instantiated: for a static_assert that says why it doesn't compile.
template <class...>
inline constexpr bool never = false;

template <class T>
struct ScalarOf {
  using type = T;
};
template <class T, int N>
struct ScalarOf<Dual<T, N>> : ScalarOf<T> {};

/// The type of number at the bottom of nested duals.
template <class T>
using scalar_t = typename ScalarOf<T>::type;

/// Whether S is a constant beside a dual of T: a plain number, T itself, or a constant beside T.
template <class S, class T>
inline constexpr bool is_constant_for = std::is_arithmetic_v<S> || std::same_as<S, T>;
template <class S, class T, int N>
inline constexpr bool is_constant_for<S, Dual<T, N>> =
    std::is_arithmetic_v<S> || std::same_as<S, Dual<T, N>> || is_constant_for<S, T>;

template <class S, class T>
concept ConstantFor = is_constant_for<S, T>;

/// A constant in the precision of T.
template <class T, class S>
KOKKOS_FORCEINLINE_FUNCTION constexpr auto constant_for(S const& s) {
  if constexpr (std::is_arithmetic_v<S>)
    return static_cast<scalar_t<T>>(s);
  else
    return s;
}

}  // namespace detail

/// A value and its derivatives along N directions. The default constructor sets nothing.
///
/// \tparam T  float, double or a Dual
/// \tparam N  1 or more
template <class T, int N>
struct Dual {
  static_assert(std::floating_point<T> || is_dual<T>, "duals are made of float, double or duals");
  static_assert(N >= 1, "a dual has at least one direction");
  static constexpr int directions = N;

  T value;
  T derivative[N];

  Dual() = default;

  /// A constant: all derivatives are 0.
  template <detail::ConstantFor<T> S>
  KOKKOS_FORCEINLINE_FUNCTION constexpr Dual(S const& constant)
      : value(detail::constant_for<T>(constant)), derivative{} {}

  /// The same number in another precision.
  template <class U>
    requires(!std::same_as<U, T> && !detail::ConstantFor<Dual<U, N>, T>)
  KOKKOS_FORCEINLINE_FUNCTION constexpr explicit Dual(Dual<U, N> const& other)
      : value(static_cast<T>(other.value)), derivative{} {
    COIR_UNROLL
    for (int k = 0; k < N; ++k) derivative[k] = static_cast<T>(other.derivative[k]);
  }

  /// The variable of direction k: its derivative is 1 along k and 0 along the others.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr Dual variable(T const& value, int k = 0) {
    Dual x(value);
    x.derivative[k] = T(1);
    return x;
  }

  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION constexpr Dual& operator+=(S const& other) {
    return *this = *this + other;
  }
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION constexpr Dual& operator-=(S const& other) {
    return *this = *this - other;
  }
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION constexpr Dual& operator*=(S const& other) {
    return *this = *this * other;
  }
  template <class S>
  KOKKOS_FORCEINLINE_FUNCTION constexpr Dual& operator/=(S const& other) {
    return *this = *this / other;
  }
};

namespace detail {

/// 0 in its value and in every derivative.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr bool is_zero(T const& x) {
  if constexpr (is_dual<T>) {
    bool zero = is_zero(x.value);
    for (int k = 0; k < T::directions; ++k) zero = zero && is_zero(x.derivative[k]);
    return zero;
  } else {
    return x == T(0);
  }
}

/// slope * derivative. A part of the derivative that is 0 to all orders gives 0, even if the slope
/// is infinite.
template <class S, class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T along(S const& slope, T const& derivative) {
  if (is_zero(derivative)) return T(0);
  if constexpr (is_dual<T>) {
    bool constant = true;
    for (int k = 0; k < T::directions; ++k)
      constant = constant && is_zero(derivative.derivative[k]);
    if (constant) return T(slope * derivative.value);
  }
  return T(slope * derivative);
}

/// f(x), given f's value and derivative at x. Along a direction in which x doesn't change the
/// derivative is 0, even where f has an infinite slope.
template <class T, int N, class S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> chain(Dual<T, N> const& x, T const& value,
                                                       S const& slope) {
  Dual<T, N> result;
  result.value = value;
  COIR_UNROLL
  for (int k = 0; k < N; ++k) result.derivative[k] = along(slope, x.derivative[k]);
  return result;
}

/// f(x, y), given f's value and partial derivatives, by the rule of chain() for one number.
template <class T, int N, class S, class R>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> chain(Dual<T, N> const& x, Dual<T, N> const& y,
                                                       T const& value, S const& slope_x,
                                                       R const& slope_y) {
  Dual<T, N> result;
  result.value = value;
  COIR_UNROLL
  for (int k = 0; k < N; ++k)
    result.derivative[k] = along(slope_x, x.derivative[k]) + along(slope_y, y.derivative[k]);
  return result;
}

/// The value with the derivatives of x.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> moved(Dual<T, N> x, T const& value) {
  x.value = value;
  return x;
}

/// The number at the bottom of nested duals.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr scalar_t<T> number_of(T const& x) {
  if constexpr (is_dual<T>)
    return number_of(x.value);
  else
    return x;
}

/// -1, 0 or 1
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr scalar_t<T> sign_of(T const& x) {
  using S = scalar_t<T>;
  return x > S(0) ? S(1) : x < S(0) ? S(-1) : S(0);
}

}  // namespace detail

// ---- operators ----

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator+(Dual<T, N> const& x) {
  return x;
}
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator-(Dual<T, N> const& x) {
  Dual<T, N> result;
  result.value = -x.value;
  COIR_UNROLL
  for (int k = 0; k < N; ++k) result.derivative[k] = -x.derivative[k];
  return result;
}

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator+(Dual<T, N> const& x,
                                                           Dual<T, N> const& y) {
  Dual<T, N> result;
  result.value = x.value + y.value;
  COIR_UNROLL
  for (int k = 0; k < N; ++k) result.derivative[k] = x.derivative[k] + y.derivative[k];
  return result;
}
template <class T, int N, detail::ConstantFor<T> S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator+(Dual<T, N> const& x, S const& c) {
  return detail::moved<T, N>(x, x.value + detail::constant_for<T>(c));
}
template <class T, int N, detail::ConstantFor<T> S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator+(S const& c, Dual<T, N> const& x) {
  return detail::moved<T, N>(x, detail::constant_for<T>(c) + x.value);
}

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator-(Dual<T, N> const& x,
                                                           Dual<T, N> const& y) {
  Dual<T, N> result;
  result.value = x.value - y.value;
  COIR_UNROLL
  for (int k = 0; k < N; ++k) result.derivative[k] = x.derivative[k] - y.derivative[k];
  return result;
}
template <class T, int N, detail::ConstantFor<T> S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator-(Dual<T, N> const& x, S const& c) {
  return detail::moved<T, N>(x, x.value - detail::constant_for<T>(c));
}
template <class T, int N, detail::ConstantFor<T> S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator-(S const& c, Dual<T, N> const& x) {
  return detail::moved<T, N>(-x, detail::constant_for<T>(c) - x.value);
}

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator*(Dual<T, N> const& x,
                                                           Dual<T, N> const& y) {
  Dual<T, N> result;
  result.value = x.value * y.value;
  COIR_UNROLL
  for (int k = 0; k < N; ++k)
    result.derivative[k] = y.value * x.derivative[k] + x.value * y.derivative[k];
  return result;
}
template <class T, int N, detail::ConstantFor<T> S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator*(Dual<T, N> const& x, S const& c) {
  auto const factor = detail::constant_for<T>(c);
  Dual<T, N> result;
  result.value = x.value * factor;
  COIR_UNROLL
  for (int k = 0; k < N; ++k) result.derivative[k] = x.derivative[k] * factor;
  return result;
}
template <class T, int N, detail::ConstantFor<T> S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator*(S const& c, Dual<T, N> const& x) {
  return x * c;
}

template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator/(Dual<T, N> const& x,
                                                           Dual<T, N> const& y) {
  Dual<T, N> result;
  result.value = x.value / y.value;
  COIR_UNROLL
  for (int k = 0; k < N; ++k)
    result.derivative[k] = (x.derivative[k] - result.value * y.derivative[k]) / y.value;
  return result;
}
template <class T, int N, detail::ConstantFor<T> S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator/(Dual<T, N> const& x, S const& c) {
  auto const divisor = detail::constant_for<T>(c);
  Dual<T, N> result;
  result.value = x.value / divisor;
  COIR_UNROLL
  for (int k = 0; k < N; ++k) result.derivative[k] = x.derivative[k] / divisor;
  return result;
}
template <class T, int N, detail::ConstantFor<T> S>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> operator/(S const& c, Dual<T, N> const& x) {
  T const quotient = detail::constant_for<T>(c) / x.value;
  return detail::chain<T, N>(x, quotient, -quotient / x.value);
}

#define COIR_DUAL_COMPARISON(symbol)                                                            \
  template <class T, int N>                                                                     \
  KOKKOS_FORCEINLINE_FUNCTION constexpr bool operator symbol(Dual<T, N> const& x,               \
                                                             Dual<T, N> const& y) {             \
    return x.value symbol y.value;                                                              \
  }                                                                                             \
  template <class T, int N, detail::ConstantFor<T> S>                                           \
  KOKKOS_FORCEINLINE_FUNCTION constexpr bool operator symbol(Dual<T, N> const& x, S const& c) { \
    return x.value symbol detail::constant_for<T>(c);                                           \
  }                                                                                             \
  template <class T, int N, detail::ConstantFor<T> S>                                           \
  KOKKOS_FORCEINLINE_FUNCTION constexpr bool operator symbol(S const& c, Dual<T, N> const& x) { \
    return detail::constant_for<T>(c) symbol x.value;                                           \
  }
COIR_DUAL_COMPARISON(<)
COIR_DUAL_COMPARISON(<=)
COIR_DUAL_COMPARISON(>)
COIR_DUAL_COMPARISON(>=)
COIR_DUAL_COMPARISON(==)
COIR_DUAL_COMPARISON(!=)
#undef COIR_DUAL_COMPARISON

// ---- functions of one number ----

namespace detail {

/// 1 - x^2, without cancellation in it or in its derivative.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T one_minus_square(T const& x) {
  using S = scalar_t<T>;
  if constexpr (is_dual<T>)
    return chain(x, one_minus_square(x.value), S(-2) * x.value);
  else
    return (S(1) - x) * (S(1) + x);
}

/// 1 / cosh(x)^2 = 4 e / (1 + e)^2 with e = exp(-2 |x|). 1 - tanh^2 would cancel, a square of cosh
/// would overflow, and a quotient in the derivative could be infinity over infinity.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T sech_square(T const& x) {
  using namespace math;
  using S = scalar_t<T>;
  if constexpr (is_dual<T>) {
    auto const v = sech_square(x.value);
    return chain(x, v, S(-2) * tanh(x.value) * v);
  } else {
    S const e = exp(S(-2) * abs(x));
    return S(4) * e / ((S(1) + e) * (S(1) + e));
  }
}

/// 1 / (1 + x^2). In the derivative x is the last factor, because 2 x may be infinite where the
/// others are 0.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T slope_of_atan(T const& x) {
  using S = scalar_t<T>;
  if constexpr (is_dual<T>) {
    auto const v = slope_of_atan(x.value);
    return chain(x, v, S(-2) * v * (v * x.value));
  } else {
    return S(1) / (S(1) + x * x);
  }
}

/// exp(-x^2), with x as the last factor of the derivative, too.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T gaussian(T const& x) {
  using namespace math;
  using S = scalar_t<T>;
  if constexpr (is_dual<T>) {
    auto const v = gaussian(x.value);
    return chain(x, v, S(-2) * (v * x.value));
  } else {
    return exp(-x * x);
  }
}

/// The derivative of sin(pi x) / (pi x): (cos(pi x) - sinc(x)) / x, or its series where that
/// cancels.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T slope_of_sinc(T const& x, T const& value) {
  using namespace math;
  using S = scalar_t<T>;
  constexpr S pi = std::numbers::pi_v<S>;
  if (abs(number_of(x)) > S(0.2)) return (cos(pi * x) - value) / x;
  // The sum over k >= 1 of 2 k (-1)^k u^(k - 1) / (2 k + 1)! with u = (pi x)^2. Terms from k = 9 on
  // are below rounding.
  constexpr double factors[] = {
      -1. / 3,       1. / 30,        -1. / 840,         1. / 45360,
      -1. / 3991680, 1. / 518918400, -1. / 93405312000, 1. / 22230464256000};
  T const u = (pi * x) * (pi * x);
  T sum = T(S(factors[7]));
  COIR_UNROLL
  for (int k = 6; k >= 0; --k) sum = sum * u + S(factors[k]);
  return (pi * pi) * x * sum;
}

}  // namespace detail

// `v` is the function's value, `x` the argument's value, S the type of plain numbers.
#define COIR_DUAL_FUNCTION(name, slope)                                     \
  template <class T, int N>                                                 \
  KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> name(Dual<T, N> const& argument) { \
    using namespace math; /* beside the functions of duals, if T is one */  \
    using S [[maybe_unused]] = detail::scalar_t<T>;                         \
    T const& x = argument.value;                                            \
    T const v = name(x);                                                    \
    return detail::chain<T, N>(argument, v, slope);                         \
  }
COIR_DUAL_FUNCTION(exp, v)
COIR_DUAL_FUNCTION(exp2, v* std::numbers::ln2_v<S>)
COIR_DUAL_FUNCTION(expm1, exp(x))  // not v + 1, which cancels for x < 0
COIR_DUAL_FUNCTION(log, S(1) / x)
COIR_DUAL_FUNCTION(log2, S(1) / (x * std::numbers::ln2_v<S>))
COIR_DUAL_FUNCTION(log10, S(1) / (x * std::numbers::ln10_v<S>))
COIR_DUAL_FUNCTION(log1p, S(1) / (S(1) + x))
COIR_DUAL_FUNCTION(sin, cos(x))
COIR_DUAL_FUNCTION(cos, -sin(x))
COIR_DUAL_FUNCTION(tan, S(1) + v * v)
COIR_DUAL_FUNCTION(asin, S(1) / sqrt(detail::one_minus_square(x)))
COIR_DUAL_FUNCTION(acos, S(-1) / sqrt(detail::one_minus_square(x)))
COIR_DUAL_FUNCTION(atan, detail::slope_of_atan(x))
COIR_DUAL_FUNCTION(sinh, cosh(x))
COIR_DUAL_FUNCTION(cosh, sinh(x))
COIR_DUAL_FUNCTION(tanh, detail::sech_square(x))
COIR_DUAL_FUNCTION(asinh, S(1) / hypot(x, T(1)))  // x^2 + 1 would overflow
COIR_DUAL_FUNCTION(acosh, S(1) / (sqrt(x - S(1)) * sqrt(x + S(1))))
COIR_DUAL_FUNCTION(atanh, S(1) / detail::one_minus_square(x))
COIR_DUAL_FUNCTION(sqrt, S(1) / (S(2) * v))
COIR_DUAL_FUNCTION(cbrt, S(1) / (S(3) * v * v))
COIR_DUAL_FUNCTION(erf, S(2) * std::numbers::inv_sqrtpi_v<S> * detail::gaussian(x))
COIR_DUAL_FUNCTION(erfc, S(-2) * std::numbers::inv_sqrtpi_v<S> * detail::gaussian(x))
COIR_DUAL_FUNCTION(abs, detail::sign_of(x))
COIR_DUAL_FUNCTION(sinc, detail::slope_of_sinc(x, v))
COIR_DUAL_FUNCTION(tgamma, v* digamma(x))
COIR_DUAL_FUNCTION(lgamma, digamma(x))
COIR_DUAL_FUNCTION(digamma, trigamma(x))  // the end: no trigamma of duals
#undef COIR_DUAL_FUNCTION

#define COIR_DUAL_STEP(name)                                         \
  template <class T, int N>                                          \
  KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> name(Dual<T, N> const& x) { \
    using namespace math;                                            \
    return Dual<T, N>(T(name(x.value)));                             \
  }
COIR_DUAL_STEP(floor)
COIR_DUAL_STEP(ceil)
COIR_DUAL_STEP(trunc)
COIR_DUAL_STEP(rint)
COIR_DUAL_STEP(round)
#undef COIR_DUAL_STEP

/// x^2
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> square(Dual<T, N> const& x) {
  return detail::chain<T, N>(x, x.value * x.value, detail::scalar_t<T>(2) * x.value);
}

/// -1, 0 or 1; NaN for NaN
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> sign(Dual<T, N> const& x) {
  return x == x ? Dual<T, N>(detail::sign_of(x.value)) : x;
}

#define COIR_DUAL_PREDICATE(name)                              \
  template <class T, int N>                                    \
  KOKKOS_FORCEINLINE_FUNCTION bool name(Dual<T, N> const& x) { \
    using namespace math;                                      \
    return name(x.value);                                      \
  }
COIR_DUAL_PREDICATE(isnan)
COIR_DUAL_PREDICATE(signbit)
COIR_DUAL_PREDICATE(isinf)
COIR_DUAL_PREDICATE(isfinite)
#undef COIR_DUAL_PREDICATE

// ---- functions of several numbers ----

template <class T, int N, detail::ConstantFor<T> E>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> pow(Dual<T, N> const& x, E const& exponent) {
  using namespace math;
  using S = detail::scalar_t<T>;
  auto const n = detail::constant_for<T>(exponent);
  T const slope = detail::is_zero(n) ? T(0) : T(n * pow(x.value, n - S(1)));
  return detail::chain<T, N>(x, pow(x.value, n), slope);
}

/// x^y
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> pow(Dual<T, N> const& x, Dual<T, N> const& y) {
  using namespace math;
  using S = detail::scalar_t<T>;
  bool const at_zero = x.value == S(0);
  if constexpr (is_dual<T>) {
    // Derivatives along y are 0, also those of derivatives along x: mixed ones are symmetric.
    if (at_zero && y.value >= S(0)) return pow(x, detail::number_of(y));
  }
  T const v = pow(x.value, y.value);
  T const slope_x =
      at_zero && y.value == S(0) ? T(0) : T(y.value * pow(x.value, T(y.value - S(1))));
  T const slope_y = at_zero && y.value >= S(0) ? T(0) : T(v * log(x.value));
  return detail::chain<T, N>(x, y, v, slope_x, slope_y);
}
template <class T, int N, detail::ConstantFor<T> B>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> pow(B const& base, Dual<T, N> const& y) {
  using namespace math;
  using S = detail::scalar_t<T>;
  auto const b = detail::constant_for<T>(base);
  T const v = pow(b, y.value);
  T const slope = b == S(0) && y.value >= S(0) ? T(0) : T(v * log(b));
  return detail::chain<T, N>(y, v, slope);
}

/// The angle of the point (x, y)
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> atan2(Dual<T, N> const& y, Dual<T, N> const& x) {
  using namespace math;
  T const r = hypot(x.value, y.value);
  return detail::chain<T, N>(y, x, T(atan2(y.value, x.value)), x.value / r / r, -y.value / r / r);
}

/// sqrt(x^2 + y^2)
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> hypot(Dual<T, N> const& x, Dual<T, N> const& y) {
  using namespace math;
  using S = detail::scalar_t<T>;
  T const r = hypot(x.value, y.value);
  bool const origin = r == S(0);
  return detail::chain<T, N>(x, y, r, origin ? T(0) : T(x.value / r),
                             origin ? T(0) : T(y.value / r));
}

/// log(e^x + e^y). If one of the two is the larger infinity, its slope is 1; for equal infinities
/// both slopes are 1/2.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> logaddexp(Dual<T, N> const& x, Dual<T, N> const& y) {
  using namespace math;
  using S = detail::scalar_t<T>;
  T const difference = x.value == y.value ? T(S(0)) : T(x.value - y.value);
  return detail::chain<T, N>(x, y, T(logaddexp(x.value, y.value)), S(1) / (S(1) + exp(-difference)),
                             S(1) / (S(1) + exp(difference)));
}

/// x - n y with n = x / y rounded towards 0
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> fmod(Dual<T, N> const& x, Dual<T, N> const& y) {
  using namespace math;
  T const v = fmod(x.value, y.value);
  T const n = rint(T((x.value - v) / y.value));
  return detail::chain<T, N>(x, y, v, detail::scalar_t<T>(1), -n);
}

/// x - n y with n = x / y rounded to the nearest
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> remainder(Dual<T, N> const& x, Dual<T, N> const& y) {
  using namespace math;
  T const v = remainder(x.value, y.value);
  T const n = rint(T((x.value - v) / y.value));
  return detail::chain<T, N>(x, y, v, detail::scalar_t<T>(1), -n);
}

/// |x| with the sign of y
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> copysign(Dual<T, N> const& x, Dual<T, N> const& y) {
  using namespace math;
  T const v = copysign(x.value, y.value);
  return detail::chain<T, N>(x, v, detail::sign_of(x.value) * detail::sign_of(v));
}

namespace detail {

/// x if `take_x`, y if `take_y`; otherwise their value, which is the same, with the mean of their
/// derivatives. The mean is taken at every level of nested duals.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr T either(bool take_x, bool take_y, T const& x, T const& y) {
  if constexpr (is_dual<T>) {
    using V = std::remove_cvref_t<decltype(x.value)>;
    T result;
    result.value = either(take_x, take_y, x.value, y.value);
    COIR_UNROLL
    for (int k = 0; k < T::directions; ++k)
      result.derivative[k] = take_x   ? x.derivative[k]
                             : take_y ? y.derivative[k]
                                      : V((x.derivative[k] + y.derivative[k]) * scalar_t<T>(0.5));
    return result;
  } else {
    return take_x ? x : y;
  }
}

}  // namespace detail

/// The smaller of two numbers; NaN if one is NaN.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> minimum(Dual<T, N> const& x, Dual<T, N> const& y) {
  return detail::either((x < y) | (x != x), (y < x) | (y != y), x, y);
}
/// The larger of two numbers; NaN if one is NaN.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> maximum(Dual<T, N> const& x, Dual<T, N> const& y) {
  return detail::either((x > y) | (x != x), (y > x) | (y != y), x, y);
}
/// The smaller of two numbers; the other number if one is NaN.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> fmin(Dual<T, N> const& x, Dual<T, N> const& y) {
  return detail::either((x < y) | (y != y), (y < x) | (x != x), x, y);
}
/// The larger of two numbers; the other number if one is NaN.
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> fmax(Dual<T, N> const& x, Dual<T, N> const& y) {
  return detail::either((x > y) | (y != y), (y > x) | (x != x), x, y);
}
/// x - y where that is positive, 0 elsewhere
template <class T, int N>
KOKKOS_FORCEINLINE_FUNCTION constexpr Dual<T, N> fdim(Dual<T, N> const& x, Dual<T, N> const& y) {
  return maximum(x - y, Dual<T, N>(detail::scalar_t<T>(0)));
}

#define COIR_DUAL_MIXED(name)                                                    \
  template <class T, int N, detail::ConstantFor<T> S>                            \
  KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> name(Dual<T, N> const& x, S const& y) { \
    return name(x, Dual<T, N>(y));                                               \
  }                                                                              \
  template <class T, int N, detail::ConstantFor<T> S>                            \
  KOKKOS_FORCEINLINE_FUNCTION Dual<T, N> name(S const& x, Dual<T, N> const& y) { \
    return name(Dual<T, N>(x), y);                                               \
  }
COIR_DUAL_MIXED(atan2)
COIR_DUAL_MIXED(logaddexp)
COIR_DUAL_MIXED(hypot)
COIR_DUAL_MIXED(fmod)
COIR_DUAL_MIXED(remainder)
COIR_DUAL_MIXED(copysign)
COIR_DUAL_MIXED(minimum)
COIR_DUAL_MIXED(maximum)
COIR_DUAL_MIXED(fmin)
COIR_DUAL_MIXED(fmax)
COIR_DUAL_MIXED(fdim)
#undef COIR_DUAL_MIXED

namespace detail {

/// The one dual type among these types; the others are constants beside it.
template <class... X>
struct DualAmong;
template <class T, int N, class... X>
struct DualAmong<Dual<T, N>, X...> {
  using type = Dual<T, N>;
};
template <class S, class... X>
  requires(!is_dual<S>)
struct DualAmong<S, X...> : DualAmong<X...> {};
template <class... X>
using dual_among_t = typename DualAmong<X...>::type;

template <class... X>
concept AnyDual = (is_dual<X> || ...);

}  // namespace detail

/// x y + z, with the value rounded once
template <class X, class Y, class Z>
  requires detail::AnyDual<X, Y, Z>
KOKKOS_FORCEINLINE_FUNCTION auto fma(X const& x, Y const& y, Z const& z) {
  using namespace math;
  using D = detail::dual_among_t<X, Y, Z>;
  D const a(x), b(y), c(z);
  D result;
  result.value = fma(a.value, b.value, c.value);
  COIR_UNROLL
  for (int k = 0; k < D::directions; ++k)
    result.derivative[k] =
        a.derivative[k] * b.value + (a.value * b.derivative[k] + c.derivative[k]);
  return result;
}

/// a if the condition is true, otherwise b
template <class A, class B>
  requires detail::AnyDual<A, B>
KOKKOS_FORCEINLINE_FUNCTION constexpr auto where(bool condition, A const& a, B const& b) {
  using D = detail::dual_among_t<A, B>;
  return condition ? D(a) : D(b);
}

/// x limited to [low, high]
template <class X, class L, class H>
  requires detail::AnyDual<X, L, H>
KOKKOS_FORCEINLINE_FUNCTION constexpr auto clip(X const& x, L const& low, H const& high) {
  using D = detail::dual_among_t<X, L, H>;
  return minimum(maximum(D(x), D(low)), D(high));
}

}  // namespace coir
