// Stacks of small products on hosts: tiles of a product are kept in registers.

#include <coir/core/tasks.hpp>
#include <coir/linalg/detail/product.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace coir::detail {

// g++ vectorises short loops only if it hasn't unrolled them before.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define COIR_ROLLED _Pragma("GCC unroll 1")
#else
#define COIR_ROLLED
#endif

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

/// Rows [i, i + Rows) and columns [j, j + Width) of c = a b. Rows of b and c are contiguous.
template <int Rows, int Width, class T>
void multiply_tile(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c,
                   std::int64_t i, std::int64_t j) {
  T sum[Rows][Width] = {};
  for (std::int64_t k = 0; k < a.columns; ++k) {
    T const* const row = b.data + k * b.row + j;
    for (int r = 0; r < Rows; ++r) {
      T const factor = a.data[(i + r) * a.row + k * a.column];
      COIR_ROLLED
      for (int w = 0; w < Width; ++w) sum[r][w] += factor * row[w];
    }
  }
  for (int r = 0; r < Rows; ++r) std::copy_n(sum[r], Width, c.data + (i + r) * c.row + j);
}

/// Columns from j on, in tiles of Width, as far as whole tiles go. Returns the first column that is
/// left.
template <int Width, class T>
std::int64_t multiply_columns(Matrix<T const> const& a, Matrix<T const> const& b,
                              Matrix<T> const& c, std::int64_t j) {
  constexpr int rows = 4;
  for (; j + Width <= c.columns; j += Width) {
    std::int64_t i = 0;
    for (; i + rows <= c.rows; i += rows) multiply_tile<rows, Width>(a, b, c, i, j);
    for (; i < c.rows; ++i) multiply_tile<1, Width>(a, b, c, i, j);
  }
  return j;
}

template <class T>
void multiply_small(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c) {
  constexpr int most = std::max(8, int(128 / sizeof(T)));
  std::int64_t j = multiply_columns<most>(a, b, c, 0);
  j = multiply_columns<most / 2>(a, b, c, j);
  if (most > 8) j = multiply_columns<4>(a, b, c, j);
  multiply_columns<1>(a, b, c, j);
}

}  // namespace

template <class T, class Exec>
void batched_product(Exec const& exec, Stack<T const> a, Stack<T const> b, Stack<T> c) {
  if (c.first.column != 1 && c.first.row == 1)
    return batched_product<T>(exec, b.transposed(), a.transposed(), c.transposed());
  std::int64_t const depth = b.first.rows, columns = b.first.columns,
                     cells = c.count * c.first.rows * columns * depth,
                     shares = threads_worth_starting(exec, cells, c.count);
  bool const is_contiguous = b.first.column == 1 || columns == 1;
  for_each_task(
      "coir::linalg::batched_host/batched_product", exec, shares, [=](std::int64_t share) {
        std::vector<T> rows(is_contiguous ? 0 : static_cast<std::size_t>(depth * columns));
        std::int64_t const end = c.count * (share + 1) / shares;
        for (std::int64_t s = c.count * share / shares; s < end; ++s) {
          Matrix<T const> const from = b[s];
          if (is_contiguous) {
            multiply_small(a[s], from, c[s]);
            continue;
          }
          for (std::int64_t k = 0; k < depth; ++k)
            for (std::int64_t j = 0; j < columns; ++j)
              rows[static_cast<std::size_t>(k * columns + j)] =
                  from.data[k * from.row + j * from.column];
          multiply_small(a[s], Matrix<T const>{rows.data(), depth, columns, columns, 1}, c[s]);
        }
      });
}

#define COIR_INSTANTIATE(T) \
  template void batched_product<T>(Host const&, Stack<T const>, Stack<T const>, Stack<T>);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
