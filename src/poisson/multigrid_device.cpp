// The multigrid solver for the default device space.

#include <coir/poisson/multigrid.hpp>

namespace coir::poisson {

template class Multigrid<Kokkos::DefaultExecutionSpace, float, 2>;
template class Multigrid<Kokkos::DefaultExecutionSpace, float, 3>;
template class Multigrid<Kokkos::DefaultExecutionSpace, double, 2>;
template class Multigrid<Kokkos::DefaultExecutionSpace, double, 3>;

}  // namespace coir::poisson
