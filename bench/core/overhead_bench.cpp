// What the benchmarks' own clock takes: batches of empty kernels, and no kernels at all, between two readings.
//
// timing_overhead() is the part of every measured time that isn't the kernel's: on hosts the row nothing/1, on devices kernels/1
// (where nothing/1 takes less, so that its counter "overhead" is above 1). No batch of calls is shorter than a hundred times that
// (shortest_time); kernels that change what they work on are timed one by one. Each row of every benchmark reports its own
// share as the counter "overhead". kernels/N are N empty kernels: the counter stays below a hundredth from the N on that batches
// begin with.

#include <support/timing.hpp>

#include <vector>

namespace coir::bench {

namespace {

void clock_of(benchmark::State& state, int kernels) {
  Space const exec;
  launch_empty(exec);
  std::vector<double> seconds;
  for (auto _ : state) {
    Stopwatch<Space> const watch(exec);
    for (int kernel = 0; kernel < kernels; ++kernel) launch_empty(exec);
    seconds.push_back(watch.seconds());
    state.SetIterationTime(seconds.back());
  }
  state.counters["seconds"] = median(seconds);
  report_overhead(state, exec, median(seconds));
}

void nothing(benchmark::State& state) { clock_of(state, 0); }
BENCHMARK(nothing)->Name("nothing")->Arg(1)->UseManualTime();

void empty_kernels(benchmark::State& state) { clock_of(state, static_cast<int>(state.range(0))); }
BENCHMARK(empty_kernels)->Name("kernels")->RangeMultiplier(10)->Range(1, 100'000)->UseManualTime();

}  // namespace

}  // namespace coir::bench
