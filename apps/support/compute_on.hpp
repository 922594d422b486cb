#pragma once

/// Computing on the place that --backend chose, and naming it. One build does both.

#include <support/backend.hpp>
#include <support/precision.hpp>
#include <support/report.hpp>

#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>

#include <string>

namespace coir::apps {

/// Returns body(exec) for the default instance of a place's execution space. In builds for hosts
/// there is one such space, and `body` is compiled for it alone.
template <class Body>
auto compute_on([[maybe_unused]] Place place, Body const& body) {
  if constexpr (!runs_on_host<Kokkos::DefaultExecutionSpace>)
    if (place == Place::device) return body(Kokkos::DefaultExecutionSpace{});
  return body(Kokkos::DefaultHostExecutionSpace{});
}

/// Returns body(exec, T()) on a place, for T float or double by the precision.
template <class Body>
auto compute_on(Place place, Precision precision, Body const& body) {
  return compute_on(place, [&](auto const& exec) {
    return precision == Precision::float32 ? body(exec, float()) : body(exec, double());
  });
}

/// The hardware that a run computes on, as people and reports name it.
struct Hardware {
  std::string backend;  ///< of Kokkos: "OpenMP", "Cuda"
  std::string device;   ///< the device's name, or the processor's
  int threads = 0;      ///< of the host, beside a device too
  bool is_host = true;

  /// "OpenMP (AMD EPYC 7763, 2 threads)", "Cuda (NVIDIA H200)"
  std::string text() const;
};

template <class Exec>
Hardware hardware_of(Exec const& exec) {
  return {Exec::name(), device_name(exec), host_threads(exec), runs_on_host<Exec>};
}

/// Adds `backend`, `device` and `threads`.
void report_hardware(Report& report, Hardware const& hardware);

}  // namespace coir::apps
