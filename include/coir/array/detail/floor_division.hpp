#pragma once

/// \file
/// Python's // and %: the quotient rounded down, and a remainder with the divisor's sign.

#include <coir/core/math.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

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

/// Divides signed integers of 32 or 64 bits by a number that is known before a kernel starts: on
/// hosts by a multiplication and a shift, which take less time than a division.
///
/// With N bits and 2^(s - 1) < d <= 2^s the quotient of 0 <= n < 2^(N - 1) is floor(n m / 2^(N - 1
/// + s)) for m = floor(2^(N - 1 + s) / d) + 1. That of a negative n is -1 - floor((-1 - n) / d).
///
/// \tparam Plain  the functor that divides two numbers, for divisors below 2
/// \see Granlund & Montgomery, Division by invariant integers using multiplication, PLDI 1994,
///   section 5
template <std::signed_integral T, class Plain>
class FloorDivideBy {
 public:
  explicit FloorDivideBy(T divisor) : divisor_(divisor) {
    if (divisor < 2) return;
    shift_ = std::bit_width(static_cast<Unsigned>(divisor - 1)) - 1;
    factor_ = static_cast<Unsigned>((Wide(1) << (bits + shift_)) / static_cast<Unsigned>(divisor)) +
              Unsigned(1);
  }

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x) const {
    if (COIR_ON_DEVICE || divisor_ < 2) return Plain{}(x, divisor_);
    auto const sign = static_cast<Unsigned>(x >> (bits - 1));
    Unsigned const size = static_cast<Unsigned>(x) ^ sign;
    auto const high = static_cast<Unsigned>((Wide(size) * factor_) >> bits);
    return static_cast<T>((high >> shift_) ^ sign);
  }

 private:
  using Unsigned = std::make_unsigned_t<T>;
  __extension__ using Wide = std::conditional_t < sizeof(T) == 4, std::uint64_t,
                      unsigned __int128 > ;
  static constexpr int bits = 8 * sizeof(T);

  T divisor_;
  int shift_ = 0;  // s - 1
  Unsigned factor_ = 0;
};

}  // namespace coir::detail
