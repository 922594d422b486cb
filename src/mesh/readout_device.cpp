#include "readout_kernels.hpp"

namespace coir::mesh::detail {

COIR_INSTANTIATE_READOUT(Kokkos::DefaultExecutionSpace)

}  // namespace coir::mesh::detail
