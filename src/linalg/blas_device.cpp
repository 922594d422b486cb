#include "blas_product.hpp"

namespace coir::detail {

using Device = Kokkos::DefaultExecutionSpace;

template <class T, class Exec>
void blas_product(Exec const& exec, Matrix<T const> a, Matrix<T const> b, Matrix<T> c) {
  if (c.column_major())
    kernels_product<T>(exec, a, b, c);
  else
    kernels_product<T>(exec, b.transposed(), a.transposed(), c.transposed());
}

template <class Exec>
bool blas_takes_instance() {
  return gemm_takes_instance<Exec>;
}
template bool blas_takes_instance<Device>();

#define COIR_INSTANTIATE(T) \
  template void blas_product<T>(Device const&, Matrix<T const>, Matrix<T const>, Matrix<T>);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
COIR_INSTANTIATE(Kokkos::complex<float>)
COIR_INSTANTIATE(Kokkos::complex<double>)
#undef COIR_INSTANTIATE

}  // namespace coir::detail
