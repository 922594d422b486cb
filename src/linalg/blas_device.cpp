#include "blas_product.hpp"

namespace coir::detail {

template <class T, class Space>
void blas_product(Matrix<T const> a, Matrix<T const> b, Matrix<T> c) {
  if (c.column_major())
    kernels_product<T, Space>(a, b, c);
  else
    kernels_product<T, Space>(b.transposed(), a.transposed(), c.transposed());
}

#define COIR_INSTANTIATE(T) \
  template void blas_product<T, DefaultSpace>(Matrix<T const>, Matrix<T const>, Matrix<T>);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
