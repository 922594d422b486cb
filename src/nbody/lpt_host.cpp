#include "lpt_impl.hpp"

namespace coir::nbody {

COIR_INSTANTIATE_LPT(Kokkos::DefaultHostExecutionSpace)

}  // namespace coir::nbody
