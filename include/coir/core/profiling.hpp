#pragma once

#include <coir/core/kokkos.hpp>

#include <string>

namespace coir {

/// A named region of Kokkos' profiling tools that lasts as long as this object.
class ProfilingRegion {
 public:
  explicit ProfilingRegion(std::string const& name) { Kokkos::Profiling::pushRegion(name); }
  ~ProfilingRegion() { Kokkos::Profiling::popRegion(); }
  ProfilingRegion(ProfilingRegion const&) = delete;
  ProfilingRegion& operator=(ProfilingRegion const&) = delete;
};

}  // namespace coir
