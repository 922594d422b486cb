// Sweeps of red-black over-relaxation. A sweep counts as one pass, though its colours may take two.

#include "problem.hpp"

#include <coir/core/contiguous.hpp>
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

// A copy of a box's field. Its share of copy, which is that of larger arrays, says what the size of
// the box costs.
template <class T>
void bench_copy_of_box(benchmark::State& state) {
  Space const exec;
  auto const cells = std::int64_t(state.range(0)) * state.range(1) * state.range(2);
  double const bytes = 2.0 * double(sizeof(T)) * double(cells);
  if (!fits(state, bytes)) return;
  Kokkos::View<T*, Memory> const from("from", std::size_t(cells)), to("to", std::size_t(cells));
  time_kernel(state, exec, {double(cells), bytes}, [&] { copy_contiguous(exec, to, from); });
}
BENCHMARK_TEMPLATE(bench_copy_of_box, float)->Apply(boxes);
BENCHMARK_TEMPLATE(bench_copy_of_box, double)->Apply(boxes);

}  // namespace coir::bench
