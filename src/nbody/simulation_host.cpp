#include "simulation_kernels.hpp"

namespace coir::nbody {

COIR_INSTANTIATE_SIMULATION(Kokkos::DefaultHostExecutionSpace)

}  // namespace coir::nbody
