#pragma once

/// Functions of the BLAS by the type of their numbers, in Fortran's calling convention.

#include <coir/core/kokkos.hpp>

#define COIR_DECLARE_BLAS(letter, T)                                                               \
  extern "C" void letter##syrk_(char const* uplo, char const* operation, int const* n,             \
                                int const* k, T const* alpha, T const* a, int const* lda,          \
                                T const* beta, T* c, int const* ldc);                              \
  extern "C" void letter##gemv_(char const* operation, int const* m, int const* n, T const* alpha, \
                                T const* a, int const* lda, T const* x, int const* incx,           \
                                T const* beta, T* y, int const* incy);                             \
  extern "C" void letter##gemm_(char const* operation_a, char const* operation_b, int const* m,    \
                                int const* n, int const* k, T const* alpha, T const* a,            \
                                int const* lda, T const* b, int const* ldb, T const* beta, T* c,   \
                                int const* ldc);                                                   \
  extern "C" void letter##trsm_(char const* side, char const* uplo, char const* operation,         \
                                char const* diagonal, int const* m, int const* n, T const* alpha,  \
                                T const* a, int const* lda, T* b, int const* ldb);                 \
  namespace coir::detail {                                                                         \
  inline constexpr auto syrk_of(T) { return letter##syrk_; }                                       \
  inline constexpr auto gemv_of(T) { return letter##gemv_; }                                       \
  inline constexpr auto gemm_of(T) { return letter##gemm_; }                                       \
  inline constexpr auto trsm_of(T) { return letter##trsm_; }                                       \
  }
COIR_DECLARE_BLAS(s, float)
COIR_DECLARE_BLAS(d, double)
COIR_DECLARE_BLAS(c, Kokkos::complex<float>)
COIR_DECLARE_BLAS(z, Kokkos::complex<double>)
#undef COIR_DECLARE_BLAS
