#include "particle_sorter_impl.hpp"

COIR_INSTANTIATE_PARTICLE_SORTER(Kokkos::DefaultHostExecutionSpace)
