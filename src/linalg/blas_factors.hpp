#pragma once

/// \file
/// The factors of a product as BLAS takes them, and products on hosts by the BLAS that Kokkos
/// Kernels links.

#include <coir/linalg/detail/product.hpp>

namespace coir::detail {

/// A factor as it is stored, and whether BLAS must transpose it.
template <class T>
struct Oriented {
  Matrix<T> matrix;
  char const* operation;

  explicit Oriented(Matrix<T> const& m)
      : matrix(m.column_major() ? m : m.transposed()), operation(m.column_major() ? "N" : "T") {}
};

/// Whether c = a b is a product with a contiguous vector, for a column-major c.
template <class T>
bool is_vector_product(Matrix<T const> const& b, Matrix<T> const& c) {
  return c.columns == 1 && (b.row == 1 || b.rows == 1) && (c.row == 1 || c.rows == 1);
}

/// c = a b on the host, for a column-major c. Defined only if Kokkos Kernels links a BLAS.
template <class T>
void host_product(Kokkos::DefaultHostExecutionSpace const& exec, Matrix<T const> const& a,
                  Matrix<T const> const& b, Matrix<T> const& c);

}  // namespace coir::detail
