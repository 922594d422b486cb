#include "blas_product.hpp"

#include <KokkosKernels_config.h>

#include <algorithm>
#include <concepts>

// Kokkos Kernels links a BLAS and has no syrk of its own: these are BLAS's, in Fortran's calling convention.
#ifdef KOKKOSKERNELS_ENABLE_TPL_BLAS
#define COIR_DECLARE_SYRK(name, T)                                                          \
  extern "C" void name(char const* uplo, char const* operation, int const* n, int const* k, \
                       T const* alpha, T const* a, int const* lda, T const* beta, T* c,     \
                       int const* ldc);                                                     \
  namespace coir::detail {                                                                  \
  inline constexpr auto syrk_of(T) { return name; }                                         \
  }
COIR_DECLARE_SYRK(ssyrk_, float)
COIR_DECLARE_SYRK(dsyrk_, double)
COIR_DECLARE_SYRK(csyrk_, Kokkos::complex<float>)
COIR_DECLARE_SYRK(zsyrk_, Kokkos::complex<double>)
#undef COIR_DECLARE_SYRK
#endif

namespace coir::detail {

using Host = Kokkos::DefaultHostExecutionSpace;

/// Copies the triangle below the diagonal of a column-major matrix to the one above.
template <class T>
void mirror_lower_triangle(Matrix<T> const& c) {
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
    Kokkos::parallel_for("coir::linalg::mirror",
                         Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>>(0, tiles),
                         mirror_columns);
  }
}

/// c = a b on the host, where c is column-major.
template <class T>
void host_product(Matrix<T const> const& a, Matrix<T const> const& b, Matrix<T> const& c) {
#ifdef KOKKOSKERNELS_ENABLE_TPL_BLAS
  if (a.is_transpose_of(b) && c.columns > 1) {
    Oriented<T const> const left(a);
    T const one(1), zero(0);
    int const n = static_cast<int>(c.rows), k = static_cast<int>(a.columns),
              lda = static_cast<int>(left.matrix.leading_dimension()),
              ldc = static_cast<int>(c.leading_dimension());
    syrk_of(T())("L", left.operation, &n, &k, &one, left.matrix.data, &lda, &zero, c.data, &ldc);
    mirror_lower_triangle(c);
    return;
  }
#endif
  kernels_product<T, Kokkos::HostSpace>(a, b, c);
}

template <class T, class Space>
void blas_product(Matrix<T const> a, Matrix<T const> b, Matrix<T> c) {
  if (c.column_major())
    host_product(a, b, c);
  else
    host_product(b.transposed(), a.transposed(), c.transposed());
}

#define COIR_INSTANTIATE(T) \
  template void blas_product<T, Kokkos::HostSpace>(Matrix<T const>, Matrix<T const>, Matrix<T>);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
