// Steps of shallow water with viscosity: 64 bytes a cell in float, if each field is read and
// written once by each of the two kernels.

#include "start.hpp"

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <benchmark/benchmark.h>

#include <cstdint>

namespace coir::bench {

template <class T>
void bench_shallow(benchmark::State& state) {
  Space const exec;
  auto const parameters = parameters_of(int(state.range(0)), int(state.range(1)));
  double const cells = double(parameters.rows) * double(parameters.columns);
  if (!fits(state, 13 * double(sizeof(T)) * cells)) return;
  shallow::Model<Space, T> model(exec, distributed::Group::self(), parameters);
  start(exec, model);
  std::int64_t const steps = cells < 1e6 ? 100 : 10;
  time_kernel(state, exec, {cells * double(steps), cells * double(steps) * 16 * double(sizeof(T))},
              [&] { model.advance(steps); });
  state.counters["steps"] = double(steps);
}

/// Columns and rows: squares, those of the demo of mpi4jax, and a grid for large GPUs.
inline void grids(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  for (int side = 64; side <= 8192; side *= 2) bench->Args({side, side});
  bench->Args({360, 180})->Args({3600, 1800})->Args({14400, 7200});
}

BENCHMARK_TEMPLATE(bench_shallow, float)->Apply(grids);
BENCHMARK_TEMPLATE(bench_shallow, double)->Apply(grids);

}  // namespace coir::bench
