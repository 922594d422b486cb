// Multigrid from zero to a small residual: 1e-4 in float, 1e-8 in double. Rates count a solve as
// one pass over the grid, so a share of 0.02 means that a solve costs as much as fifty passes at
// full speed.

#include "problem.hpp"

#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/multigrid.hpp>

#include <array>
#include <type_traits>

namespace coir::bench {

template <class T, int Rank = 2>
void bench_multigrid(benchmark::State& state) {
  Space const exec;
  if (!problem_fits<T, Rank>(state)) return;
  Problem<T, Rank> const problem(exec, state);
  poisson::MultigridOptions options;
  options.tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-8;
  std::array<int, Rank> extents;
  for (int d = 0; d < Rank; ++d) extents[d] = int(state.range(d));
  poisson::Multigrid<Space, T, Rank> solver(exec, extents, options);

  poisson::Result result;
  time_kernel(
      state, exec, problem.work_of(1),
      [&] { result = solver.solve(problem.source, problem.unknown); },
      [&] { fill(exec, problem.unknown, T(0)); });
  if (!result.converged) state.SkipWithError("it doesn't converge");
  state.counters["cycles"] = double(result.iterations);
  state.counters["convergence_factor"] = result.convergence_factor;
}

BENCHMARK_TEMPLATE(bench_multigrid, float)->Apply(sizes);
BENCHMARK_TEMPLATE(bench_multigrid, double)->Apply(sizes);
BENCHMARK_TEMPLATE(bench_multigrid, float, 3)->Apply(boxes);
BENCHMARK_TEMPLATE(bench_multigrid, double, 3)->Apply(boxes);

// A solve from zero in turns with a hundred plain sweeps of the same grid: the counter ours/raw is
// the ratio.
template <class T>
void bench_multigrid_and_100_sweeps(benchmark::State& state) {
  Space const exec;
  Problem<T> const problem(exec, state);
  poisson::MultigridOptions options;
  options.tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-8;
  poisson::Multigrid<Space, T, 2> solver(exec, std::array{int(state.range(0)), int(state.range(1))},
                                         options);
  poisson::Result result;
  auto const [sweeps, solve] = time_works(
      state, exec,
      [&] {
        poisson::jacobi(exec, problem.source, problem.unknown,
                        {.scheme = poisson::JacobiScheme::plain, .sweeps = 100});
      },
      [&] {
        fill(exec, problem.unknown, T(0));
        result = solver.solve(problem.source, problem.unknown);
      });
  report_rates(state, exec, problem.work_of(1));
  state.counters["seconds"] = solve;
  state.counters["ours/raw"] = solve / sweeps;
  if (!result.converged) state.SkipWithError("it doesn't converge");
  state.counters["cycles"] = double(result.iterations);
}
BENCHMARK_TEMPLATE(bench_multigrid_and_100_sweeps, double)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Args({4096, 4096});

// Six cycles.
template <class T>
void bench_multigrid_cycles(benchmark::State& state) {
  Space const exec;
  Problem<T> const problem(exec, state);
  poisson::Multigrid<Space, T, 2> solver(exec, std::array{int(state.range(0)), int(state.range(1))},
                                         {.max_cycles = 6, .tolerance = 0});
  time_kernel(state, exec, problem.work_of(1),
              [&] { solver.solve(problem.source, problem.unknown); });
}
BENCHMARK_TEMPLATE(bench_multigrid_cycles, double)->Apply(size_for_threads);

}  // namespace coir::bench
