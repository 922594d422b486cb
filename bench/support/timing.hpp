#pragma once

/// \file
/// How kernels are timed and which rates are reported.

#include <support/limits.hpp>

#include <coir/core/timing.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace coir::bench {

/// What one call of a kernel does.
struct Work {
  double items;  ///< that it updates or reads
  double bytes;  ///< that it must read and write, each array once
  char const* what = "cells";
};

/// The middle one, or the upper of the two middle ones.
inline double median(std::vector<double> numbers) {
  auto const middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// Adds cells/s (or of what else there is), bytes/s and the share of the measured copy bandwidth to a
/// benchmark's report.
template <class Exec>
void report_rates(benchmark::State& state, Exec const& exec, Work work) {
  using benchmark::Counter;
  constexpr auto per_call = Counter::kIsIterationInvariantRate;
  state.counters[std::string(work.what) + "/s"] = Counter(work.items, per_call);
  state.counters["bytes/s"] = Counter(work.bytes, per_call);
  state.counters["share_of_copy"] = Counter(work.bytes / limits_of(exec).copy_bandwidth, per_call);
}

/// Times calls of a kernel, with a fence on both sides. The counter "seconds" is the median time of one.
///
/// \param prepare  called before each of them, outside the time
template <class Exec, class Kernel, class Prepare>
void time_kernel(benchmark::State& state, Exec const& exec, Work work, Kernel const& kernel,
                 Prepare const& prepare) {
  prepare();
  kernel();  // the first call pays for page tables, clocks and caches
  std::vector<double> seconds;
  for (auto _ : state) {
    prepare();
    Stopwatch<Exec> const watch(exec);
    kernel();
    seconds.push_back(watch.seconds());
    state.SetIterationTime(seconds.back());
  }
  report_rates(state, exec, work);
  state.counters["seconds"] = median(seconds);
}

template <class Exec, class Kernel>
void time_kernel(benchmark::State& state, Exec const& exec, Work work, Kernel const& kernel) {
  time_kernel(state, exec, work, kernel, [] {});
}

/// Times batches of calls that take a millisecond at least, with a fence on both sides of each batch, as the
/// scripts of bench/peers do: what launches and fences cost shows where it can't overlap with the work of
/// other calls. The counter "seconds" is the median time of one call.
///
/// \returns the number of calls in a batch, which is an iteration of the benchmark
template <class Exec, class Kernel>
int time_batches(benchmark::State& state, Exec const& exec, Kernel const& kernel) {
  kernel();
  int calls = 1;
  auto const seconds_of_batch = [&] {
    Stopwatch<Exec> const watch(exec);
    for (int call = 0; call < calls; ++call) kernel();
    return watch.seconds();
  };
  while (seconds_of_batch() < 1e-3) calls *= 2;
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds.push_back(seconds_of_batch());
    state.SetIterationTime(seconds.back());
  }
  state.counters["seconds"] = median(seconds) / calls;
  return calls;
}

/// Times a kernel and another that does the same, in turns, so that what else runs on the machine
/// meets both alike.
///
/// An iteration is a batch of calls; the time reported is that of a batch of ours. The counter
/// "ours/raw" is the ratio of the medians: 1.05 means ours takes 5 % longer; "seconds" is the median time
/// of one call of ours.
template <class Exec, class Ours, class Raw>
void compare_kernels(benchmark::State& state, Exec const& exec, Work work, Ours const& ours,
                     Raw const& raw) {
  int calls = 1;
  auto const seconds_of = [&](auto const& kernel) {
    Stopwatch<Exec> const watch(exec);
    for (int call = 0; call < calls; ++call) {
      kernel();
      benchmark::ClobberMemory();  // every call must do its work anew
    }
    return watch.seconds();
  };
  while (seconds_of(ours) < 20e-6) calls *= 2;  // enough calls a batch that the clock doesn't show
  seconds_of(raw);

  std::vector<double> ours_seconds, raw_seconds;
  for (auto _ : state) {
    bool const ours_first = ours_seconds.size() % 2 == 0;
    if (ours_first) ours_seconds.push_back(seconds_of(ours));
    raw_seconds.push_back(seconds_of(raw));
    if (!ours_first) ours_seconds.push_back(seconds_of(ours));
    state.SetIterationTime(ours_seconds.back());
  }
  report_rates(state, exec, {work.items * calls, work.bytes * calls, work.what});
  state.counters["seconds"] = median(ours_seconds) / calls;
  state.counters["ours/raw"] = median(ours_seconds) / median(raw_seconds);
}

}  // namespace coir::bench
