#include "lpt_kernels.hpp"

namespace coir::nbody {

COIR_INSTANTIATE_LPT(Kokkos::DefaultHostExecutionSpace)

}  // namespace coir::nbody
