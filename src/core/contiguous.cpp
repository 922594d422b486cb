#include <coir/core/contiguous.hpp>

namespace coir {

COIR_CONTIGUOUS_ON_HOST();
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
COIR_CONTIGUOUS_ON_DEVICE(, Kokkos::DefaultExecutionSpace,
                          Kokkos::DefaultExecutionSpace::memory_space);
#endif

}  // namespace coir
