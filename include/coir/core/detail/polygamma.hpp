#pragma once

/// \file
/// The logarithmic derivative of the gamma function, and its derivative.

#include <coir/core/math.hpp>

#include <concepts>
#include <numbers>

namespace coir::math {

/// The digamma function psi(x) = d/dx log |Gamma(x)|, to 16 eps of 1 + |psi(x)|: near its zeros
/// that is an absolute error. NaN at the poles -1, -2, ...; infinite at 0.
///
/// \see Abramowitz, Stegun, Handbook of Mathematical Functions, 6.3.5, 6.3.7 and 6.3.18
template <std::floating_point T>
KOKKOS_INLINE_FUNCTION T digamma(T x) {
  if (x == T(0)) return T(-1) / x;
  T result = 0;
  if (x < T(0)) {
    T const rest = x - math::rint(x);  // exact: cot(pi x) has period 1
    if (rest == T(0) || !math::isfinite(x)) return T(0) / T(0);
    result = -std::numbers::pi_v<T> / math::tan(std::numbers::pi_v<T> * rest);
    x = T(1) - x;
  }
  for (; x < T(10); x += T(1)) result -= T(1) / x;
  T const z = T(1) / x / x;
  T const tail =
      z *
      (T(1.0 / 12) -
       z * (T(1.0 / 120) -
            z * (T(1.0 / 252) -
                 z * (T(1.0 / 240) - z * (T(1.0 / 132) - z * (T(691.0 / 32760) - z / T(12)))))));
  return result + (math::log(x) - (T(1) / (T(2) * x) + tail));
}

/// The trigamma function d/dx psi(x), to 16 eps of its own size for x > 0, and of pi^2 / sin^2(pi
/// x) for x < 0. Infinite at 0, -1, -2, ...
///
/// \see Abramowitz, Stegun, Handbook of Mathematical Functions, 6.4.6, 6.4.7 and 6.4.12
template <std::floating_point T>
KOKKOS_INLINE_FUNCTION T trigamma(T x) {
  if (x <= T(0)) {
    T const sine = math::sin(std::numbers::pi_v<T> * (x - math::rint(x)));
    T const ratio = std::numbers::pi_v<T> / sine;
    return ratio * ratio - trigamma(T(1) - x);
  }
  T result = 0;
  for (; x < T(10); x += T(1)) result += T(1) / x / x;
  T const z = T(1) / x / x;
  T const tail =
      z * (T(1.0 / 6) -
           z * (T(1.0 / 30) -
                z * (T(1.0 / 42) -
                     z * (T(1.0 / 30) -
                          z * (T(5.0 / 66) -
                               z * (T(691.0 / 2730) - z * (T(7.0 / 6) - z * T(3617.0 / 510))))))));
  return result + (T(1) / x + (T(0.5) * z + tail / x));
}

}  // namespace coir::math
