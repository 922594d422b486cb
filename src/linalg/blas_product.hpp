#pragma once

/// \file
/// blas_product by Kokkos Kernels, to be instantiated for one memory space.

#include <coir/linalg/detail/product.hpp>

#include <KokkosBlas2_gemv.hpp>
#include <KokkosBlas3_gemm.hpp>

#include <utility>

namespace coir::detail {

template <class T, class Space>
using BlasMatrix =
    Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::Device<typename Space::execution_space, Space>,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T, class Space>
using BlasVector =
    Kokkos::View<T*, Kokkos::LayoutLeft, Kokkos::Device<typename Space::execution_space, Space>,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A column-major matrix as Kokkos Kernels takes it.
template <class Space, class T>
BlasMatrix<T, Space> blas_matrix(Matrix<T> const& m) {
  auto const size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  BlasMatrix<T, Space> const whole(m.data, size(m.leading_dimension()), size(m.columns));
  return Kokkos::subview(whole, std::pair<std::size_t, std::size_t>(0, size(m.rows)), Kokkos::ALL);
}

/// A factor as it lies, and whether BLAS must transpose it.
template <class T>
struct Oriented {
  Matrix<T> matrix;
  char const* operation;

  explicit Oriented(Matrix<T> const& m)
      : matrix(m.column_major() ? m : m.transposed()), operation(m.column_major() ? "N" : "T") {}
};

/// c = a b, for a column-major c, by Kokkos Kernels alone.
template <class T, class Space>
void kernels_product(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c) {
  T const one(1), zero(0);
  Oriented<T const> const left(a);
  bool const vectors = c.columns == 1 && (b.row == 1 || b.rows == 1) && (c.row == 1 || c.rows == 1);
  if (vectors) {
    BlasVector<T const, Space> const x(b.data, static_cast<std::size_t>(b.rows));
    BlasVector<T, Space> const y(c.data, static_cast<std::size_t>(c.rows));
    KokkosBlas::gemv(left.operation, one, blas_matrix<Space>(left.matrix), x, zero, y);
  } else {
    Oriented<T const> const right(b);
    KokkosBlas::gemm(left.operation, right.operation, one, blas_matrix<Space>(left.matrix),
                     blas_matrix<Space>(right.matrix), zero, blas_matrix<Space>(c));
  }
}

}  // namespace coir::detail
