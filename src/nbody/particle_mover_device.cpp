#include "particle_mover_impl.hpp"

COIR_INSTANTIATE_PARTICLE_MOVER(Kokkos::DefaultExecutionSpace)
