#include "power_spectrum_kernels.hpp"

namespace coir::mesh::detail {

COIR_INSTANTIATE_POWER_SPECTRUM(Kokkos::DefaultHostExecutionSpace)

}  // namespace coir::mesh::detail
