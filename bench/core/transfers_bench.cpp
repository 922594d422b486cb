// Copies between the host and a device: to it and from it, of pageable and of page-locked host memory, and within its memory.
// In a build for hosts, and as core_transfers_host_bench, copies between two arrays of the host.
//
// Each copy is waited for, as by someone who needs the result: small ones show the latency. Counted are the bytes that are
// transferred, once, and of copies within one memory those read and those written, as the measured limits do. share_of_copy
// and share_of_transfer are shares of these limits.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/core/pinned.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace coir::bench {

namespace {

using Host = Kokkos::HostSpace;
constexpr std::int64_t smallest = 1 << 12, largest = 1 << 30;

template <class MemorySpace>
Kokkos::View<char*, MemorySpace> bytes_in(std::int64_t count) {
  return Kokkos::View<char*, MemorySpace>("bytes", static_cast<std::size_t>(count));
}

/// The limit that a transfer is compared with.
enum class Way { to_device, from_device };

template <class From, class To>
void copy(Space const& exec, From const& from, To const& to) {
  Kokkos::deep_copy(exec, to, from);
  exec.fence();
}

template <class FromSpace, class ToSpace>
void transfer(benchmark::State& state, Way way) {
  std::int64_t const count = state.range(0);
  if (!fits<Host>(state, double(count)) || !fits<Memory>(state, double(count))) return;
  Space const exec;
  auto const from = bytes_in<FromSpace>(count);
  auto const to = bytes_in<ToSpace>(count);
  double const calls = time_batches(state, exec, [&] { copy(exec, from, to); });
  MachineLimits const& limits = limits_of(exec);
  std::optional<double> const limit =
      way == Way::to_device ? limits.host_to_device_bandwidth : limits.device_to_host_bandwidth;
  using benchmark::Counter;
  constexpr auto per_batch = Counter::kIsIterationInvariantRate;
  state.counters["bytes/s"] = Counter(calls * double(count), per_batch);
  if (limit)
    state.counters["share_of_transfer"] = Counter(calls * double(count) / *limit, per_batch);
}

void within(benchmark::State& state) {
  std::int64_t const count = state.range(0);
  if (!fits<Memory>(state, 2 * double(count))) return;
  Space const exec;
  auto const from = bytes_in<Memory>(count), to = bytes_in<Memory>(count);
  time_batches(state, exec, {double(count), 2 * double(count), "bytes_copied"},
               [&] { copy(exec, from, to); });
}

template <class Function>
void add(char const* name, Function const& function) {
  auto* const bench = benchmark::RegisterBenchmark(name, function);
  bench->UseManualTime();
  for (std::int64_t count = smallest; count <= largest; count *= 4) bench->Arg(count);
}

template <class S = Space>
bool add_all() {
  if constexpr (runs_on_host<S>) {
    add("copy,host_to_host", within);
  } else {
    add("transfer,to_device,pageable",
        [](benchmark::State& state) { transfer<Host, Memory>(state, Way::to_device); });
    add("transfer,to_device,pinned",
        [](benchmark::State& state) { transfer<PinnedSpace, Memory>(state, Way::to_device); });
    add("transfer,from_device,pageable",
        [](benchmark::State& state) { transfer<Memory, Host>(state, Way::from_device); });
    add("transfer,from_device,pinned",
        [](benchmark::State& state) { transfer<Memory, PinnedSpace>(state, Way::from_device); });
    add("copy,device_to_device", within);
  }
  return true;
}

[[maybe_unused]] bool const added = add_all();

}  // namespace

}  // namespace coir::bench
