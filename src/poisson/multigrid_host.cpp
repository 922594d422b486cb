// The multigrid solver for the default host space.

#include <coir/poisson/multigrid.hpp>

namespace coir::poisson {

template class Multigrid<Kokkos::DefaultHostExecutionSpace, float, 2>;
template class Multigrid<Kokkos::DefaultHostExecutionSpace, float, 3>;
template class Multigrid<Kokkos::DefaultHostExecutionSpace, double, 2>;
template class Multigrid<Kokkos::DefaultHostExecutionSpace, double, 3>;

}  // namespace coir::poisson
