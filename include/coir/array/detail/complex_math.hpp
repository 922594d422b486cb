#pragma once

/// \file
/// Functions of complex numbers for kernels, which Kokkos has in part and from some version on. Inverse
/// functions by Kahan, "Branch cuts for complex elementary functions" (1987): branch cuts and signs of
/// zero as in C's annex G.

#include <coir/core/math.hpp>

#include <Kokkos_Complex.hpp>

#include <numbers>

namespace coir::math {

template <class T>
using Complex = Kokkos::complex<T>;

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

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> exp(Complex<T> const& z) {
  T const size = math::exp(z.real());
  if (z.imag() == T(0)) return {size, z.imag()};
  return {size * math::cos(z.imag()), size * math::sin(z.imag())};
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> log(Complex<T> const& z) {
  return {math::log(math::abs(z)), math::arg(z)};
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> log10(Complex<T> const& z) {
  constexpr T factor = T(1) / std::numbers::ln10_v<T>;
  return {math::log10(math::abs(z)), math::arg(z) * factor};
}

/// The root with a real part >= 0
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> sqrt(Complex<T> const& z) {
  T const x = z.real(), y = z.imag();
  if (math::isinf(y)) return {math::abs(y), y};
  if (math::isinf(x))
    return x > T(0) ? Complex<T>(x, y == y ? math::copysign(T(0), y) : y)
                    : Complex<T>(y == y ? T(0) : y, math::copysign(x, y));
  if (x == T(0) && y == T(0)) return {T(0), y};
  // Half the size, so that the sum below can't overflow.
  T const larger = math::sqrt((math::abs(x) / 2 + math::hypot(x / 2, y / 2)));
  T const smaller = math::abs(y) / (2 * larger);
  if (x >= T(0)) return {larger, math::copysign(smaller, y)};
  return {smaller, math::copysign(larger, y)};
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> sin(Complex<T> const& z) {
  return {math::sin(z.real()) * math::cosh(z.imag()), math::cos(z.real()) * math::sinh(z.imag())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> cos(Complex<T> const& z) {
  return {math::cos(z.real()) * math::cosh(z.imag()), -math::sin(z.real()) * math::sinh(z.imag())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> sinh(Complex<T> const& z) {
  return {math::sinh(z.real()) * math::cos(z.imag()), math::cosh(z.real()) * math::sin(z.imag())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> cosh(Complex<T> const& z) {
  return {math::cosh(z.real()) * math::cos(z.imag()), math::sinh(z.real()) * math::sin(z.imag())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> tanh(Complex<T> const& z) {
  T const x = z.real(), y = z.imag();
  if (math::abs(x) > T(20))  // 1 to rounding; cosh would overflow in the end
    return {math::copysign(T(1), x),
            4 * math::sin(y) * math::cos(y) * math::exp(-2 * math::abs(x))};
  // (sinh x cosh x + i sin y cos y) / (sinh^2 x + cos^2 y)
  T const s = math::sinh(x), c = math::cos(y);
  T const below = s * s + c * c;
  return {s * math::cosh(x) / below, math::sin(y) * c / below};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> tan(Complex<T> const& z) {
  Complex<T> const w = math::tanh(Complex<T>(-z.imag(), z.real()));  // tan z = -i tanh(i z)
  return {w.imag(), -w.real()};
}

template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> asin(Complex<T> const& z) {
  Complex<T> const a = math::sqrt(Complex<T>(1 - z.real(), -z.imag()));
  Complex<T> const b = math::sqrt(Complex<T>(1 + z.real(), z.imag()));
  return {math::atan2(z.real(), a.real() * b.real() - a.imag() * b.imag()),
          math::asinh(a.real() * b.imag() - a.imag() * b.real())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> acos(Complex<T> const& z) {
  Complex<T> const a = math::sqrt(Complex<T>(1 - z.real(), -z.imag()));
  Complex<T> const b = math::sqrt(Complex<T>(1 + z.real(), z.imag()));
  return {2 * math::atan2(a.real(), b.real()),
          math::asinh(b.real() * a.imag() - b.imag() * a.real())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> acosh(Complex<T> const& z) {
  Complex<T> const a = math::sqrt(Complex<T>(z.real() - 1, z.imag()));
  Complex<T> const b = math::sqrt(Complex<T>(z.real() + 1, z.imag()));
  return {math::asinh(a.real() * b.real() + a.imag() * b.imag()),
          2 * math::atan2(a.imag(), b.real())};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> asinh(Complex<T> const& z) {
  Complex<T> const w = math::asin(Complex<T>(-z.imag(), z.real()));  // asinh z = -i asin(i z)
  return {w.imag(), -w.real()};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> atanh(Complex<T> const& z) {
  T const x = z.real(), y = z.imag();
  // By |x|, since near -1 log1p would lose its digits; atanh is odd.
  T const size = math::abs(x);
  T const distance = (1 - size) * (1 - size) + y * y;
  return {math::copysign(math::log1p(4 * size / distance) / 4, x),
          math::atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2};
}
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> atan(Complex<T> const& z) {
  Complex<T> const w = math::atanh(Complex<T>(-z.imag(), z.real()));  // atan z = -i atanh(i z)
  return {w.imag(), -w.real()};
}

/// z^w = exp(w log z), and 0^w = 0 for a w with a positive real part, z^0 = 1
template <class T>
KOKKOS_INLINE_FUNCTION Complex<T> pow(Complex<T> const& z, Complex<T> const& w) {
  if (w.real() == T(0) && w.imag() == T(0)) return {T(1), T(0)};
  if (z.real() == T(0) && z.imag() == T(0) && w.real() > T(0)) return {T(0), T(0)};
  Complex<T> const l = math::log(z);
  return math::exp(Complex<T>(w.real() * l.real() - w.imag() * l.imag(),
                              w.real() * l.imag() + w.imag() * l.real()));
}

}  // namespace coir::math
