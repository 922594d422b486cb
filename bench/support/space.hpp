#pragma once

/// Where benchmarks run. In a build for a device each benchmark is built twice, once for the device
/// and once, with COIR_BENCH_ON_HOST defined by CMake, for the host's cores, so that one build
/// compares the two.

#include <coir/core/concepts.hpp>

namespace coir::bench {

#ifdef COIR_BENCH_ON_HOST
using Space = Kokkos::DefaultHostExecutionSpace;
#else
using Space = Kokkos::DefaultExecutionSpace;
#endif

/// The memory of its arrays.
using Memory = Space::memory_space;

}  // namespace coir::bench
