#pragma once

/// Two normally distributed numbers from random bits, with the same bits on every backend: IEEE 754
/// fixes the rounding of all operations used, which are additions, fused multiply-adds, products
/// that nothing is added to, divisions and square roots. Without branches and calls it vectorises.

#include <coir/core/kokkos.hpp>
#include <coir/core/math.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>
#include <type_traits>

namespace coir::random {

/// std::bit_cast, which device compilers don't have everywhere.
template <class To, class From>
KOKKOS_FORCEINLINE_FUNCTION To bits_as(From const& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

KOKKOS_INLINE_FUNCTION constexpr double factorial(int n) {
  double product = 1;
  for (int k = 2; k <= n; ++k) product *= k;
  return product;
}

// Taylor series are recursions of templates, because an inner loop could keep the outer one from
// vectorising.

/// 2/(2 k + 1) + 2/(2 k + 3) x + ..., up to the term 2/(2 last + 1).
template <class T, int k, int last>
KOKKOS_FORCEINLINE_FUNCTION T artanh_series(T x) {
  constexpr T coefficient = T(2.0 / (2 * k + 1));
  if constexpr (k == last)
    return coefficient;
  else
    return math::fma(artanh_series<T, k + 1, last>(x), x, coefficient);
}

/// 1/n! - x/(n + 2)! + x^2/(n + 4)! ..., up to the term 1/last!.
template <class T, int n, int last>
KOKKOS_FORCEINLINE_FUNCTION T alternating_series(T x) {
  constexpr T coefficient = T((n & 2 ? -1 : 1) / factorial(n));
  if constexpr (n == last)
    return coefficient;
  else
    return math::fma(alternating_series<T, n + 2, last>(x), x, coefficient);
}

/// ln u for u in (0, 1], normal numbers: from u = 2^e m with m in [sqrt(1/2), sqrt(2)) and
///   ln m = 2 artanh s = 2 (s + s^3 / 3 + s^5 / 5 + ...),  s = (m - 1) / (m + 1),  |s| < 0.172.
/// The terms left out are below 2^-28 (float) and 2^-60 (double) of the sum.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T log_of(T u) {
  constexpr bool single = std::is_same_v<T, float>;
  T m;
  std::int32_t exponent;
  if constexpr (single) {
    auto const bits = bits_as<std::int32_t>(u);
    exponent = (bits - 0x3f3504f3) >> 23;  // less the bits of sqrt(1/2)
    m = bits_as<float>(bits - exponent * (1 << 23));
  } else {
    auto const bits = bits_as<std::uint64_t>(u);
    exponent = (static_cast<std::int32_t>(bits >> 32) - 0x3fe6a09e) >> 20;
    m = bits_as<double>(bits -
                        (static_cast<std::uint64_t>(static_cast<std::uint32_t>(exponent)) << 52));
  }
  T const s = (m - T(1)) / (m + T(1)), square = s * s;
  T const higher = artanh_series<T, 1, single ? 4 : 10>(square) * square;
  return math::fma(T(exponent), std::numbers::ln2_v<T>, math::fma(higher, s, s + s));
}

template <class T>
struct SineCosine {
  T sine, cosine;
};

/// Sine and cosine of a quarter of a turn times `quarter` plus an angle in [-pi/4, pi/4], by their
/// Taylor series. The terms left out are below 2^-27 (float) and 2^-54 (double).
template <class T>
KOKKOS_FORCEINLINE_FUNCTION SineCosine<T> sine_cosine(std::uint32_t quarter, T angle) {
  constexpr bool single = std::is_same_v<T, float>;
  constexpr int last = single ? 10 : 18;
  T const square = angle * angle;
  T const higher = alternating_series<T, 3, last - 1>(square) * square;
  T const sine = math::fma(higher, angle, angle);
  T const cosine = alternating_series<T, 0, last>(square);

  // Each quarter turn takes (cosine, sine) to (-sine, cosine).
  using Bits = std::conditional_t<single, std::uint32_t, std::uint64_t>;
  constexpr int sign = 8 * sizeof(T) - 1;
  bool const swapped = quarter & 1;
  T const along = swapped ? sine : cosine, across = swapped ? cosine : sine;
  return {
      bits_as<T>(static_cast<Bits>(bits_as<Bits>(across) ^ (Bits(quarter >> 1 & 1) << sign))),
      bits_as<T>(static_cast<Bits>(bits_as<Bits>(along) ^ (Bits((quarter + 1) >> 1 & 1) << sign)))};
}

/// Two independent numbers of mean 0 and deviation 1:
///   sqrt(-2 ln u) cos(2 pi v),  sqrt(-2 ln u) sin(2 pi v),
/// with u = (a + 1/2) 2^-32, v = b 2^-32 for random words a and b.
KOKKOS_FORCEINLINE_FUNCTION void box_muller(std::uint32_t a, std::uint32_t b, float& first,
                                            float& second) {
  float const u = math::fma(static_cast<float>(a), 0x1p-32f, 0x1p-33f);
  std::uint32_t const quarter = (b + 0x20000000u) >> 30;
  auto const rest = static_cast<std::int32_t>(b - (quarter << 30));
  auto const [sine, cosine] = sine_cosine(
      quarter, static_cast<float>(rest) * static_cast<float>(std::numbers::pi * 0x1p-31));
  float const radius = math::sqrt(-2.0f * log_of(u));
  first = radius * cosine;
  second = radius * sine;
}

/// The upper 53 of the 64 bits (high, low) as a whole number. Converted by halves of at most 31
/// bits, for which vector instructions are common.
KOKKOS_FORCEINLINE_FUNCTION double upper_53(std::uint32_t low, std::uint32_t high) {
  double const first = static_cast<std::int32_t>(high >> 1);
  double const second = static_cast<std::int32_t>((high & 1) << 21 | low >> 11);
  return first * 0x1p22 + second;
}

/// Two independent numbers in double by the formula above, with u = (a + 1/2) 2^-53 and v = b
/// 2^-64, where a is the upper 53 bits of (a1, a0) and b all 64 of (b1, b0).
KOKKOS_FORCEINLINE_FUNCTION void box_muller(std::uint32_t a0, std::uint32_t a1, std::uint32_t b0,
                                            std::uint32_t b1, double& first, double& second) {
  double const u = (upper_53(a0, a1) + 0.5) * 0x1p-53;
  std::uint32_t const quarter = (b1 + 0x20000000u) >> 30;
  double const rest = static_cast<std::int32_t>(b1 - (quarter << 30));
  double const fine = static_cast<std::int32_t>(b0 >> 1);
  auto const [sine, cosine] =
      sine_cosine(quarter, (rest * 0x1p31 + fine) * (std::numbers::pi * 0x1p-62));
  double const radius = math::sqrt(-2.0 * log_of(u));
  first = radius * cosine;
  second = radius * sine;
}

}  // namespace coir::random
