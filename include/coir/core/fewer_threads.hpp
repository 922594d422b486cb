#pragma once

/// \file
/// Whether a kernel's threads all start.

#include <coir/core/kokkos.hpp>

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#endif

namespace coir {

/// Whether OpenMP may start fewer threads for a kernel than it is asked for (OMP_DYNAMIC,
/// OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS). Threads mustn't wait for each other then.
inline bool may_start_fewer_threads([[maybe_unused]] int threads) {
#ifdef KOKKOS_ENABLE_OPENMP
  return omp_get_dynamic() != 0 || omp_get_thread_limit() < threads ||
         omp_get_active_level() >= omp_get_max_active_levels();
#else
  return false;
#endif
}

}  // namespace coir
