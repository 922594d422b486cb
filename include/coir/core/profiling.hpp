#pragma once

#include <coir/core/kokkos.hpp>

#include <string>

namespace coir {

/// Puts the kernels that are launched during its lifetime into a named region for Kokkos' profiling tools.
class ProfilingRegion {
 public:
  explicit ProfilingRegion(std::string const& name) { Kokkos::Profiling::pushRegion(name); }
  ~ProfilingRegion() { Kokkos::Profiling::popRegion(); }
  ProfilingRegion(ProfilingRegion const&) = delete;
  ProfilingRegion& operator=(ProfilingRegion const&) = delete;
};

}  // namespace coir
