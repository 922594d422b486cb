#pragma once

/// \file
/// Functions of complex numbers for kernels; older versions of Kokkos lack some. Infinities, NaN,
/// signs of zero and branch cuts are those of C's annex G (C17, G.6). If a result is finite, no
/// intermediate value overflows. Inverse functions are those of Kahan, "Branch cuts for complex
/// elementary functions" (1987).

#include <coir/core/math.hpp>

#include <Kokkos_Complex.hpp>

#include <cstdint>
#include <limits>
#include <numbers>

namespace coir::math {

template <class T>
using Complex = Kokkos::complex<T>;

namespace of_complex {

/// The x from which on exp(x) may overflow.
template <class T>
inline constexpr T near_overflow =
    T(std::numeric_limits<T>::max_exponent - 2) * std::numbers::ln2_v<T>;

/// scale exp(x) c for |c| <= 1, also where exp(x) alone overflows. For x >= near_overflow.
template <class T>
KOKKOS_INLINE_FUNCTION T grown(T x, T c, T scale = T(1)) {
  // exp(x) in three factors. The two outer ones make the smallest c so large that the product can't
  // be 0.
  constexpr bool is_double = sizeof(T) == 8;
  constexpr T part = is_double ? T(512) : T(64);
  constexpr T outer =
      is_double ? T(2.28441358653975653e222) : T(6.2351490808116168829e27);  // exp(part)
  return scale * (outer * c) * math::exp(x - 2 * part) * outer;
}

/// The numbers from which on adding 1 changes nothing.
template <class T>
inline constexpr T dwarfs_one = T(4) / std::numeric_limits<T>::epsilon();

template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool dwarf_one(T x, T y) {
  if (math::isinf(x) || math::isinf(y)) return true;
  return x == x && y == y && (math::abs(x) > dwarfs_one<T> || math::abs(y) > dwarfs_one<T>);
}

/// Real and imaginary part exchanged. For f = sin, tan, asin, atan and the hyperbolic function h of
/// the same name: f(z) = swapped(h(swapped(z))).
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Complex<T> swapped(Complex<T> const& z) {
  return {z.imag(), z.real()};
}

/// log|z|
template <class T>
KOKKOS_INLINE_FUNCTION T log_of_size(Complex<T> const& z) {
  T const x = math::abs(z.real()), y = math::abs(z.imag());
  if (math::isinf(x) || math::isinf(y)) return std::numeric_limits<T>::infinity();
  T const larger = x > y ? x : y, smaller = x > y ? y : x;
  if constexpr (sizeof(T) ==
                4) {  // squares of floats are exact in double, and don't overflow there
    double const a = double(larger) * larger, b = double(smaller) * smaller;
    bool const near_one = a + b > 0.5 && a + b < 3;
    return static_cast<T>((near_one ? math::log1p((a - 1) + b) : math::log(a + b)) / 2);
  } else {
    T const a = larger * larger, b = smaller * smaller;
    if (a + b > T(0.5) && a + b < T(3)) {
      // By log1p of x^2 + y^2 - 1, with the rounding errors of the squares, the difference and the
      // sum (Knuth's two-sum).
      T const from_squares = math::fma(larger, larger, -a) + math::fma(smaller, smaller, -b);
      T const above = a - T(1), from_difference = a - (above + T(1));
      T const sum = above + b, part = sum - above;
      T const from_sum = (above - (sum - part)) + (b - part);
      return math::log1p(sum + (from_sum + from_difference + from_squares)) / 2;
    }
    // Half of z or its 2^digits-fold: neither overflows nor loses digits of a denormal number.
    constexpr int digits = std::numeric_limits<T>::digits;
    if (larger > std::numeric_limits<T>::max() / 4)
      return math::log(math::hypot(x / 2, y / 2)) + std::numbers::ln2_v<T>;
    if (larger < std::numeric_limits<T>::min() * 4) {
      constexpr T up = T(std::int64_t(1) << digits);
      return math::log(math::hypot(x * up, y * up)) - T(digits) * std::numbers::ln2_v<T>;
    }
    return math::log(math::hypot(x, y));
  }
}

}  // namespace of_complex

/// |z|, without overflow
template <class T>
KOKKOS_INLINE_FUNCTION T abs(Complex<T> const& z) {
  return math::hypot(z.real(), z.imag());
}

/// The angle of z, in [-pi, pi]
template <class T>
KOKKOS_INLINE_FUNCTION T arg(Complex<T> const& z) {
  return math::atan2(z.imag(), z.real());
}

/// a / b, by Smith's method with Baudin's scaling ("A robust complex division in Scilab", 2012), as
/// in libgcc. Infinite for b = 0, and for an infinite a and a finite b; 0 for a finite a and an
/// infinite b.
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> divide(Complex<T> const& numerator,
                                         Complex<T> const& denominator) {
  T a = numerator.real(), b = numerator.imag(), c = denominator.real(), d = denominator.imag();
  T x, y;
  if constexpr (sizeof(T) == 4) {  // products of floats don't overflow in double
    double const wide_c = c, wide_d = d, size = wide_c * wide_c + wide_d * wide_d;
    x = static_cast<T>((a * wide_c + b * wide_d) / size);
    y = static_cast<T>((b * wide_c - a * wide_d) / size);
  } else {
    constexpr T epsilon = std::numeric_limits<T>::epsilon(), least = std::numeric_limits<T>::min(),
                half = std::numeric_limits<T>::max() / 2, most = half * epsilon;
    bool const swap = math::abs(c) < math::abs(d);
    T const size = swap ? math::abs(d) : math::abs(c);
    T const a_size = math::abs(a), b_size = math::abs(b);
    T scale = T(1);
    if (size >= half)
      scale = T(0.5);
    else if (size < least || (size < most && ((a_size < least && b_size < most) ||
                                              (b_size < least && a_size < most))))
      scale = 1 / epsilon;
    T const after = a_size > half || b_size > half ? T(4) : T(1);  // the sum below may overflow
    a *= scale / after, b *= scale / after, c *= scale, d *= scale;
    T const larger = swap ? d : c, smaller = swap ? c : d;
    T const first = swap ? b : a, second = swap ? a : b;  // factors of `larger` and `smaller`
    T const ratio = smaller / larger, below = smaller * ratio + larger;
    bool const normal = math::abs(ratio) > least;
    // `part` times the ratio, in an order in which no intermediate value leaves the range of T.
    auto const times_ratio = [=](T part) {
      if (normal) return part * ratio;
      return math::abs(part) > T(1) ? smaller * part / larger : smaller * (part / larger);
    };
    T const real = times_ratio(second) + first, imag = times_ratio(first);
    x = real / below * after;
    y = (swap ? imag - second : second - imag) / below * after;
  }
  if (x != x && y != y) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    auto const one_if_infinite = [](T t) {
      return math::copysign(math::isinf(t) ? T(1) : T(0), t);
    };
    if (c == T(0) && d == T(0) && (a == a || b == b)) {
      x = math::copysign(infinity, c) * a;
      y = math::copysign(infinity, c) * b;
    } else if ((math::isinf(a) || math::isinf(b)) && math::isfinite(c) && math::isfinite(d)) {
      a = one_if_infinite(a);
      b = one_if_infinite(b);
      x = infinity * (a * c + b * d);
      y = infinity * (b * c - a * d);
    } else if ((math::isinf(c) || math::isinf(d)) && math::isfinite(a) && math::isfinite(b)) {
      c = one_if_infinite(c);
      d = one_if_infinite(d);
      x = T(0) * (a / 2 * c + b / 2 * d);
      y = T(0) * (b / 2 * c - a / 2 * d);
    }
  }
  return {x, y};
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> exp(Complex<T> const& z) {
  T const x = z.real(), y = z.imag();
  if (y == T(0)) return {math::exp(x), y};
  if (math::isinf(x) && !math::isfinite(y))
    return x < T(0) ? Complex<T>(T(0), T(0)) : Complex<T>(x, y - y);
  if (x > of_complex::near_overflow<T>)
    return {of_complex::grown(x, math::cos(y)), of_complex::grown(x, math::sin(y))};
  T const size = math::exp(x);
  return {size * math::cos(y), size * math::sin(y)};
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> log(Complex<T> const& z) {
  return {of_complex::log_of_size(z), math::arg(z)};
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> log10(Complex<T> const& z) {
  constexpr T factor = T(1) / std::numbers::ln10_v<T>;
  return {of_complex::log_of_size(z) * factor, math::arg(z) * factor};
}

/// The root with a real part >= 0
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> sqrt(Complex<T> const& z) {
  T x = z.real(), y = z.imag();
  if (math::isinf(y)) return {math::abs(y), y};
  if (math::isinf(x))
    return x > T(0) ? Complex<T>(x, y == y ? math::copysign(T(0), y) : y)
                    : Complex<T>(y == y ? T(0) : y, math::copysign(x, y));
  if (x == T(0) && y == T(0)) return {T(0), y};
  // Times a power of 4, so that the sum below neither overflows nor loses digits of a denormal
  // number.
  constexpr T most = std::numeric_limits<T>::max() / 4,
              least = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  T scale = T(1);
  if (math::abs(x) > most || math::abs(y) > most)
    scale = T(0.5);
  else if (math::abs(x) < least && math::abs(y) < least)
    scale = T(std::int64_t(1) << std::numeric_limits<T>::digits);
  x *= scale * scale;
  y *= scale * scale;
  T const root = math::sqrt((math::abs(x) + math::hypot(x, y)) / 2);
  T const larger = root / scale, smaller = math::abs(y) / (2 * root) / scale;
  if (x >= T(0)) return {larger, math::copysign(smaller, y)};
  return {smaller, math::copysign(larger, y)};
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> sinh(Complex<T> const& z) {
  T const x = z.real(), y = z.imag(), size = math::abs(x);
  if (y == T(0)) return {math::sinh(x), y};
  if (!math::isfinite(y) && x == T(0)) return {x, y - y};
  if (!math::isfinite(y) && math::isinf(x)) return {size, y - y};
  T const s = math::sin(y), c = math::cos(y);
  if (size > of_complex::near_overflow<T>)
    return {of_complex::grown(size, c, math::copysign(T(0.5), x)),
            of_complex::grown(size, s, T(0.5))};
  return {math::sinh(x) * c, math::cosh(x) * s};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> cosh(Complex<T> const& z) {
  T const x = z.real(), y = z.imag(), size = math::abs(x);
  if (y == T(0)) return {math::cosh(x), math::copysign(T(1), x) * y};
  if (!math::isfinite(y) && x == T(0)) return {y - y, x};
  if (!math::isfinite(y) && math::isinf(x)) return {size, y - y};
  T const s = math::sin(y), c = math::cos(y);
  if (size > of_complex::near_overflow<T>)
    return {of_complex::grown(size, c, T(0.5)),
            of_complex::grown(size, s, math::copysign(T(0.5), x))};
  return {math::cosh(x) * c, math::sinh(x) * s};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> sin(Complex<T> const& z) {
  return of_complex::swapped(math::sinh(of_complex::swapped(z)));
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> cos(Complex<T> const& z) {
  return math::cosh(Complex<T>(-z.imag(), z.real()));  // cos z = cosh(i z)
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> tanh(Complex<T> const& z) {
  T const x = z.real(), y = z.imag();
  if (x == T(0)) return {x, math::tan(y)};
  if (y == T(0)) return {math::tanh(x), y};
  if (math::isinf(x) && !math::isfinite(y))
    return {math::copysign(T(1), x), math::copysign(T(0), y)};
  T const sine = math::sin(y), c = math::cos(y);
  if (math::abs(x) > T(20) && math::isfinite(y))  // 1 to rounding; cosh would overflow in the end
    return {math::copysign(T(1), x), 4 * sine * c * math::exp(-2 * math::abs(x))};
  // (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)
  T const s = math::sinh(x), below = s * s + c * c;
  return {s * math::cosh(x) / below, sine * c / below};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> tan(Complex<T> const& z) {
  return of_complex::swapped(math::tanh(of_complex::swapped(z)));
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> asin(Complex<T> const& z) {
  T const x = z.real(), y = z.imag();
  if (x == T(0)) return {x, math::asinh(y)};
  if (of_complex::dwarf_one(x, y))
    return {math::atan2(x, math::abs(y)),
            math::copysign(of_complex::log_of_size(z) + std::numbers::ln2_v<T>, y)};
  Complex<T> const a = math::sqrt(Complex<T>(1 - x, -y)), b = math::sqrt(Complex<T>(1 + x, y));
  return {math::atan2(x, a.real() * b.real() - a.imag() * b.imag()),
          math::asinh(a.real() * b.imag() - a.imag() * b.real())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> acos(Complex<T> const& z) {
  T const x = z.real(), y = z.imag();
  if (x == T(0)) return {std::numbers::pi_v<T> / 2, -math::asinh(y)};
  if (of_complex::dwarf_one(x, y))
    return {math::atan2(math::abs(y), x),
            -math::copysign(of_complex::log_of_size(z) + std::numbers::ln2_v<T>, y)};
  Complex<T> const a = math::sqrt(Complex<T>(1 - x, -y)), b = math::sqrt(Complex<T>(1 + x, y));
  return {2 * math::atan2(a.real(), b.real()),
          math::asinh(b.real() * a.imag() - b.imag() * a.real())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> acosh(Complex<T> const& z) {
  Complex<T> const w = math::acos(z);  // acosh z = i acos z or -i acos z
  T const y = z.imag();
  return {math::abs(w.imag()), y == y ? math::copysign(w.real(), y) : w.real()};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> asinh(Complex<T> const& z) {
  return of_complex::swapped(math::asin(of_complex::swapped(z)));
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> atanh(Complex<T> const& z) {
  T const x = z.real(), y = z.imag();
  if (x == T(0)) return {x, math::atan(y)};
  if (of_complex::dwarf_one(x, y)) {  // 1 / z +- i pi / 2
    T const half = math::hypot(x / 2, y / 2);
    bool const infinite = math::isinf(x) || math::isinf(y);
    return {infinite ? math::copysign(T(0), x) : x / 2 / half / half / 2,
            y == y ? math::copysign(std::numbers::pi_v<T> / 2, y) : y};
  }
  // By |x|, since near -1 log1p would lose its digits; atanh is odd.
  T const size = math::abs(x), distance = (1 - size) * (1 - size) + y * y;
  bool const at_one = size == T(1) && math::abs(y) < std::numeric_limits<T>::epsilon();
  T const real = at_one ? (std::numbers::ln2_v<T> - math::log(math::abs(y))) / 2
                        : math::log1p(4 * size / distance) / 4;
  return {math::copysign(real, x), math::atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> atan(Complex<T> const& z) {
  return of_complex::swapped(math::atanh(of_complex::swapped(z)));
}

namespace of_complex {

/// z^n by squaring, n from 1 to 99.
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> whole_power(Complex<T> factor, int n) {
  Complex<T> result(T(1), T(0));
  bool first = true;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = first ? factor : result * factor;
    first = first && n % 2 == 0;
    if (n > 1) factor = factor * factor;
  }
  return result;
}

}  // namespace of_complex

/// z^w = exp(w log z), and z^n by squaring for whole numbers |n| < 100. As in NumPy z^0 = 1, and
/// 0^w is 0 for a w with a positive real part, otherwise NaN.
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> pow(Complex<T> const& z, Complex<T> const& w) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  bool const real_exponent = w.imag() == T(0);
  T const n = w.real();
  if (real_exponent && n == T(0)) return {T(1), T(0)};
  if (z.real() == T(0) && z.imag() == T(0))
    return n > T(0) ? Complex<T>(T(0), T(0)) : Complex<T>(nan, nan);
  if (real_exponent && math::abs(n) < T(100) && n == math::trunc(n)) {
    Complex<T> const factor = n < T(0) ? math::divide(Complex<T>(T(1), T(0)), z) : z;
    Complex<T> const result = of_complex::whole_power(factor, static_cast<int>(math::abs(n)));
    if (math::abs(n) == T(1) || (math::isfinite(result.real()) && math::isfinite(result.imag())))
      return result;
  }
  Complex<T> const l = math::log(z);
  if (real_exponent) return math::exp(Complex<T>(n * l.real(), n * l.imag()));
  return math::exp(
      Complex<T>(n * l.real() - w.imag() * l.imag(), n * l.imag() + w.imag() * l.real()));
}

}  // namespace coir::math
