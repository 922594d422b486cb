// Steps of shallow water with viscosity: 64 bytes a cell in float, if each field is read and
// written once by each of the two kernels.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/shallow/model.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>

namespace coir::bench {

namespace {

/// The start of the jet, without its balance: the arithmetic is the same.
template <class T>
struct Start {
  using Field = Kokkos::View<T**, Kokkos::LayoutRight, Memory>;
  Field h, u, v;

  KOKKOS_FUNCTION void operator()(int j, int i) const {
    T const y = T(j) / T(h.extent(0)) - T(0.5);
    h(j, i) = T(100) + T(0.01) * T((i * 7 + j * 13) % 20);
    u(j, i) = T(10) / (T(1) + y * y * T(100));
    v(j, i) = 0;
  }
};

}  // namespace

template <class T>
void bench_shallow(benchmark::State& state) {
  Space const exec;
  shallow::Parameters parameters;
  parameters.columns = static_cast<int>(state.range(0));
  parameters.rows = static_cast<int>(state.range(1));
  parameters.dx = parameters.dy = 5e3;
  parameters.f0 = 2e-4;
  parameters.beta = 2e-11;
  parameters.viscosity = 1e-3 * parameters.f0 * parameters.dx * parameters.dx;
  parameters.dt = 0.125 * parameters.dx / std::sqrt(9.81 * 100);
  double const cells = double(parameters.rows) * double(parameters.columns);
  if (!fits(state, 13 * double(sizeof(T)) * cells)) return;
  shallow::Model<Space, T> model(exec, distributed::Group::self(), parameters);
  {
    auto const rows = std::size_t(parameters.rows), columns = std::size_t(parameters.columns);
    using Field = typename Start<T>::Field;
    Start<T> const start{Field("h", rows, columns), Field("u", rows, columns),
                         Field("v", rows, columns)};
    for_each("coir::bench::start", exec, box({parameters.rows, parameters.columns}), start);
    model.set(start.h, start.u, start.v);
  }
  std::int64_t const steps = cells < 1e6 ? 100 : 10;
  time_kernel(state, exec, {cells * double(steps), cells * double(steps) * 16 * double(sizeof(T))},
              [&] { model.advance(steps); });
}

/// Columns and rows: a small grid, those of the demo of mpi4jax, and one for large GPUs.
inline void grids(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Args({64, 64})->Args({360, 180});
  bench->Args({3600, 1800})->Args({14400, 7200});
}

BENCHMARK_TEMPLATE(bench_shallow, float)->Apply(grids);
BENCHMARK_TEMPLATE(bench_shallow, double)->Apply(grids);

}  // namespace coir::bench
