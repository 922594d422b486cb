#pragma once

#include <coir/core/machine.hpp>

namespace coir::bench {

/// Whether limits are measured. `--smoke`, by which tests see that a benchmark runs, leaves them
/// out: shares are then of 1 byte/s.
inline bool measures_limits = true;

/// The limits of an execution space, measured once a process.
template <ExecutionSpace Exec>
MachineLimits const& limits_of(Exec const& exec) {
  static MachineLimits const limits = [&] {
    if (measures_limits) return measure_limits(exec);
    MachineLimits unmeasured;
    unmeasured.copy_bandwidth = 1;
    return unmeasured;
  }();
  return limits;
}

/// Adds to every report what its figures depend on: versions, Kokkos' configuration, the machine
/// and its measured limits.
void add_context();

}  // namespace coir::bench
