#pragma once

#include <coir/core/kokkos.hpp>

#include <string>

namespace coir {

/// Names the kernels launched during its lifetime for Kokkos' profiling tools.
class ProfilingRegion {
 public:
  explicit ProfilingRegion(std::string const& name) { Kokkos::Profiling::pushRegion(name); }
  ~ProfilingRegion() { Kokkos::Profiling::popRegion(); }
  ProfilingRegion(ProfilingRegion const&) = delete;
  ProfilingRegion& operator=(ProfilingRegion const&) = delete;
};

}  // namespace coir
