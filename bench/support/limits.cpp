#include <support/limits.hpp>
#include <support/space.hpp>
#include <support/timing.hpp>

#include <coir/core/version.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

namespace coir::bench {

namespace {

void add(std::string const& key, double value) {
  benchmark::AddCustomContext(key, std::to_string(value));
}

}  // namespace

void add_context() {
  Space const exec;
  Machine const machine = describe_machine();
  std::string configuration = machine.kokkos_configuration;
  std::replace(configuration.begin(), configuration.end(), '\n', ';');

  benchmark::AddCustomContext("coir_version", version);
  benchmark::AddCustomContext("kokkos_version", machine.kokkos_version);
  benchmark::AddCustomContext("backend", Space::name());
  benchmark::AddCustomContext("device", device_name(exec));
  benchmark::AddCustomContext("threads", std::to_string(host_threads(exec)));
  MachineLimits const& limits = limits_of(exec);
  add("copy_bytes_per_second", limits.copy_bandwidth);
  add("triad_bytes_per_second", limits.triad_bandwidth);
  add("launch_nanoseconds", 1e9 * limits.launch_seconds);
  if (limits.host_to_device_bandwidth)
    add("host_to_device_bytes_per_second", *limits.host_to_device_bandwidth);
  if (limits.device_to_host_bandwidth)
    add("device_to_host_bytes_per_second", *limits.device_to_host_bandwidth);
  add("timing_overhead_nanoseconds", 1e9 * timing_overhead(exec));
  benchmark::AddCustomContext("kokkos_configuration", configuration);
}

}  // namespace coir::bench
