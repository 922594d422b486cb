// Red-black over-relaxation for the default device space.

#include <coir/poisson/red_black.hpp>

namespace coir::poisson::detail {

COIR_RED_BLACK(, Kokkos::DefaultExecutionSpace, float, 2);
COIR_RED_BLACK(, Kokkos::DefaultExecutionSpace, float, 3);
COIR_RED_BLACK(, Kokkos::DefaultExecutionSpace, double, 2);
COIR_RED_BLACK(, Kokkos::DefaultExecutionSpace, double, 3);

}  // namespace coir::poisson::detail
