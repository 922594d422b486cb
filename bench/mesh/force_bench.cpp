// The force of a density, against the plain transforms that it takes: two in place where the gradient is a stencil, four
// where it is spectral.
//
// Counted are the bytes of the density and of the force, once.

#include <support/timing.hpp>
#include <support/transforms.hpp>

#include <coir/mesh/force.hpp>

#include <cstdint>

namespace coir::bench {

using Exec = Kokkos::DefaultExecutionSpace;

/// Zeros give zeros: see PlainTransforms.
template <mesh::ForceKernel kernel>
void force(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  Exec const exec;
  mesh::Force<Exec, float> force(exec, {n, n, n}, double(n), {.kernel = kernel});
  PlainTransforms<Exec> const plain(exec, n);
  Kokkos::deep_copy(force.spectrum(), Kokkos::complex<float>(0));
  double const cells = double(n) * double(n) * double(n);
  compare_kernels(
      state, exec, {cells, 4 * double(sizeof(float)) * cells}, [&] { force.solve(1); },
      [&] {
        plain.forward();
        for (int back = 1; back < mesh::transforms_of(kernel); ++back) plain.backward();
      });
  state.counters["ns/cell"] = 1e9 * state.counters["seconds"].value / cells;
}

BENCHMARK_TEMPLATE(force, mesh::ForceKernel::one_four)
    ->Name("1_4")
    ->RangeMultiplier(2)
    ->Range(64, 256)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(force, mesh::ForceKernel::naive)
    ->Name("naive")
    ->RangeMultiplier(2)
    ->Range(64, 256)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace coir::bench
