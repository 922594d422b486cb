// The exact solution by transforms. Rates count a solve as one pass over the grid, as those of
// multigrid do. "residual" is |b - L u| / |b| of the problem's source, noise of mean zero. A smooth
// source has a larger one, because its solution is larger: see docs/poisson.md.

#include "problem.hpp"

#include <coir/poisson/direct.hpp>
#include <coir/poisson/laplacian.hpp>

#include <array>
#include <cstdint>

namespace coir::bench {

template <class T, int Rank = 2>
void bench_direct(benchmark::State& state) {
  Space const exec;
  if (!problem_fits<T, Rank>(state)) return;
  Problem<T, Rank> const problem(exec, state);
  std::array<int, Rank> extents;
  for (int d = 0; d < Rank; ++d) extents[d] = int(state.range(d));
  poisson::Direct<Space, T, Rank> solver(exec, extents);
  time_kernel(state, exec, problem.work_of(1),
              [&] { solver.solve(problem.source, problem.unknown); });
  state.counters["residual"] = poisson::residual_norm(exec, problem.source, problem.unknown) /
                               poisson::source_norm(exec, problem.source, problem.unknown);
  state.counters["prime_factor"] = double(solver.largest_prime_factor());
}

/// The photograph, and squares. A side plus 1 has small prime factors, unless it is 401 or 4097.
void rectangles(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Args({266, 400})->Args({400, 400});
  for (std::int64_t side : {63, 124, 242, 479, 899, 1023, 2024, 3999, 4095, 4096, 6749, 8191})
    bench->Args({side, side});
}
/// Cubes, of which the same is true unless it is 257.
void fast_boxes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  for (std::int64_t side : {63, 95, 127, 191, 255, 256, 383, 511}) bench->Args({side, side, side});
}
BENCHMARK_TEMPLATE(bench_direct, float)->Apply(rectangles);
BENCHMARK_TEMPLATE(bench_direct, double)->Apply(rectangles);
BENCHMARK_TEMPLATE(bench_direct, float, 3)->Apply(fast_boxes);
BENCHMARK_TEMPLATE(bench_direct, double, 3)->Apply(fast_boxes);

}  // namespace coir::bench
