#pragma once

/// \file
/// Python's // and % of real numbers: the quotient rounded down, and a remainder with the divisor's
/// sign.

#include <coir/core/math.hpp>

#include <limits>

namespace coir::detail {

/// x - floor(x / y) y, exact except for one rounding if the rest takes the sign of y. NaN for y = 0
/// and an infinite x.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T floor_rest(T x, T y) {
  T const rest = math::fmod(x, y);
  if (rest == T(0)) return math::copysign(T(0), y);
  return (rest < T(0)) != (y < T(0)) ? rest + y : rest;
}

/// floor(x / y) of the exact quotient, by way of the rest. x / y for y = 0, NaN for an infinite x.
template <std::floating_point T>
KOKKOS_INLINE_FUNCTION T floor_quotient_by_rest(T x, T y) {
  if (y == T(0)) return x / y;
  T const rest = math::fmod(x, y);
  T quotient = (x - rest) / y;
  if (rest != T(0) && (rest < T(0)) != (y < T(0))) quotient -= T(1);
  if (quotient == T(0)) return math::copysign(T(0), x / y);
  T const down = math::floor(quotient);
  return quotient - down > T(0.5) ? down + T(1) : down;
}

/// floor(x / y) of the exact quotient, as floor_quotient_by_rest(), but faster where there is an
/// fma instruction.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T floor_quotient(T x, T y) {
  if constexpr (math::has_fma()) {
    // Rounding may bring x / y to the next integer, but not beyond. The sign of the rest, which is
    // exact, tells.
    constexpr T exact = T(std::int64_t(1) << (std::numeric_limits<T>::digits - 3));
    T const quotient = math::floor(x / y);
    T const rest = math::fma(-quotient, y, x);
    if (math::abs(quotient) < exact && rest == rest)
      return rest != T(0) && (rest < T(0)) != (y < T(0)) ? quotient - T(1) : quotient;
  }
  return floor_quotient_by_rest(x, y);
}

}  // namespace coir::detail
