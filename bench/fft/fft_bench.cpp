// Real transforms of cubes, there and back, against FFTW's own plans for the same (measured, on as
// many threads) on hosts where fftw3_omp is there.
//
// Counted are 2.5 N log2 N operations, half of what is usual for complex numbers, and the bytes of
// input and output once. bench/peers does the same in NumPy, JAX and CuPy.

#include <support/memory.hpp>
#include <support/timing.hpp>
#include <support/transforms.hpp>

#include <coir/fft/plan.hpp>

#include <cmath>
#include <cstdint>

namespace coir::bench {

/// Plans of larger cubes aren't compared: FFTW measures them by transforming again and again.
constexpr std::int64_t largest_compared = 256;

/// Zeros stay zeros, so that repetitions in the same memory neither overflow nor slow down.
template <class T, bool Forward>
void cube(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  auto const side = static_cast<std::size_t>(n);
  Space const exec;
  double const reals = double(n) * double(n) * double(n);
  // As much again for what transforms take besides.
  if (!fits(state, 4 * double(sizeof(T)) * reals)) return;
  Kokkos::View<T***, Kokkos::LayoutRight, Memory> const real("real", side, side, side);
  Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, Memory> const spectrum(
      "spectrum", side, side, side / 2 + 1);
  fft::RealPlan<Space, T, 3> const plan(exec, {n, n, n});
  auto const ours = [&] {
    if constexpr (Forward)
      plan.forward(real, spectrum);
    else
      plan.backward(spectrum, real);
  };
  double const cells = double(real.size());
  Work const work{cells, double(sizeof(T)) * (cells + 2 * double(spectrum.size()))};
  double const flops = 2.5 * cells * std::log2(cells);
  if (has_fftw_threads && runs_on_host<Space> && n <= largest_compared) {
    FftwPlans<T> const plans(n, host_threads(exec), real.data(), spectrum.data());
    Kokkos::deep_copy(real, T(0));
    Kokkos::deep_copy(spectrum, Kokkos::complex<T>(0));
    compare_kernels(state, exec, work, ours, [&] { Forward ? plans.forward() : plans.backward(); });
  } else {
    time_kernel(state, exec, work, ours);
  }
  state.counters["flops"] = flops / state.counters["seconds"].value;
}

void sides(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime();
  for (std::int64_t const side : {32, 48, 64, 96, 128, 192, 256, 384, 512}) bench->Arg(side);
}
BENCHMARK(cube<float, true>)->Name("r2c,float")->Apply(sides);
BENCHMARK(cube<float, false>)->Name("c2r,float")->Apply(sides);
BENCHMARK(cube<double, true>)->Name("r2c,double")->Apply(sides);
BENCHMARK(cube<double, false>)->Name("c2r,double")->Apply(sides);

}  // namespace coir::bench
