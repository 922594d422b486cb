// Jacobi sweeps, one pass over memory each or many sweeps a pass.

#include "problem.hpp"

#include <coir/poisson/jacobi.hpp>

namespace coir::bench {

template <class T, poisson::JacobiScheme scheme, int Rank = 2>
void bench_jacobi(benchmark::State& state) {
  Space const exec;
  if (!problem_fits<T, Rank>(state)) return;
  Problem<T, Rank> const problem(exec, state);
  std::int64_t const sweeps = sweeps_for(problem);
  time_kernel(state, exec, problem.work_of(sweeps), [&] {
    poisson::jacobi(exec, problem.source, problem.unknown, {.scheme = scheme, .sweeps = sweeps});
  });
  state.counters["sweeps"] = double(sweeps);
}

BENCHMARK_TEMPLATE(bench_jacobi, float, poisson::JacobiScheme::plain)->Apply(sizes);
BENCHMARK_TEMPLATE(bench_jacobi, float, poisson::JacobiScheme::blocked)->Apply(sizes);
BENCHMARK_TEMPLATE(bench_jacobi, double, poisson::JacobiScheme::plain)->Apply(sizes);
BENCHMARK_TEMPLATE(bench_jacobi, double, poisson::JacobiScheme::blocked)->Apply(sizes);
BENCHMARK_TEMPLATE(bench_jacobi, float, poisson::JacobiScheme::plain, 3)->Apply(boxes);
BENCHMARK_TEMPLATE(bench_jacobi, double, poisson::JacobiScheme::plain, 3)->Apply(boxes);

}  // namespace coir::bench
