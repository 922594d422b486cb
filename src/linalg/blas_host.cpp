#include "blas_calls.hpp"
#include "blas_factors.hpp"

#include <core/kokkos_kernels.hpp>

#include <coir/core/kokkos.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

// The functions of the BLAS that Kokkos Kernels links are called directly, in Fortran's calling
// convention: Kokkos Kernels has no syrk, its gemm can't be called by threads of a kernel, and it
// also compiles products of its own.
#if COIR_KOKKOS_KERNELS_HAS_BLAS

namespace coir::detail {

using Host = Kokkos::DefaultHostExecutionSpace;

/// Copies the triangle below the diagonal of a column-major matrix to the one above.
template <class T>
void mirror_lower_triangle(Host const& exec, Matrix<T> const& c) {
  constexpr std::int64_t side = 32;  // of a tile, read along one axis and written along the other
  std::int64_t const n = c.rows, ld = c.leading_dimension(), tiles = (n + side - 1) / side;
  T* const data = c.data;
  auto const mirror_columns = [=](std::int64_t tile) {
    std::int64_t const j_end = std::min(n, (tile + 1) * side);
    for (std::int64_t i0 = tile * side; i0 < n; i0 += side)
      for (std::int64_t i = i0; i < std::min(n, i0 + side); ++i)
        for (std::int64_t j = tile * side; j < std::min(i, j_end); ++j)
          data[j + i * ld] = data[i + j * ld];
  };
  if (tiles <= 2) {  // takes less than to wake the threads
    for (std::int64_t tile = 0; tile < tiles; ++tile) mirror_columns(tile);
  } else {
    Kokkos::parallel_for(
        "coir::linalg::blas_host/mirror",
        Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>>(exec, 0, tiles),
        mirror_columns);
  }
}

inline constexpr std::int64_t most_of_mean_product = std::int64_t(512) * 512 * 512;

/// Whether a product of so many multiplications is better cut into parts, which threads do by calls
/// of BLAS: a mean number of them, for which the threads of BLAS wait long for each other.
inline bool is_worth_parts(std::int64_t multiplications) {
  constexpr std::int64_t least = 64 * 64 * 64;
  return multiplications >= least && multiplications <= most_of_mean_product;
}

inline constexpr std::int64_t columns_of_a_task = 1024;

/// Whether c = a b, column-major, has so many columns that each thread calls BLAS for a part of
/// them. This is faster than the threads of BLAS, which divide every block of c.
template <class T>
bool is_long(Matrix<T const> const& a, Matrix<T> const& c) {
  return c.columns >= 16 * columns_of_a_task && c.columns >= 16 * std::max(a.rows, a.columns) &&
         a.columns > 0 && c.rows > 1;
}

/// c = a b by one call of BLAS.
template <class T>
void whole_product(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c) {
  Oriented<T const> const left(a), right(b);
  T const one(1), zero(0);
  int const lda = static_cast<int>(left.matrix.leading_dimension()),
            ldb = static_cast<int>(right.matrix.leading_dimension()),
            ldc = static_cast<int>(c.leading_dimension());
  if (is_vector_product(b, c)) {
    int const m = static_cast<int>(left.matrix.rows), n = static_cast<int>(left.matrix.columns),
              step = 1;
    gemv_of(T())(left.operation, &m, &n, &one, left.matrix.data, &lda, b.data, &step, &zero, c.data,
                 &step);
  } else {
    int const m = static_cast<int>(c.rows), n = static_cast<int>(c.columns),
              k = static_cast<int>(a.columns);
    gemm_of(T())(left.operation, right.operation, &m, &n, &k, &one, left.matrix.data, &lda,
                 right.matrix.data, &ldb, &zero, c.data, &ldc);
  }
}

/// c = a b, each thread a part of the columns by one call of BLAS: products of a mean size, and
/// larger ones with so many columns that it matters little that each part packs all of a.
template <class T>
bool product_in_parts(Host const& exec, Matrix<T const> const& a, Matrix<T const> const& b,
                      Matrix<T> const& c) {
  constexpr std::int64_t narrowest = 48, wide = 256;
  std::int64_t const parts =
                         std::min<std::int64_t>(most_tasks_at_once(exec), c.columns / narrowest),
                     multiplications = c.rows * c.columns * a.columns;
  bool const large = multiplications > most_of_mean_product;
  if (parts < 2 || !(large ? c.columns >= wide * parts : is_worth_parts(multiplications)))
    return false;
  for_each_task("coir::linalg::blas_host/parts", exec, parts, [=](std::int64_t part) {
    std::int64_t const first = c.columns * part / parts,
                       count = c.columns * (part + 1) / parts - first;
    whole_product(a, Matrix<T const>{b.data + first * b.column, b.rows, count, b.row, b.column},
                  Matrix<T>{c.data + first * c.column, c.rows, count, c.row, c.column});
  });
  return true;
}

/// Columns [first, end) of the lower triangle of c = a a^T, where b is a^T.
template <class T>
void triangle_columns(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c,
                      std::int64_t first, std::int64_t end) {
  Oriented<T const> const left(a);
  T const one(1), zero(0);
  int const n = static_cast<int>(end - first), k = static_cast<int>(a.columns),
            lda = static_cast<int>(left.matrix.leading_dimension()),
            ldc = static_cast<int>(c.leading_dimension());
  syrk_of(T())("L", left.operation, &n, &k, &one, a.data + first * a.row, &lda, &zero,
               c.data + first * (c.row + c.column), &ldc);
  if (end < c.rows)
    whole_product(Matrix<T const>{a.data + end * a.row, c.rows - end, a.columns, a.row, a.column},
                  Matrix<T const>{b.data + first * b.column, b.rows, end - first, b.row, b.column},
                  Matrix<T>{c.data + end * c.row + first * c.column, c.rows - end, end - first,
                            c.row, c.column});
}

/// The lower triangle of c = a a^T, where b is a^T, in parts of about the same work if these are
/// worth threads.
template <class T>
void lower_triangle(Host const& exec, Matrix<T const> const& a, Matrix<T const> const& b,
                    Matrix<T> const& c) {
  constexpr std::int64_t narrowest = 48;
  std::int64_t const n = c.rows,
                     parts = is_worth_parts(n * n * a.columns / 2)
                                 ? std::min<std::int64_t>(most_tasks_at_once(exec), n / narrowest)
                                 : 1;
  auto const begin_of = [=](std::int64_t part) {
    double const rest = static_cast<double>(parts - part) / static_cast<double>(parts);
    return n - static_cast<std::int64_t>(static_cast<double>(n) * std::sqrt(rest));
  };
  if (parts < 2) return triangle_columns(a, b, c, 0, n);
  for_each_task("coir::linalg::blas_host/triangle", exec, parts, [=](std::int64_t part) {
    triangle_columns(a, b, c, begin_of(part), begin_of(part + 1));
  });
}

template <class T>
void long_product(Host const& exec, Matrix<T const> const& a, Matrix<T const> const& b,
                  Matrix<T> const& c) {
  Oriented<T const> const left(a), right(b);
  std::int64_t const tasks = (c.columns + columns_of_a_task - 1) / columns_of_a_task;
  Kokkos::parallel_for(
      "coir::linalg::blas_host/long_product",
      Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>>(exec, 0, tasks),
      [=](std::int64_t task) {
        std::int64_t const first = task * columns_of_a_task;
        T const one(1), zero(0);
        int const m = static_cast<int>(c.rows),
                  n = static_cast<int>(std::min(columns_of_a_task, c.columns - first)),
                  k = static_cast<int>(a.columns),
                  lda = static_cast<int>(left.matrix.leading_dimension()),
                  ldb = static_cast<int>(right.matrix.leading_dimension()),
                  ldc = static_cast<int>(c.leading_dimension());
        gemm_of(T())(left.operation, right.operation, &m, &n, &k, &one, left.matrix.data, &lda,
                     b.data + first * b.column, &ldb, &zero, c.data + first * c.column, &ldc);
      });
}

/// c = a b for a of M x K numbers, which stay in registers: gemm takes much longer for each column.
template <int M, int K, class T>
void tiny_product_of(Host const& exec, Matrix<T const> const& a, Matrix<T const> const& b,
                     Matrix<T> const& c) {
  std::int64_t const shares = threads_worth_starting(exec, c.columns * M * K);
  for_each_task("coir::linalg::blas_host/tiny_product", exec, shares, [=](std::int64_t share) {
    T factor[K][M];
    for (int k = 0; k < K; ++k)
      for (int i = 0; i < M; ++i) factor[k][i] = a.data[i * a.row + k * a.column];
    for (std::int64_t j = c.columns * share / shares; j < c.columns * (share + 1) / shares; ++j) {
      T const* const right = b.data + j * b.column;
      T sum[M] = {};
      for (int k = 0; k < K; ++k)
        for (int i = 0; i < M; ++i) sum[i] += factor[k][i] * right[k * b.row];
      std::copy_n(sum, M, c.data + j * c.column);
    }
  });
}

/// c = a b, column-major, if a has two to four rows and columns, and c many columns. Returns
/// whether it has computed c.
template <class T>
bool tiny_product(Host const& exec, Matrix<T const> const& a, Matrix<T const> const& b,
                  Matrix<T> const& c) {
  if (c.columns < 64) return false;
  auto const with_rows = [&](auto m) {
    if (a.columns == 2) tiny_product_of<decltype(m)::value, 2>(exec, a, b, c);
    if (a.columns == 3) tiny_product_of<decltype(m)::value, 3>(exec, a, b, c);
    if (a.columns == 4) tiny_product_of<decltype(m)::value, 4>(exec, a, b, c);
    return a.columns >= 2 && a.columns <= 4;
  };
  if (c.rows == 2) return with_rows(std::integral_constant<int, 2>());
  if (c.rows == 3) return with_rows(std::integral_constant<int, 3>());
  if (c.rows == 4) return with_rows(std::integral_constant<int, 4>());
  return false;
}

template <class T>
void host_product(Host const& exec, Matrix<T const> const& a, Matrix<T const> const& b,
                  Matrix<T> const& c) {
  if (a.is_transpose_of(b) && c.columns > 1) {
    lower_triangle(exec, a, b, c);
    mirror_lower_triangle(exec, c);
    return;
  }
  if (tiny_product(exec, a, b, c)) return;
  if (is_long(a, c))
    long_product(exec, a, b, c);
  else if (!product_in_parts(exec, a, b, c))
    whole_product(a, b, c);
}

#define COIR_INSTANTIATE(T)                                                                  \
  template void host_product<T>(Host const&, Matrix<T const> const&, Matrix<T const> const&, \
                                Matrix<T> const&);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail

#endif
