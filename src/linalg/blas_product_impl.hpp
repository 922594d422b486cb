#pragma once

/// \file
/// Products by Kokkos Kernels, on hosts by the BLAS that it links. From its version 3.6 on gemm and
/// gemv take an instance of the execution space.

#include "blas_factors.hpp"

#include <core/kokkos_kernels.hpp>

#include <coir/core/loops.hpp>
#include <coir/linalg/detail/product.hpp>

#include <KokkosBlas2_gemv.hpp>
#include <KokkosBlas3_gemm.hpp>

#include <utility>

namespace coir::detail {

template <class T, class Exec>
using BlasMatrix =
    Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::Device<Exec, typename Exec::memory_space>,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T, class Exec>
using BlasVector =
    Kokkos::View<T*, Kokkos::LayoutLeft, Kokkos::Device<Exec, typename Exec::memory_space>,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Exec>
inline constexpr bool gemm_takes_instance =
    requires(Exec exec, BlasMatrix<double const, Exec> a, BlasMatrix<double, Exec> c) {
      KokkosBlas::gemm(exec, "N", "N", 1.0, a, a, 0.0, c);
    };

/// The inner functions that gemv and gemm of Kokkos Kernels call. gemv and gemm also compile 120
/// kernels for products that BLAS can't compute, and for factors without columns, for which
/// blas_product() stores zeros. Only some versions are known to have these inner functions
/// (core/kokkos_kernels.hpp); with others gemv and gemm are called.
#ifdef COIR_KOKKOS_KERNELS_HAS_PLAIN_PRODUCTS
template <class Exec, class A, class X, class Y>
using PlainGemv = KokkosBlas::Impl::GEMV<Exec, A, X, Y>;
template <class Exec, class A, class B, class C>
using PlainGemm = KokkosBlas::Impl::GEMM<Exec, A, B, C>;
#else
template <class Exec, class... Views>
struct PlainGemv {};
template <class Exec, class... Views>
struct PlainGemm {};
#endif

template <class Exec, class A, class X, class Y>
void gemv(Exec const& exec, char const* operation, A const& a, X const& x, Y const& y) {
  using T = typename Y::value_type;
  using Plain = PlainGemv<Exec, A, X, Y>;
  if constexpr (requires { Plain::gemv(exec, operation, T(1), a, x, T(0), y); })
    Plain::gemv(exec, operation, T(1), a, x, T(0), y);
  else if constexpr (gemm_takes_instance<Exec>)
    KokkosBlas::gemv(exec, operation, T(1), a, x, T(0), y);
  else
    KokkosBlas::gemv(operation, T(1), a, x, T(0), y);
}

template <class Exec, class A, class B, class C>
void gemm(Exec const& exec, char const* operation_a, char const* operation_b, A const& a,
          B const& b, C const& c) {
  using T = typename C::value_type;
  using Plain = PlainGemm<Exec, A, B, C>;
  if constexpr (requires { Plain::gemm(exec, operation_a, operation_b, T(1), a, b, T(0), c); })
    Plain::gemm(exec, operation_a, operation_b, T(1), a, b, T(0), c);
  else if constexpr (gemm_takes_instance<Exec>)
    KokkosBlas::gemm(exec, operation_a, operation_b, T(1), a, b, T(0), c);
  else
    KokkosBlas::gemm(operation_a, operation_b, T(1), a, b, T(0), c);
}

/// A column-major matrix as Kokkos Kernels takes it.
template <class Exec, class T>
BlasMatrix<T, Exec> blas_matrix(Matrix<T> const& m) {
  auto const size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  BlasMatrix<T, Exec> const whole(m.data, size(m.leading_dimension()), size(m.columns));
  return Kokkos::subview(whole, std::pair<std::size_t, std::size_t>(0, size(m.rows)), Kokkos::ALL);
}

/// c = a b, for a column-major c, by Kokkos Kernels alone.
template <class T, class Exec>
void kernels_product(Exec const& exec, Matrix<T const> const& a, Matrix<T const> const& b,
                     Matrix<T> const& c) {
  Oriented<T const> const left(a);
  if (is_vector_product(b, c)) {
    BlasVector<T const, Exec> const x(b.data, static_cast<std::size_t>(b.rows));
    BlasVector<T, Exec> const y(c.data, static_cast<std::size_t>(c.rows));
    gemv(exec, left.operation, blas_matrix<Exec>(left.matrix), x, y);
  } else {
    Oriented<T const> const right(b);
    gemm(exec, left.operation, right.operation, blas_matrix<Exec>(left.matrix),
         blas_matrix<Exec>(right.matrix), blas_matrix<Exec>(c));
  }
}

/// Element (i, j) of a column-major matrix; j comes first.
template <class T>
struct StoreZero {
  static constexpr bool reads_no_neighbours = true;
  Matrix<T> matrix;
  KOKKOS_FUNCTION void operator()(std::int64_t j, std::int64_t i) const {
    matrix.data[i * matrix.row + j * matrix.column] = T(0);
  }
};

template <class Exec>
bool blas_takes_instance() {
  return gemm_takes_instance<Exec>;
}

template <class T, class Exec>
void blas_product(Exec const& exec, Matrix<T const> a, Matrix<T const> b, Matrix<T> c) {
  // A single contiguous row is a column of the transposed product, which gemv computes: the faster
  // way for a matrix that no cache holds.
  constexpr std::int64_t large = std::int64_t(1) << 20;
  bool const is_row =
      c.rows == 1 && c.columns > 1 && c.column == 1 && a.columns * c.columns >= large;
  if (!c.column_major() || is_row) {
    std::swap(a, b);
    a = a.transposed();
    b = b.transposed();
    c = c.transposed();
  }
  if (a.columns == 0)  // sums of nothing, which gemv of BLAS leaves as they were
    for_each("coir::linalg::blas_product/zero", exec, box({c.columns, c.rows}), StoreZero<T>{c});
  else if constexpr (runs_on_host<Exec> && COIR_KOKKOS_KERNELS_HAS_BLAS)
    host_product<T>(exec, a, b, c);
  else
    kernels_product<T>(exec, a, b, c);
}

}  // namespace coir::detail

#define COIR_INSTANTIATE_BLAS_PRODUCT(Exec)                      \
  template bool coir::detail::blas_takes_instance<Exec>();       \
  COIR_INSTANTIATE_BLAS_PRODUCT_OF(float, Exec)                  \
  COIR_INSTANTIATE_BLAS_PRODUCT_OF(double, Exec)                 \
  COIR_INSTANTIATE_BLAS_PRODUCT_OF(Kokkos::complex<float>, Exec) \
  COIR_INSTANTIATE_BLAS_PRODUCT_OF(Kokkos::complex<double>, Exec)
#define COIR_INSTANTIATE_BLAS_PRODUCT_OF(T, Exec)                                         \
  template void coir::detail::blas_product<T>(Exec const&, coir::detail::Matrix<T const>, \
                                              coir::detail::Matrix<T const>,              \
                                              coir::detail::Matrix<T>);
