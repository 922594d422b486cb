#include <support/limits.hpp>
#include <support/space.hpp>
#include <support/timing.hpp>

#include <coir/core/loops.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/timing.hpp>
#include <coir/core/version.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace coir::bench {

namespace {

void add(std::string const& key, double value) {
  benchmark::AddCustomContext(key, std::to_string(value));
}

using Numbers = Kokkos::View<double*, Memory>;

/// x[i] = x[i] + 1. A processor reads a line of its cache before it writes to it, which a copy's
/// bytes don't count: an update in place moves more of those that are counted.
void update(Space const& exec, Numbers const& numbers) {
  double* const x = numbers.data();
  for_each(
      "coir::bench::update", exec,
      box<1, std::int64_t>({static_cast<std::int64_t>(numbers.size())}),
      KOKKOS_LAMBDA(std::int64_t i) { x[i] += 1; });
}

double sum(Space const& exec, Numbers const& numbers) {
  double const* const x = numbers.data();
  double result = 0;
  reduce(
      "coir::bench::read", exec, box<1, std::int64_t>({static_cast<std::int64_t>(numbers.size())}),
      KOKKOS_LAMBDA(std::int64_t i, double& value) { value += x[i]; }, Kokkos::Sum<double>(result));
  return result;
}

/// The shortest of several calls, which take about a tenth of a second together.
template <class Call>
double best_seconds(Space const& exec, Call const& call) {
  call();  // the first one pays for page tables, clocks and caches
  Stopwatch<Space> const total(exec);
  double best = 0;
  for (int n = 0; n < 3 || (total.seconds() < 0.1 && n < 1000); ++n) {
    Stopwatch<Space> const watch(exec);
    call();
    double const seconds = watch.seconds();
    best = n == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

/// The highest rates of what reads and writes one array, and of what only reads it, on arrays as
/// measure_limits() takes them.
void add_limits_of_one_array(Space const& exec) {
  constexpr std::int64_t smallest = 16 << 20, largest = std::int64_t(1) << 30;
  std::int64_t const wanted = runs_on_host<Space> ? 4 * last_level_cache_bytes(exec) : largest;
  std::int64_t const bytes =
      std::clamp(std::min(wanted, free_bytes<Memory>() / 8), smallest, largest);
  Numbers const numbers("coir::bench::limits", static_cast<std::size_t>(bytes) / sizeof(double));
  double const array = static_cast<double>(numbers.size() * sizeof(double));
  add("update_bytes_per_second", 2 * array / best_seconds(exec, [&] { update(exec, numbers); }));
  add("read_bytes_per_second",
      array / best_seconds(exec, [&] { benchmark::DoNotOptimize(sum(exec, numbers)); }));
  add("last_level_cache_bytes", static_cast<double>(last_level_cache_bytes(exec)));
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
  add_limits_of_one_array(exec);
  add("launch_nanoseconds", 1e9 * limits.launch_seconds);
  if (limits.host_to_device_bandwidth)
    add("host_to_device_bytes_per_second", *limits.host_to_device_bandwidth);
  if (limits.device_to_host_bandwidth)
    add("device_to_host_bytes_per_second", *limits.device_to_host_bandwidth);
  add("timing_overhead_nanoseconds", 1e9 * timing_overhead(exec));
  benchmark::AddCustomContext("kokkos_configuration", configuration);
}

}  // namespace coir::bench
