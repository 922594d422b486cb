#pragma once

#include <coir/core/machine.hpp>

namespace coir::bench {

/// The limits of an execution space, measured once a process.
template <ExecutionSpace Exec>
MachineLimits const& limits_of(Exec const& exec) {
  static MachineLimits const limits = measure_limits(exec);
  return limits;
}

/// Adds to every report what its figures depend on: versions, Kokkos' configuration, the machine and
/// its measured limits.
void add_context();

}  // namespace coir::bench
