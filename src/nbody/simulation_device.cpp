#include "simulation_impl.hpp"

COIR_INSTANTIATE_SIMULATION(Kokkos::DefaultExecutionSpace)
