#pragma once

/// \file
/// Functions of a number that NumPy has beside those of cmath, for kernels.

#include <coir/core/math.hpp>

#include <limits>
#include <numbers>

namespace coir::math {

/// log(e^x + e^y), without overflow
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T logaddexp(T x, T y) {
  T const larger = select((x > y) | (x != x), x, y);
  T const distance = select(x == y, T(0), abs(x - y));  // 0 for equal infinities, too
  return larger + log1p(exp(-distance));
}

/// sin(pi x) / (pi x), and 1 at 0
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T sinc(T x) {
  T const angle = std::numbers::pi_v<T> * x;
  return select(x == T(0), T(1), sin(angle) / angle);
}

// g++ makes vectors of rint alone, because the C library's other functions must not raise the flag
// that a result is inexact. So array functions round by rint on hosts.

/// The largest whole number up to x.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T round_down(T x) {
  if constexpr (COIR_ON_DEVICE) {
    return floor(x);
  } else {
    T const nearest = rint(x), below = nearest - T(1);
    return nearest > x ? below : nearest;
  }
}

/// The smallest whole number from x on.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T round_up(T x) {
  return -round_down(-x);
}

/// The whole number next to x on the side of 0.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T round_to_zero(T x) {
  return copysign(round_down(abs(x)), x);
}

/// The nearest whole number, halves away from 0.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T round_halves_away(T x) {
  T const size = abs(x), whole = round_down(size);
  T const next = whole + T(1);
  return copysign(size - whole >= T(0.5) ? next : whole, x);
}

/// Gamma(x). Of floats on hosts by a form that compilers vectorise, rounded from a relative error
/// below 1e-13; otherwise the C library's or the device's tgamma.
///
/// \see Lanczos, A precision approximation of the gamma function, SIAM J. Numer. Anal. B 1, 1964;
///   with g = 7 and nine terms, here as a quotient of polynomials
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T gamma(T x) {
  if constexpr (COIR_ON_DEVICE || sizeof(T) != 4) {
    return tgamma(x);
  } else {
    // Below 1/2 by Gamma(x) Gamma(1 - x) = pi / sin(pi x).
    double const at = static_cast<double>(x);
    bool const is_mirrored = at < 0.5;
    double const z =
        fmin(select(is_mirrored, -at, at - 1), 200.0);  // beyond, floats are 0 or infinite
    double const above[] = {10619610.099075994, 11246929.484659927, 5210869.017760832,
                            1379496.2658786708, 228235.2154997145,  24165.510665029535,
                            1599.0425347220457, 60.45833333334203,  0.9999999999998099};
    double const below[] = {40320, 109584, 118124, 67284, 22449, 4536, 546, 36, 1};
    double numerator = above[8], denominator = below[8];
    COIR_UNROLL
    for (int i = 7; i >= 0; --i) {
      numerator = numerator * z + above[i];
      denominator = denominator * z + below[i];
    }
    constexpr double root_of_2_pi = 2.5066282746310002;
    double const t = z + 7.5, power = exp((z + 0.5) * log(t) - t);
    double const of_z = root_of_2_pi * (numerator / denominator) * power;
    double const whole = rint(at), rest = at - whole, half = 0.5 * whole;
    double const sign = select(rint(half) == half, 1.0, -1.0);  // of sin(pi at) / sin(pi rest)
    double const mirrored = std::numbers::pi / (sign * sin(std::numbers::pi * rest) * of_z);
    double const of_whole = select(at == 0, 1 / at, std::numeric_limits<double>::quiet_NaN());
    double const result = select(is_mirrored, select(rest == 0, of_whole, mirrored), of_z);
    return static_cast<T>(select(at == at, result, at));
  }
}

/// Whether the sign bit is set: true for -0 and some NaN.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION bool signbit(T x) {
  return copysign(T(1), x) < T(0);
}

}  // namespace coir::math
