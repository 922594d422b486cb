#include "force_kernels.hpp"

namespace coir::mesh {

COIR_INSTANTIATE_FORCE(Kokkos::DefaultExecutionSpace)

}  // namespace coir::mesh
