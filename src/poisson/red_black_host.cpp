// Red-black over-relaxation for the default host space.

#include <coir/poisson/red_black.hpp>

namespace coir::poisson::detail {

COIR_RED_BLACK(, Kokkos::DefaultHostExecutionSpace, float, 2);
COIR_RED_BLACK(, Kokkos::DefaultHostExecutionSpace, float, 3);
COIR_RED_BLACK(, Kokkos::DefaultHostExecutionSpace, double, 2);
COIR_RED_BLACK(, Kokkos::DefaultHostExecutionSpace, double, 3);

}  // namespace coir::poisson::detail
