#pragma once

#include <support/limits.hpp>
#include <support/space.hpp>
#include "median.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/timing.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
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

/// Launches a kernel of one thread that does nothing.
template <class Exec>
void launch_empty(Exec const& exec) {
  for_each("coir::bench::empty", exec, box({1}), KOKKOS_LAMBDA(int){});
}

/// What a Stopwatch reads where there is no work: on hosts the clock and the fence; on devices also
/// the launch of an empty kernel and the wait for it, because a fence that has nothing to wait for
/// returns sooner than those of a measurement. At most that much of every time that is measured
/// isn't the kernel's.
template <class Exec>
double timing_overhead(Exec const& exec) {
  static double const overhead = [&] {
    std::vector<double> seconds;
    for (int repetition = 0; repetition < 1001; ++repetition) {
      Stopwatch<Exec> const watch(exec);
      if constexpr (!runs_on_host<Exec>) launch_empty(exec);
      seconds.push_back(watch.seconds());
    }
    return median(seconds);
  }();
  return overhead;
}

/// The shortest time that is worth measuring: of anything longer the overhead is less than a
/// hundredth.
template <class Exec>
double shortest_time(Exec const& exec, double at_least = 0) {
  return std::max(at_least, 100 * timing_overhead(exec));
}

/// Adds the share of the overhead in what was timed to a benchmark's report.
///
/// \param seconds  the median time of an iteration
template <class Exec>
void report_overhead(benchmark::State& state, Exec const& exec, double seconds) {
  state.counters["overhead"] = timing_overhead(exec) / seconds;
}

/// Adds cells/s (or of what else there is), bytes/s and the share of the measured copy bandwidth to
/// a benchmark's report.
template <class Exec>
void report_rates(benchmark::State& state, Exec const& exec, Work work) {
  using benchmark::Counter;
  constexpr auto per_call = Counter::kIsIterationInvariantRate;
  state.counters[std::string(work.what) + "/s"] = Counter(work.items, per_call);
  state.counters["bytes/s"] = Counter(work.bytes, per_call);
  state.counters["share_of_copy"] = Counter(work.bytes / limits_of(exec).copy_bandwidth, per_call);
}

/// Times calls of a kernel, with a fence on both sides. The counter "seconds" is the median time of
/// one.
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
  report_overhead(state, exec, median(seconds));
}

/// Times batches of calls that take so many seconds at least, with a fence on both sides of each
/// batch. The counter "seconds" is the median time of one call.
///
/// \returns the number of calls in a batch, which is an iteration of the benchmark
template <class Exec, class Kernel>
int time_batches_of(benchmark::State& state, Exec const& exec, double at_least,
                    Kernel const& kernel) {
  kernel();  // the first call pays for page tables, clocks and caches
  int calls = 1;
  auto const seconds_of_batch = [&] {
    Stopwatch<Exec> const watch(exec);
    for (int call = 0; call < calls; ++call) kernel();
    return watch.seconds();
  };
  double const shortest = shortest_time(exec, at_least);
  while (seconds_of_batch() < shortest) calls *= 2;
  std::vector<double> seconds;
  for (auto _ : state) {
    seconds.push_back(seconds_of_batch());
    state.SetIterationTime(seconds.back());
  }
  state.counters["seconds"] = median(seconds) / calls;
  report_overhead(state, exec, median(seconds));
  return calls;
}

/// Times calls of a kernel, with a fence on both sides, one by one unless the overhead would show.
template <class Exec, class Kernel>
void time_kernel(benchmark::State& state, Exec const& exec, Work work, Kernel const& kernel) {
  int const calls = time_batches_of(state, exec, 0, kernel);
  report_rates(state, exec, {work.items * calls, work.bytes * calls, work.what});
}

/// Times batches of calls that take a millisecond at least, as the scripts of bench/peers do: what
/// launches and fences cost shows where it can't overlap with the work of other calls.
///
/// \returns the number of calls in a batch, which is an iteration of the benchmark
template <class Exec, class Kernel>
int time_batches(benchmark::State& state, Exec const& exec, Kernel const& kernel) {
  return time_batches_of(state, exec, 1e-3, kernel);
}

/// The same, and reports rates.
///
/// \param work  what one call does
template <class Exec, class Kernel>
void time_batches(benchmark::State& state, Exec const& exec, Work work, Kernel const& kernel) {
  int const calls = time_batches(state, exec, kernel);
  report_rates(state, exec, {work.items * calls, work.bytes * calls, work.what});
}

/// Calls ours() and raw(), which return the seconds of a batch of `calls` calls, in turns, so that
/// what else runs on the machine meets both alike, and reports them.
///
/// An iteration is a batch; the time reported is that of ours. The counter "ours/raw" is the ratio
/// of the medians: 1.05 means ours takes 5 % longer; "seconds" is the median time of one call of
/// ours.
template <class Exec, class Ours, class Raw>
void time_in_turns(benchmark::State& state, Exec const& exec, Work work, int calls,
                   Ours const& ours, Raw const& raw) {
  std::vector<double> our_seconds, raw_seconds;
  for (auto _ : state) {
    bool const ours_first = our_seconds.size() % 2 == 0;
    if (ours_first) our_seconds.push_back(ours());
    raw_seconds.push_back(raw());
    if (!ours_first) our_seconds.push_back(ours());
    state.SetIterationTime(our_seconds.back());
  }
  report_rates(state, exec, {work.items * calls, work.bytes * calls, work.what});
  state.counters["seconds"] = median(our_seconds) / calls;
  state.counters["ours/raw"] = median(our_seconds) / median(raw_seconds);
  report_overhead(state, exec, median(our_seconds));
}

/// Calls several works in turns, and returns the median seconds of each. An iteration's time is
/// that of the last one.
template <class Exec, class... Works>
std::array<double, sizeof...(Works)> time_works(benchmark::State& state, Exec const& exec,
                                                Works const&... works) {
  std::array<std::vector<double>, sizeof...(Works)> seconds;
  auto const round = [&] {
    std::size_t at = 0;
    auto const time = [&](auto const& work) {
      Stopwatch<Exec> const watch(exec);
      work();
      seconds[at++].push_back(watch.seconds());
    };
    (time(works), ...);
  };
  round();  // pays for plans, page tables, clocks and caches
  for (auto& of_one : seconds) of_one.clear();
  for (auto _ : state) {
    round();
    state.SetIterationTime(seconds.back().back());
  }
  std::array<double, sizeof...(Works)> medians;
  std::transform(seconds.begin(), seconds.end(), medians.begin(), median);
  report_overhead(state, exec, medians.back());
  return medians;
}

/// Times a kernel and another that computes the same in batches that are long enough for the clock:
/// see time_in_turns().
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
  double const shortest = shortest_time(exec, 20e-6);
  while (seconds_of(ours) < shortest) calls *= 2;
  seconds_of(raw);
  time_in_turns(
      state, exec, work, calls, [&] { return seconds_of(ours); }, [&] { return seconds_of(raw); });
}

}  // namespace coir::bench
