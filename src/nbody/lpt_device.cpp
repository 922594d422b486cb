#include "lpt_impl.hpp"

namespace coir::nbody {

COIR_INSTANTIATE_LPT(Kokkos::DefaultExecutionSpace)

}  // namespace coir::nbody
