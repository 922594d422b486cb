// The exact solution by transforms. Rates count a solve as one pass over the grid, as those of
// multigrid do.

#include "problem.hpp"

#include <coir/poisson/direct.hpp>
#include <coir/poisson/laplacian.hpp>

#include <array>

namespace coir::bench {

template <class T>
void bench_direct(benchmark::State& state) {
  Space const exec;
  Problem<T> const problem(exec, state);
  poisson::Direct<Space, T, 2> solver(exec, std::array{int(state.range(0)), int(state.range(1))});
  time_kernel(state, exec, problem.work_of(1),
              [&] { solver.solve(problem.source, problem.unknown); });
  state.counters["residual"] = poisson::residual_norm(exec, problem.source, problem.unknown) /
                               poisson::source_norm(exec, problem.source, problem.unknown);
  state.counters["prime_factor"] = double(solver.largest_prime_factor());
}

/// The photograph, lengths with small and with large prime factors.
void rectangles(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  for (auto const& cells :
       {std::array{266, 400}, {400, 400}, {1023, 1023}, {4095, 4095}, {4096, 4096}, {8191, 8191}})
    bench->Args({cells[0], cells[1]});
}
BENCHMARK_TEMPLATE(bench_direct, float)->Apply(rectangles);
BENCHMARK_TEMPLATE(bench_direct, double)->Apply(rectangles);

template <class T>
void bench_direct_box(benchmark::State& state) {
  Space const exec;
  auto const n = static_cast<std::size_t>(state.range(0));
  using Box = Kokkos::View<T***, Kokkos::LayoutRight, Memory>;
  Box const source("source", n, n, n), unknown("unknown", n + 2, n + 2, n + 2);
  // The numbers of a rectangle's source.
  Grid<T> const flat(source.data(), n * n, n);
  fill_source(exec, flat);
  int const side = static_cast<int>(n);
  poisson::Direct<Space, T, 3> solver(exec, std::array{side, side, side});
  double const cells = double(source.size());
  time_kernel(state, exec, Work{cells, cells * 3 * double(sizeof(T))},
              [&] { solver.solve(source, unknown); });
  state.counters["residual"] =
      poisson::residual_norm(exec, source, unknown) / poisson::source_norm(exec, source, unknown);
}
BENCHMARK_TEMPLATE(bench_direct_box, float)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Arg(127)
    ->Arg(255)
    ->Arg(256);
BENCHMARK_TEMPLATE(bench_direct_box, double)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Arg(127)
    ->Arg(255)
    ->Arg(256);

}  // namespace coir::bench
