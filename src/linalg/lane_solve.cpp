#include "lane_solve.hpp"

#include <core/lanes.hpp>
#include <core/simd.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace coir::detail {

namespace {

template <class T>
using LanesOf = typename simd::Simd<T>::Vector;

/// Vectors from row to row of n, so many that a column isn't in a few sets of a cache.
constexpr std::int64_t row_of(std::int64_t n) { return n + 1; }

/// The row at or below k whose number in column k is the largest, in each lane, and whether that
/// number is 0.
template <class T>
struct Pivots {
  LanesOf<T> rows, largest;

  Pivots(LanesOf<T> const* a, std::int64_t n, std::int64_t k) {
    auto const magnitude = [&](std::int64_t i) {
      LanesOf<T> const value = a[i * row_of(n) + k];
      return value < 0 ? -value : value;
    };
    rows = LanesOf<T>{} + static_cast<T>(k);
    largest = magnitude(k);
    for (std::int64_t i = k + 1; i < n; ++i) {
      LanesOf<T> const value = magnitude(i), row = LanesOf<T>{} + static_cast<T>(i);
      rows = value > largest ? row : rows;
      largest = value > largest ? value : largest;
    }
  }
};

/// Whether a lane's number is above 0 and below all normal numbers.
template <class T>
bool has_subnormal(LanesOf<T> const& numbers) {
  bool found = false;
  for (int s = 0; s < simd::Simd<T>::width; ++s)
    found |= numbers[s] > 0 && numbers[s] < std::numeric_limits<T>::min();
  return found;
}

/// Subtracts multiples of row k from `Rows` rows from i on, so that their column k would be 0.
template <int Rows, class T>
void eliminate(LanesOf<T>* a, LanesOf<T>* x, std::int64_t n, std::int64_t columns, std::int64_t k,
               std::int64_t i, LanesOf<T> inverse) {
  LanesOf<T> factor[Rows];
  for (int r = 0; r < Rows; ++r) factor[r] = a[(i + r) * row_of(n) + k] * inverse;
  for (std::int64_t j = k + 1; j < n; ++j) {
    LanesOf<T> const above = a[k * row_of(n) + j];
    for (int r = 0; r < Rows; ++r) a[(i + r) * row_of(n) + j] -= factor[r] * above;
  }
  for (std::int64_t c = 0; c < columns; ++c)
    for (int r = 0; r < Rows; ++r) x[c * n + i + r] -= factor[r] * x[c * n + k];
}

}  // namespace

template <class T>
std::int64_t lane_solve_work(std::int64_t n, std::int64_t columns) {
  return (row_of(n) + columns) * n * simd::Simd<T>::width;
}

template <class T>
std::pair<std::int64_t, int> lane_solve(std::int64_t n, std::int64_t columns, std::int64_t count,
                                        T const* a, T* b, T* work) {
  constexpr std::int64_t width = simd::Simd<T>::width;
  T* const right = work + row_of(n) * n * width;
  for (std::int64_t i = 0; i < n; ++i)
    simd::to_lanes(simd::SomeLines<T const>{a + i * n, n, 1, n * n, count},
                   work + i * row_of(n) * width);
  simd::to_lanes(simd::SomeLines<T const>{b, n * columns, 1, n * columns, count}, right);
  auto* const m = reinterpret_cast<LanesOf<T>*>(work);
  auto* const x = reinterpret_cast<LanesOf<T>*>(right);
  std::pair<std::int64_t, int> failure{count, 0};
  for (std::int64_t k = 0; k < n; ++k) {
    Pivots<T> const pivots(m, n, k);
    for (std::int64_t s = 0; s < count; ++s) {
      auto const row = static_cast<std::int64_t>(pivots.rows[s]);
      if (pivots.largest[s] == 0 && s < failure.first) failure = {s, static_cast<int>(k + 1)};
      if (row == k) continue;
      for (std::int64_t j = k; j < n; ++j)
        std::swap(work[(k * row_of(n) + j) * width + s], work[(row * row_of(n) + j) * width + s]);
      for (std::int64_t c = 0; c < columns; ++c)
        std::swap(right[(c * n + k) * width + s], right[(c * n + row) * width + s]);
    }
    // 1 in lanes without a matrix, and where the matrix is singular.
    LanesOf<T> const one = LanesOf<T>{} + T(1),
                     pivot = pivots.largest == 0 ? one : m[k * row_of(n) + k];
    LanesOf<T> inverse = 1 / pivot;
    if (has_subnormal<T>(pivots.largest)) {  // whose inverse may be infinite
      for (std::int64_t i = k + 1; i < n; ++i) m[i * row_of(n) + k] /= pivot;
      inverse = one;
    }
    std::int64_t i = k + 1;
    for (; i + 4 <= n; i += 4) eliminate<4, T>(m, x, n, columns, k, i, inverse);
    for (; i < n; ++i) eliminate<1, T>(m, x, n, columns, k, i, inverse);
  }
  if (failure.first < count) return failure;
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t i = n; i-- > 0;) {
      LanesOf<T> sum = x[c * n + i];
      for (std::int64_t j = i + 1; j < n; ++j) sum -= m[i * row_of(n) + j] * x[c * n + j];
      LanesOf<T> const pivot = m[i * row_of(n) + i];
      x[c * n + i] = sum / (pivot == 0 ? LanesOf<T>{} + T(1) : pivot);
    }
  simd::from_lanes(right, simd::SomeLines<T>{b, n * columns, 1, n * columns, count});
  return {0, 0};
}

#define COIR_INSTANTIATE(T)                                                                  \
  template std::int64_t lane_solve_work<T>(std::int64_t, std::int64_t);                      \
  template std::pair<std::int64_t, int> lane_solve(std::int64_t, std::int64_t, std::int64_t, \
                                                   T const*, T*, T*);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
