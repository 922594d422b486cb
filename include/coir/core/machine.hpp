#pragma once

/// \file
/// A description of the machine, and measurements of its highest speeds, to compare other speeds
/// with.

#include <coir/core/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coir {

/// A graphics processor or similar that a backend runs on.
struct Device {
  std::string name;
  std::string architecture;       ///< "sm_90", "gfx90a"
  std::int64_t memory_bytes = 0;  ///< in all, free or not
};

/// A description of the machine and of the Kokkos that was compiled in.
struct Machine {
  std::string host_cpu;                ///< model name, "unknown" if the system doesn't tell
  int host_threads = 0;                ///< that kernels on the host share
  std::int64_t host_memory_bytes = 0;  ///< in all, 0 if the system doesn't tell
  std::vector<Device> devices;         ///< usable by the compiled-in device backend; may be empty
  std::vector<std::string> backends;   ///< compiled in: "Cuda", "HIP", "OpenMP", "Serial", ...
  std::string default_backend;         ///< where kernels run unless told otherwise
  std::string kokkos_version;
  std::string kokkos_configuration;  ///< Kokkos' own account of its options, many lines
};

/// Describes this machine. Kokkos must be running.
Machine describe_machine();

/// The backends compiled into Kokkos, as Kokkos names them, devices first. Needs no running Kokkos.
std::vector<std::string> compiled_backends();

/// The reason why kernels can't run on a device: "no usable Cuda device was found (no CUDA-capable
/// device is detected)". Empty if they can. Needs no running Kokkos.
std::string why_no_device();

/// Checks, before Kokkos starts, that a device is there if a device backend is compiled in.
///
/// \throws EnvironmentError naming the cause and the remedy
void expects_usable_device();

/// Whether Kokkos runs without the device that it was compiled for, as the applications do where
/// there is none.
bool device_is_left_out();

/// The name of the device of an execution space, or the CPU model of the host.
template <CompiledSpace Exec>
std::string device_name(Exec const& exec);

/// The number of devices that this process sees; 0 if the build has no backend for devices. May be
/// called before Kokkos starts.
int visible_devices();

/// Bytes, not text, that identify an instance's device among those of its machine; empty on hosts.
template <CompiledSpace Exec>
std::string device_identity(Exec const& exec);

/// The number of host threads of an execution space. For a device: of the default host space.
template <ExecutionSpace Exec>
int host_threads(Exec const& exec) {
  if constexpr (runs_on_host<Exec>)
    return static_cast<int>(exec.concurrency());
  else
    return static_cast<int>(Kokkos::DefaultHostExecutionSpace().concurrency());
}

/// The highest speeds of a machine that a quick measurement finds.
///
/// Bandwidths count the bytes that a program asks for, read and written. Most CPUs also read each
/// cache line before they write it; that traffic isn't counted, as in STREAM.
struct MachineLimits {
  double copy_bandwidth = 0;   ///< bytes/s of a[i] = b[i] from and to main memory
  double triad_bandwidth = 0;  ///< bytes/s of a[i] = b[i] + s c[i]
  double launch_seconds = 0;   ///< per empty kernel, launched back to back
  /// bytes/s from and to page-locked memory; devices only
  std::optional<double> host_to_device_bandwidth, device_to_host_bandwidth;
};

/// Measures the limits of an execution space with the library's own loops.
///
/// The best of several repetitions counts. Each of the three arrays is four times as large as the
/// last-level cache, or 1 GiB on devices, and smaller if memory is short. Takes about a second.
/// Waits for earlier work of the instance first.
///
/// \throws ResourceError if memory for three arrays of 16 MiB is missing
template <CompiledSpace Exec>
MachineLimits measure_limits(Exec const& exec);

/// The bytes of the last-level cache of an execution space's processors; 32 MiB if the system
/// doesn't tell.
template <CompiledSpace Exec>
std::int64_t last_level_cache_bytes(Exec const& exec);

/// The memory that measure_triad_bandwidth() takes: four times the last-level cache on hosts, 3 GiB
/// on devices, so that the launch doesn't count.
template <CompiledSpace Exec>
std::int64_t triad_bytes(Exec const& exec);

/// The triad bandwidth alone, from less memory than measure_limits().
///
/// \returns nothing unless twice triad_bytes() are free, so that other programs have memory, too
template <CompiledSpace Exec>
std::optional<double> measure_triad_bandwidth(Exec const& exec);

/// What a number of host threads can do.
struct ThreadLimits {
  int threads = 1;
  double triad_bandwidth = 0;  ///< bytes/s of a[i] = b[i] + s c[i], read and written
  double launch_seconds = 0;   ///< of an empty parallel region
};

/// Measures 1, 2, 4, ... host threads and all of them, by OpenMP itself: about a second. Empty
/// without OpenMP, or if memory is short. OpenMP ends threads meanwhile and starts others later:
/// bind those again (bind_host_threads).
std::vector<ThreadLimits> measure_by_threads();

}  // namespace coir
