// Real transforms of cubes, there and back, against FFTW's own plans for the same (measured, on as many
// threads) on hosts where fftw3_omp is there.
//
// Counted are 2.5 N log2 N operations, half of what is usual for complex numbers, and the bytes of input and output
// once. bench/peers does the same in NumPy, JAX and CuPy.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/fft/plan.hpp>

#ifdef COIR_BENCH_FFTW_THREADS
#include <fftw3.h>
#endif

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace coir::bench {

#ifdef COIR_BENCH_FFTW_THREADS
/// FFTW's plans of a cube, both ways.
template <class T>
struct Direct;

#define COIR_DIRECT(T, letter)                                                                    \
  template <>                                                                                     \
  struct Direct<T> {                                                                              \
    letter##_plan there, back;                                                                    \
    Direct(int n, T* x, void* y) {                                                                \
      auto* const spectrum = static_cast<letter##_complex*>(y);                                   \
      letter##_init_threads();                                                                    \
      letter##_plan_with_nthreads(host_threads(Kokkos::DefaultHostExecutionSpace{}));             \
      there = letter##_plan_dft_r2c_3d(n, n, n, x, spectrum, FFTW_MEASURE | FFTW_PRESERVE_INPUT); \
      back = letter##_plan_dft_c2r_3d(n, n, n, spectrum, x, FFTW_MEASURE);                        \
      letter##_plan_with_nthreads(1);                                                             \
    }                                                                                             \
    void forward() const { letter##_execute(there); }                                             \
    void backward() const { letter##_execute(back); }                                             \
    ~Direct() {                                                                                   \
      letter##_destroy_plan(there);                                                               \
      letter##_destroy_plan(back);                                                                \
    }                                                                                             \
  };
COIR_DIRECT(float, fftwf)
COIR_DIRECT(double, fftw)
#undef COIR_DIRECT
#endif

/// Plans of larger cubes aren't compared: FFTW measures them by transforming again and again.
[[maybe_unused]] constexpr std::int64_t largest_compared = 256;

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
#ifdef COIR_BENCH_FFTW_THREADS
  if (runs_on_host<Space> && n <= largest_compared) {
    Direct<T> const direct(static_cast<int>(n), real.data(), spectrum.data());
    Kokkos::deep_copy(real, T(0));
    Kokkos::deep_copy(spectrum, Kokkos::complex<T>(0));
    compare_kernels(state, exec, work, ours, [&] {
      if constexpr (Forward)
        direct.forward();
      else
        direct.backward();
    });
  } else
#endif
  {
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
