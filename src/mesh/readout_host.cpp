#include "readout_kernels.hpp"

namespace coir::mesh::detail {

COIR_INSTANTIATE_READOUT(Kokkos::DefaultHostExecutionSpace)

}  // namespace coir::mesh::detail
