// The force of a density, against the plain transforms that it takes: two in place where the
// gradient is a stencil, four where it is spectral. On hosts these are FFTW's, and there is no
// comparison without fftw3_omp.
//
// Counted are the bytes of the density and of the force, once.

#include <support/memory.hpp>
#include <support/timing.hpp>
#include <support/transforms.hpp>

#include <coir/mesh/force.hpp>

#include <cstdint>

namespace coir::bench {

/// Zeros give zeros: see PlainTransforms.
template <mesh::ForceKernel kernel>
void force(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  double const cells = double(n) * double(n) * double(n);
  Work const work{cells, 4 * double(sizeof(float)) * cells};
  if (!fits(state, 1.5 * work.bytes)) return;
  Space const exec;
  mesh::Force<Space, float> force(exec, {n, n, n}, double(n), {.kernel = kernel});
  Kokkos::deep_copy(force.spectrum(), Kokkos::complex<float>(0));
  auto const solve = [&] { force.solve(1); };
  if constexpr (has_plain_transforms<Space>) {
    PlainTransforms<Space> const plain(exec, n);
    compare_kernels(state, exec, work, solve, [&] {
      plain.forward();
      for (int back = 1; back < mesh::transforms_of(kernel); ++back) plain.backward();
    });
  } else {
    time_kernel(state, exec, work, solve);
  }
  state.counters["ns/cell"] = 1e9 * state.counters["seconds"].value / cells;
}

BENCHMARK_TEMPLATE(force, mesh::ForceKernel::one_four)
    ->Name("1_4")
    ->RangeMultiplier(2)
    ->Range(64, 512)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(force, mesh::ForceKernel::naive)
    ->Name("naive")
    ->RangeMultiplier(2)
    ->Range(64, 512)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace coir::bench
