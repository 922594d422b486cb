#include "blas_product.hpp"

namespace coir::detail {

using Device = Kokkos::DefaultExecutionSpace;

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
