#pragma once

/// \file
/// The functions of cmath for kernels: one spelling on every backend and Kokkos version.
///
/// On x86-64 hosts with g++, alone or behind nvcc, and glibc 2.35 or newer, loops that call these
/// functions are vectorised by glibc's libmvec, without -ffast-math. Results are within 4 ulp
/// (glibc manual, "Errors in Math Functions"), and infinities and NaN are kept. There, sines and
/// cosines of floats beyond 1e4 are coir's own, within 2 ulp. Elsewhere the functions are the C
/// library's or the device's. cbrt is exact for cubes everywhere.

#include <coir/core/kokkos.hpp>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__CUDA_ARCH__) && !defined(__HIPCC__)
#if __GLIBC_PREREQ(2, 35)
#define COIR_VECTOR_MATH
#endif
#endif

namespace coir::math {

#ifdef COIR_VECTOR_MATH
// glibc declares its vector variants only for code compiled with -ffast-math. Functions of our own
// names with the same symbols declare them here. nvcc drops the attribute simd on its way to g++,
// and passes on OpenMP's pragma.
#ifdef __CUDACC__
#define COIR_HAS_VECTOR_VARIANT _Pragma("omp declare simd notinbranch")
#define COIR_PURE __attribute__((const))
#else
#define COIR_HAS_VECTOR_VARIANT
#define COIR_PURE __attribute__((const, simd("notinbranch")))
#endif
#define COIR_DECLARE_VECTOR_MATH(name, float_symbol)                                           \
  namespace vector {                                                                           \
  extern "C" {                                                                                 \
  COIR_HAS_VECTOR_VARIANT double coir_vector_##name(double) noexcept __asm__(#name) COIR_PURE; \
  COIR_HAS_VECTOR_VARIANT float coir_vector_##name##f(float) noexcept                          \
      __asm__(float_symbol) COIR_PURE;                                                         \
  }                                                                                            \
  inline double name(double x) { return coir_vector_##name(x); }                               \
  inline float name(float x) { return coir_vector_##name##f(x); }                              \
  }
#define COIR_DECLARE_VECTOR_MATH_2(name)                                      \
  namespace vector {                                                          \
  extern "C" {                                                                \
  COIR_HAS_VECTOR_VARIANT double coir_vector_##name(double, double) noexcept  \
      __asm__(#name) COIR_PURE;                                               \
  COIR_HAS_VECTOR_VARIANT float coir_vector_##name##f(float, float) noexcept  \
      __asm__(#name "f") COIR_PURE;                                           \
  }                                                                           \
  inline double name(double x, double y) { return coir_vector_##name(x, y); } \
  inline float name(float x, float y) { return coir_vector_##name##f(x, y); } \
  }
#define COIR_BEST_MATH vector
#else
#define COIR_DECLARE_VECTOR_MATH(name, float_symbol)
#define COIR_DECLARE_VECTOR_MATH_2(name)
#define COIR_BEST_MATH std
#endif

// std::name has float and double overloads on every device compiler.
#define COIR_UNARY_MATH(name, from)         \
  template <std::floating_point T>          \
  KOKKOS_FORCEINLINE_FUNCTION T name(T x) { \
    using from::name;                       \
    return name(x);                         \
  }
#define COIR_BINARY_MATH(name, from)             \
  template <std::floating_point T>               \
  KOKKOS_FORCEINLINE_FUNCTION T name(T x, T y) { \
    using from::name;                            \
    return name(x, y);                           \
  }
#define COIR_VECTOR_UNARY_MATH(name)        \
  COIR_DECLARE_VECTOR_MATH(name, #name "f") \
  COIR_UNARY_MATH(name, COIR_BEST_MATH)
// Vector variants for floats of coir's own: src/core/sine.cpp.
#define COIR_OWN_UNARY_MATH(name)                   \
  COIR_DECLARE_VECTOR_MATH(name, "coir_" #name "f") \
  COIR_UNARY_MATH(name, COIR_BEST_MATH)
#define COIR_VECTOR_BINARY_MATH(name) \
  COIR_DECLARE_VECTOR_MATH_2(name)    \
  COIR_BINARY_MATH(name, COIR_BEST_MATH)

COIR_VECTOR_UNARY_MATH(exp)
COIR_VECTOR_UNARY_MATH(exp2)
COIR_VECTOR_UNARY_MATH(expm1)
COIR_VECTOR_UNARY_MATH(log)
COIR_VECTOR_UNARY_MATH(log2)
COIR_VECTOR_UNARY_MATH(log10)
COIR_VECTOR_UNARY_MATH(log1p)
COIR_OWN_UNARY_MATH(sin)
COIR_OWN_UNARY_MATH(cos)
COIR_VECTOR_UNARY_MATH(tan)
COIR_VECTOR_UNARY_MATH(asin)
COIR_VECTOR_UNARY_MATH(acos)
COIR_VECTOR_UNARY_MATH(atan)
COIR_VECTOR_UNARY_MATH(sinh)
COIR_VECTOR_UNARY_MATH(cosh)
COIR_VECTOR_UNARY_MATH(tanh)
COIR_VECTOR_UNARY_MATH(asinh)
COIR_VECTOR_UNARY_MATH(acosh)
COIR_VECTOR_UNARY_MATH(atanh)
COIR_DECLARE_VECTOR_MATH(cbrt, "cbrtf")
COIR_VECTOR_UNARY_MATH(erf)
COIR_VECTOR_UNARY_MATH(erfc)
COIR_VECTOR_BINARY_MATH(pow)
COIR_VECTOR_BINARY_MATH(atan2)
COIR_VECTOR_BINARY_MATH(hypot)

COIR_UNARY_MATH(sqrt, std)
COIR_UNARY_MATH(floor, std)
COIR_UNARY_MATH(ceil, std)
COIR_UNARY_MATH(trunc, std)
COIR_UNARY_MATH(rint, std)
COIR_UNARY_MATH(round, std)
COIR_UNARY_MATH(tgamma, std)
COIR_UNARY_MATH(lgamma, std)
COIR_BINARY_MATH(copysign, std)
COIR_BINARY_MATH(nextafter, std)

#undef COIR_UNARY_MATH
#undef COIR_BINARY_MATH
#undef COIR_VECTOR_UNARY_MATH
#undef COIR_OWN_UNARY_MATH
#undef COIR_VECTOR_BINARY_MATH
#undef COIR_DECLARE_VECTOR_MATH
#undef COIR_DECLARE_VECTOR_MATH_2
#undef COIR_HAS_VECTOR_VARIANT
#undef COIR_PURE

/// |x|
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T abs(T x) {
  using std::fabs;
  return fabs(x);
}

/// Whether x - n y is exact in double for a finite y and n = x / y, rounded to a whole number in
/// any way. Then the rounded quotient lies on the same side of each n, and of each n + 1/2, as the
/// exact one: that differs from them by 2^-25 and more, or not at all.
KOKKOS_FORCEINLINE_FUNCTION bool rest_is_exact(double quotient, float y) {
  return abs(quotient) < 0x1p27 && abs(y) <= std::numeric_limits<float>::max();
}

/// x - trunc(x / y) y, exactly.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T fmod(T x, T y) {
  if constexpr (std::is_same_v<T, float> && !COIR_ON_DEVICE) {  // the C library's takes longer
    double const quotient = double(x) / double(y);
    if (rest_is_exact(quotient, y))
      return copysign(static_cast<float>(double(x) - trunc(quotient) * double(y)), x);
  }
  using std::fmod;
  return fmod(x, y);
}

/// x - n y, exactly, for the whole number n nearest to x / y, which is even of two.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T remainder(T x, T y) {
  if constexpr (std::is_same_v<T, float> && !COIR_ON_DEVICE) {
    double const quotient = double(x) / double(y);
    if (rest_is_exact(quotient, y)) {
      auto const rest = static_cast<float>(double(x) - rint(quotient) * double(y));
      return rest == 0 ? copysign(rest, x) : rest;
    }
  }
  using std::remainder;
  return remainder(x, y);
}

/// x rounded to the nearest whole number, halves to the even one. If the result doesn't fit an I,
/// any number.
template <std::signed_integral I, std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION I nearest(T x) {
#if defined(__CUDA_ARCH__)
  // One instruction; rint() and a conversion are two.
  if constexpr (sizeof(I) == 4 && sizeof(T) == 4)
    return __float2int_rn(x);
  else
    return static_cast<I>(__double2ll_rn(static_cast<double>(x)));
#else
  return static_cast<I>(rint(x));
#endif
}

/// x y + z, rounded once
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T fma(T x, T y, T z) {
  using std::fma;
  return fma(x, y, z);
}

/// Whether the processor has an instruction for fma.
constexpr bool has_fma() {
#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__aarch64__) || \
    defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return true;
#else
  return false;
#endif
}

/// x y + z, rounded once if the processor has an instruction for that, and twice otherwise.
///
/// Compilers decide for each expression x * y + z whether they round once or twice, so that the
/// same formula in two kernels may give different bits. This function rounds alike everywhere in a
/// program. math::fma rounds once on every processor, slowly if there is no instruction.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T multiply_add(T x, T y, T z) {
  if constexpr (has_fma())
    return fma(x, y, z);
  else
    return x * y + z;
}

/// x y, rounded before anything is added. Compilers may round the expression x * y + z only once:
/// use this function where bits must be the same everywhere.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T rounded_product(T x, T y) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 4)
    return __fmul_rn(x, y);
  else
    return __dmul_rn(x, y);
#elif defined(__clang__)
#pragma clang fp contract(off)
  return x * y;
#else
  // g++'s pragmas against fusing don't hold in vectorised loops. Without an fma instruction nothing
  // is fused.
  if constexpr (has_fma())
    return fma(x, y, T(-0.0));
  else
    return x * y;
#endif
}

/// a if the condition is true, otherwise b; on hosts without a branch. Compilers turn a conditional
/// expression with expensive operands into a branch, and don't vectorise loops with branches.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T select(bool condition, T const& a, T const& b) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    Bits const mask = Bits(0) - static_cast<Bits>(condition);
    return std::bit_cast<T>((std::bit_cast<Bits>(a) & mask) | (std::bit_cast<Bits>(b) & ~mask));
  }
#endif
  return condition ? a : b;
}

/// The smaller number, the other one if one is NaN.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T fmin(T x, T y) {
  return (x < y) | (y != y) ? x : y;
}

/// The larger number, the other one if one is NaN.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T fmax(T x, T y) {
  return (x > y) | (y != y) ? x : y;
}

/// x - y, but 0 where that is negative.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T fdim(T x, T y) {
  T const difference = x - y;
  return x <= y ? T(0) : difference;
}

/// True for NaN alone.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION bool isnan(T x) {
  return x != x;
}

/// True for the two infinities.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION bool isinf(T x) {
  constexpr T largest = std::numeric_limits<T>::max();
  return abs(x) > largest;
}

/// True for all numbers but NaN and the infinities.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION bool isfinite(T x) {
  constexpr T largest = std::numeric_limits<T>::max();
  return abs(x) <= largest;
}

/// The cube root of x: exact for cubes, otherwise within 1 ulp.
template <std::floating_point T>
KOKKOS_FORCEINLINE_FUNCTION T cbrt(T x) {
  using COIR_BEST_MATH::cbrt;
  // One of Halley's steps from a root within some ulp, of which half of the digits are kept: their
  // square is exact.
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits last_digits = (Bits(1) << (std::numeric_limits<T>::digits / 2 + 1)) - 1;
  T const root = cbrt(x);
  T const start = std::bit_cast<T>(std::bit_cast<Bits>(root) & ~last_digits);
  T const other = x / (start * start);
  T const better = start + start * ((other - start) / (start + start + other));
  return select(better == better, better, root);  // for 0, infinities and NaN the root
}

#undef COIR_BEST_MATH

}  // namespace coir::math
