// Copies between the host and a device: to it and from it, of pageable and of page-locked host
// memory, and within its memory. In a build for hosts, and as core_transfers_host_bench, copies
// between two arrays of the host.
//
// Each copy is waited for, as by someone who needs the result: small ones show the latency. Counted
// are the bytes that are transferred, once, and of copies within one memory those read and those
// written, as the measured limits do. share_of_copy and share_of_transfer are shares of these
// limits.
//
// Rows overlap,... copy on one instance while a kernel that takes as long computes on another. The
// counters copy and kernel are the seconds of each alone, both those of the two together, and
// hidden the share of the shorter one that nobody waits for.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/core/loops.hpp>
#include <coir/core/own_instance.hpp>
#include <coir/core/pinned.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

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

/// A kernel that computes, and touches little memory.
void compute(Space const& exec, Kokkos::View<float*, Memory> const& x, int rounds) {
  for_each(
      "coir::bench::compute", exec, box<1, std::int64_t>({std::int64_t(x.extent(0))}),
      KOKKOS_LAMBDA(std::int64_t i) {
        float value = x(i);
        for (int round = 0; round < rounds; ++round) value = 0.999f * value + 0.5f;
        x(i) = value;
      });
}

/// So many rounds that the kernel takes about `seconds`.
[[maybe_unused]] int rounds_that_take(double seconds, Space const& exec,
                                      Kokkos::View<float*, Memory> const& x) {
  compute(exec, x, 1);
  for (int rounds = 1024;; rounds *= 2) {
    Stopwatch<Space> const watch(exec);
    compute(exec, x, rounds);
    double const taken = watch.seconds();
    if (taken >= seconds || rounds > (1 << 28)) return std::max(1, int(rounds * seconds / taken));
  }
}

template <class FromSpace>
void overlap(benchmark::State& state) {
  std::int64_t const count = state.range(0);
  if (!fits<Host>(state, double(count)) || !fits<Memory>(state, double(count))) return;
  auto const from = bytes_in<FromSpace>(count);
  auto const to = bytes_in<Memory>(count);
  Kokkos::View<float*, Memory> const x("x", 1 << 20);
  Kokkos::fence();
  OwnInstance<Space> const copies, kernels;
  auto const start_copy = [&] { Kokkos::deep_copy(copies.exec(), to, from); };
  auto const seconds_of = [&](auto const& start) {
    Kokkos::fence();
    Stopwatch<Space> const watch(copies.exec());
    start();
    kernels.exec().fence();
    return watch.seconds();
  };
  seconds_of(start_copy);
  int const rounds = rounds_that_take(seconds_of(start_copy), kernels.exec(), x);
  auto const start_kernel = [&] { compute(kernels.exec(), x, rounds); };
  seconds_of(start_kernel);

  std::vector<double> copy, kernel, both;
  for (auto _ : state) {
    copy.push_back(seconds_of(start_copy));
    kernel.push_back(seconds_of(start_kernel));
    both.push_back(seconds_of([&] {
      start_kernel();
      start_copy();
    }));
    state.SetIterationTime(both.back());
  }
  double const alone[] = {median(copy), median(kernel)};
  state.counters["copy"] = alone[0];
  state.counters["kernel"] = alone[1];
  state.counters["both"] = state.counters["seconds"] = median(both);
  state.counters["hidden"] = (alone[0] + alone[1] - median(both)) / std::min(alone[0], alone[1]);
  report_overhead(state, Space{}, median(both));
}

template <class Function>
void add(char const* name, Function const& function, std::int64_t from = smallest) {
  auto* const bench = benchmark::RegisterBenchmark(name, function);
  bench->UseManualTime();
  for (std::int64_t count = from; count <= largest; count *= 4) bench->Arg(count);
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
    add("overlap,to_device,pageable", overlap<Host>, 1 << 22);
    add("overlap,to_device,pinned", overlap<PinnedSpace>, 1 << 22);
  }
  return true;
}

[[maybe_unused]] bool const added = add_all();

}  // namespace

}  // namespace coir::bench
