#include "random_kernels.hpp"

namespace coir::random::detail {

COIR_INSTANTIATE_RANDOM(Kokkos::DefaultExecutionSpace)

}  // namespace coir::random::detail
