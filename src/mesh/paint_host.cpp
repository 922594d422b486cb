#include "paint_kernels.hpp"

namespace coir::mesh::detail {

COIR_INSTANTIATE_PAINT(Kokkos::DefaultHostExecutionSpace)

}  // namespace coir::mesh::detail
