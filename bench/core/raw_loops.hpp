#pragma once

/// The loops that coir's loops are measured against, as one writes them by hand for a host.
///
/// With OpenMP the outermost index is shared among threads. The arrays don't overlap, and say so.

#include <coir/core/kokkos.hpp>

#include <cstdint>

namespace coir::bench::raw {

#if defined(_OPENMP)
#define COIR_BENCH_PARALLEL_FOR _Pragma("omp parallel for schedule(static)")
#define COIR_BENCH_PARALLEL_FOR_2 _Pragma("omp parallel for collapse(2) schedule(static)")
#define COIR_BENCH_PARALLEL_FOR_SIMD _Pragma("omp parallel for simd schedule(static)")
#define COIR_BENCH_PARALLEL_SUM _Pragma("omp parallel for simd schedule(static) reduction(+ : sum)")
#define COIR_BENCH_PARALLEL_SUM_ROWS _Pragma("omp parallel for schedule(static) reduction(+ : sum)")
#else
#define COIR_BENCH_PARALLEL_FOR
#define COIR_BENCH_PARALLEL_FOR_2
#define COIR_BENCH_PARALLEL_FOR_SIMD
#define COIR_BENCH_PARALLEL_SUM _Pragma("omp simd reduction(+ : sum)")
#define COIR_BENCH_PARALLEL_SUM_ROWS
#endif

template <class T>
void copy(std::int64_t size, T const* __restrict from, T* __restrict to) {
  COIR_BENCH_PARALLEL_FOR_SIMD
  for (std::int64_t i = 0; i < size; ++i) to[i] = from[i];
}

template <class T>
void copy(int rows, int columns, T const* __restrict from, T* __restrict to) {
  COIR_BENCH_PARALLEL_FOR
  for (int i = 0; i < rows; ++i) {
    std::int64_t const row = std::int64_t(i) * columns;
    for (int j = 0; j < columns; ++j) to[row + j] = from[row + j];
  }
}

template <class T>
void copy(int planes, int rows, int columns, T const* __restrict from, T* __restrict to) {
  copy(planes * rows, columns, from, to);
}

/// The mean of the four neighbours, at all cells but the outermost.
template <class T>
void stencil(int rows, int columns, T const* __restrict u, T* __restrict v) {
  COIR_BENCH_PARALLEL_FOR
  for (int i = 1; i < rows - 1; ++i) {
    T const* const north = u + std::int64_t(i - 1) * columns;
    T const* const here = north + columns;
    T const* const south = here + columns;
    T* const out = v + std::int64_t(i) * columns;
    for (int j = 1; j < columns - 1; ++j)
      out[j] = T(0.25) * (((north[j] + south[j]) + here[j - 1]) + here[j + 1]);
  }
}

/// The mean of the six neighbours, at all cells but the outermost.
template <class T>
void stencil(int planes, int rows, int columns, T const* __restrict u, T* __restrict v) {
  std::int64_t const plane = std::int64_t(rows) * columns;
  COIR_BENCH_PARALLEL_FOR_2
  for (int i = 1; i < planes - 1; ++i)
    for (int j = 1; j < rows - 1; ++j) {
      T const* const here = u + i * plane + std::int64_t(j) * columns;
      T* const out = v + i * plane + std::int64_t(j) * columns;
      for (int k = 1; k < columns - 1; ++k)
        out[k] = T(1.0 / 6) *
                 (((((here[k - plane] + here[k + plane]) + here[k - columns]) + here[k + columns]) +
                   here[k - 1]) +
                  here[k + 1]);
    }
}

template <class T>
T sum(std::int64_t size, T const* __restrict x) {
  T sum = 0;
  COIR_BENCH_PARALLEL_SUM
  for (std::int64_t i = 0; i < size; ++i) sum += x[i];
  return sum;
}

template <class T>
T sum(int rows, int columns, T const* __restrict x) {
  T sum = 0;
  COIR_BENCH_PARALLEL_SUM_ROWS
  for (int i = 0; i < rows; ++i) {
    T const* const row = x + std::int64_t(i) * columns;
    T row_sum = 0;
#pragma omp simd reduction(+ : row_sum)
    for (int j = 0; j < columns; ++j) row_sum += row[j];
    sum += row_sum;
  }
  return sum;
}

template <class T>
T sum(int planes, int rows, int columns, T const* __restrict x) {
  return sum(planes * rows, columns, x);
}

}  // namespace coir::bench::raw
