// Sweeps of red-black over-relaxation. A sweep counts as one pass, though its colours may take two.

#include "problem.hpp"

#include <coir/poisson/red_black.hpp>

namespace coir::bench {

template <class T, int Rank = 2>
void bench_red_black(benchmark::State& state) {
  Space const exec;
  if (!problem_fits<T, Rank>(state)) return;
  Problem<T, Rank> const problem(exec, state);
  std::int64_t const sweeps = sweeps_for(problem);
  time_kernel(state, exec, problem.work_of(sweeps), [&] {
    poisson::red_black(exec, problem.source, problem.unknown, {.sweeps = sweeps});
  });
  state.counters["sweeps"] = double(sweeps);
}

BENCHMARK_TEMPLATE(bench_red_black, float)->Apply(sizes);
BENCHMARK_TEMPLATE(bench_red_black, double)->Apply(sizes)->Apply(size_for_threads);
BENCHMARK_TEMPLATE(bench_red_black, float, 3)->Apply(boxes);
BENCHMARK_TEMPLATE(bench_red_black, double, 3)->Apply(boxes);

}  // namespace coir::bench
