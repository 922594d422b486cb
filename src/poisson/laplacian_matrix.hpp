#pragma once

/// The Laplacian of a 2-D grid as a matrix of Kokkos Kernels.

#include <core/kokkos_kernels.hpp>

#include <coir/core/buffers.hpp>
#include <coir/core/loops.hpp>

// spmv calls BLAS only to scale y before a product by a transposed matrix, which never happens
// here. Without the macro it needs no BLAS: a program that loads OpenBLAS starts later, with
// threads and memory that it doesn't use.
#undef KOKKOSKERNELS_ENABLE_TPL_BLAS

#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spmv.hpp>

#include <cstdint>
#include <string>

namespace coir::poisson::detail {

/// Rows are cells in row-major order; their offsets don't fit into an int on large grids.
template <class Exec, class T>
using SparseMatrix =
    KokkosSparse::CrsMatrix<T, int, Kokkos::Device<Exec, typename Exec::memory_space>, void,
                            std::int64_t>;

/// The number of the first entry in a cell's row of the matrix of an m x n grid. Each cell before
/// has five entries, less one for each neighbour outside the grid.
struct FirstEntry {
  std::int64_t m, n;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(std::int64_t cell) const {
    std::int64_t const i = cell / n, j = cell % n, in_last_row = cell - (m - 1) * n;
    std::int64_t const above = cell < n ? cell : n;
    std::int64_t const below = in_last_row > 0 ? in_last_row : 0;
    std::int64_t const left = i + (j > 0 ? 1 : 0), right = i;
    return 5 * cell - above - below - left - right;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const { return (*this)(m * n); }
};

/// Fills the rows of the matrix, whose columns ascend.
template <class Offsets, class Columns, class Values>
struct FillRows {
  FirstEntry first;
  Offsets offsets;
  Columns columns;
  Values values;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t cell) const {
    using T = typename Values::non_const_value_type;
    std::int64_t const n = first.n, j = cell % n, cells = first.m * n;
    std::int64_t entry = first(cell);
    offsets(cell) = entry;
    if (cell + 1 == cells) offsets(cells) = first.count();
    auto const put = [&](std::int64_t neighbour, T value) {
      columns(entry) = static_cast<int>(neighbour);
      values(entry) = value;
      ++entry;
    };
    if (cell >= n) put(cell - n, T(1));
    if (j > 0) put(cell - 1, T(1));
    put(cell, T(-4));
    if (j + 1 < n) put(cell + 1, T(1));
    if (cell + n < cells) put(cell + n, T(1));
  }
};

/// L on an m x n grid, u = 0 outside: -4 on the diagonal, 1 for each neighbour.
template <class Exec, class T>
SparseMatrix<Exec, T> laplacian_matrix(Exec const& exec, std::int64_t m, std::int64_t n) {
  using Matrix = SparseMatrix<Exec, T>;
  using Offsets = typename Matrix::row_map_type::non_const_type;
  using Columns = typename Matrix::index_type::non_const_type;
  using Values = typename Matrix::values_type::non_const_type;
  FirstEntry const first{m, n};
  auto const entries = static_cast<std::size_t>(first.count());
  std::string const label = "coir::poisson::laplacian_matrix";
  Offsets offsets;
  Columns columns;
  Values values;
  Buffers all;
  all.add(offsets, label + "/offsets", m * n + 1);
  all.add(columns, label + "/columns", entries);
  all.add(values, label + "/values", entries);
  all.make<typename Exec::memory_space>("a matrix of " + std::to_string(m) + " x " +
                                        std::to_string(n) + " cells");
  for_each(label, exec, box<1, std::int64_t>({m * n}),
           FillRows<Offsets, Columns, Values>{first, offsets, columns, values});
  exec.fence();  // Kokkos Kernels may launch on another instance
  auto const cells = static_cast<int>(m * n);
  return Matrix(label, cells, cells, first.count(), values, offsets, columns);
}

/// y = A x by the function in KokkosSparse::Impl that spmv calls for this product. A call of spmv,
/// the public function, also compiles 80 kernels for other products. This function is for versions
/// of Kokkos Kernels that are known to have the inner one, in builds without a vendor's library of
/// sparse matrices. Otherwise multiply() below calls spmv.
#ifdef COIR_KOKKOS_KERNELS_HAS_PLAIN_SPMV
template <class Exec, class Matrix, class X, class Y>
struct PlainProduct {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using Constant =
      KokkosSparse::CrsMatrix<typename Matrix::const_value_type,
                              typename Matrix::const_ordinal_type, typename Matrix::device_type,
                              Unmanaged, typename Matrix::const_size_type>;
  using In =
      Kokkos::View<typename X::const_value_type*, typename X::array_layout, typename X::device_type,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::RandomAccess>>;
  using Handle = KokkosSparse::SPMVHandle<Exec, Matrix, X, Y>;

  static void run(Exec const& exec, Matrix const& a, X const& x, Y const& y)
    requires requires(typename Handle::ImplType* handle, typename Y::non_const_value_type factor) {
      KokkosSparse::Impl::spmv_beta_no_transpose<Exec, typename Handle::ImplType, Constant, In, Y,
                                                 0, false>(exec, handle, factor, Constant(a), In(x),
                                                           factor, y);
    }
  {
    using T = typename Y::non_const_value_type;
    Handle handle;
    KokkosSparse::Impl::spmv_beta_no_transpose<Exec, typename Handle::ImplType, Constant, In, Y, 0,
                                               false>(exec, handle.get_impl(), T(1), Constant(a),
                                                      In(x), T(0), y);
  }
};
#else
template <class Exec, class Matrix, class X, class Y>
struct PlainProduct {};
#endif

/// y = A x. Kokkos Kernels takes an instance from version 4.2 on; older versions run on the default
/// one.
template <class Exec, class Matrix, class X, class Y>
void multiply(Exec const& exec, Matrix const& a, X const& x, Y const& y) {
  using T = typename Y::non_const_value_type;
  using Product = PlainProduct<Exec, Matrix, X, Y>;
  if constexpr (requires { Product::run(exec, a, x, y); }) {
    Product::run(exec, a, x, y);
  } else if constexpr (requires { KokkosSparse::spmv(exec, "N", T(1), a, x, T(0), y); }) {
    KokkosSparse::spmv(exec, "N", T(1), a, x, T(0), y);
  } else {
    exec.fence();
    KokkosSparse::spmv("N", T(1), a, x, T(0), y);
    Exec{}.fence();
  }
}

}  // namespace coir::poisson::detail
