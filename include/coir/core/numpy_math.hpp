#pragma once

/// \file
/// Functions of a number that NumPy has beside those of cmath, for kernels.

#include <coir/core/math.hpp>

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

/// Whether the sign bit is set: true for -0 and some NaN.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION bool signbit(T x) {
  return copysign(T(1), x) < T(0);
}

}  // namespace coir::math
