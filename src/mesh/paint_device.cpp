#include "paint_kernels.hpp"

namespace coir::mesh::detail {

COIR_INSTANTIATE_PAINT(Kokkos::DefaultExecutionSpace)

}  // namespace coir::mesh::detail
