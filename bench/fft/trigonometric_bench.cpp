// Sine and cosine transforms along one axis. Rates count one pass over the field.

#include <support/timing.hpp>

#include <coir/core/contiguous.hpp>
#include <coir/fft/trigonometric.hpp>

#include <benchmark/benchmark.h>

namespace coir::bench {

using Kind = fft::Trigonometric;

template <class T, Kind kind, int axis>
void bench_trigonometric(benchmark::State& state) {
  Space const exec;
  Shape<2> const shape{state.range(0), state.range(1)};
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> const field("field", shape[0], shape[1]);
  std::array<Kind, 2> kinds{};
  kinds[axis] = kind;
  fft::TrigonometricPlan<Space, T, 2> const plan(exec, shape, kinds);
  double const cells = double(field.size());
  time_kernel(state, exec, Work{cells, cells * 2 * double(sizeof(T))},
              [&] { plan.run(field, field); });
}

void lengths(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  for (std::int64_t const n : {400, 1023, 4095, 4096}) bench->Args({n, n});
}
BENCHMARK_TEMPLATE(bench_trigonometric, double, Kind::dst1, 1)->Apply(lengths);
BENCHMARK_TEMPLATE(bench_trigonometric, double, Kind::dst1, 0)->Apply(lengths);
BENCHMARK_TEMPLATE(bench_trigonometric, double, Kind::dct2, 1)->Apply(lengths);
BENCHMARK_TEMPLATE(bench_trigonometric, double, Kind::dct3, 0)->Apply(lengths);
BENCHMARK_TEMPLATE(bench_trigonometric, float, Kind::dst1, 1)->Apply(lengths);
BENCHMARK_TEMPLATE(bench_trigonometric, float, Kind::dct4, 1)->Apply(lengths);

}  // namespace coir::bench
