// Conjugate gradients from zero to a small residual, 1e-4 in float and 1e-8 in double, in turns
// with multigrid: the counter ours/raw is the time over multigrid's. Both make what they hold, the
// matrix or the coarse grids, in each call.
//
// And what an iteration consists of: the product with the matrix of Kokkos Kernels, in turns with
// the stencil.

#include "problem.hpp"

#include <support/memory.hpp>

#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid.hpp>

#include <type_traits>

#if __has_include(<KokkosSparse_CrsMatrix.hpp>)

#include "laplacian_matrix.hpp"

namespace coir::bench {

namespace {

template <class T, poisson::Preconditioner preconditioner>
void solve(benchmark::State& state) {
  Space const exec;
  auto const m = state.range(0), n = state.range(1);
  double const cells = double(m) * double(n), real = sizeof(T);
  // A matrix, four fields, coarse grids, and the problem.
  if (!fits(state, (5 * (real + 4) + 8 + 8 * real) * cells)) return;
  Problem<T> const problem(exec, state);
  double const tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-8;
  poisson::Result by_cg, by_multigrid;
  compare_kernels(
      state, exec, problem.work_of(1),
      [&] {
        fill(exec, problem.unknown, T(0));
        by_cg = poisson::conjugate_gradients(
            exec, problem.source, problem.unknown,
            {.max_iterations = 100'000, .tolerance = tolerance, .preconditioner = preconditioner});
      },
      [&] {
        fill(exec, problem.unknown, T(0));
        by_multigrid =
            poisson::multigrid(exec, problem.source, problem.unknown, {.tolerance = tolerance});
      });
  if (!by_cg.converged || !by_multigrid.converged) state.SkipWithError("it doesn't converge");
  state.counters["iterations"] = double(by_cg.iterations);
  state.counters["cycles"] = double(by_multigrid.iterations);
}

void small_and_large(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  bench->Args({64, 64})->Args({400, 266})->Args({1500, 1500});
}
constexpr auto none = poisson::Preconditioner::none, multigrid = poisson::Preconditioner::multigrid;
BENCHMARK_TEMPLATE(solve, float, multigrid)->Name("cg,multigrid,float")->Apply(small_and_large);
BENCHMARK_TEMPLATE(solve, double, multigrid)->Name("cg,multigrid,double")->Apply(small_and_large);
BENCHMARK_TEMPLATE(solve, float, none)->Name("cg,float")->Apply(small_and_large);
BENCHMARK_TEMPLATE(solve, double, none)->Name("cg,double")->Apply(small_and_large);

/// L u by the stencil and by the matrix. Rates count what the stencil reads and writes; what the
/// matrix's product reads and writes per second, as a share of copying, is the counter
/// matrix_share.
template <class T>
void product(benchmark::State& state) {
  Space const exec;
  auto const m = state.range(0), n = state.range(1);
  double const cells = double(m) * double(n);
  // Values and columns of five entries a cell, and the offset of its row.
  double const held = double(5 * (sizeof(T) + sizeof(int)) + sizeof(std::int64_t)) * cells;
  double const bytes = 2 * double(sizeof(T)) * cells;
  if (!fits(state, held + 2 * bytes)) return;
  Problem<T> const problem(exec, state);
  auto const matrix = poisson::detail::laplacian_matrix<Space, T>(exec, static_cast<std::size_t>(m),
                                                                  static_cast<std::size_t>(n));
  using Vector = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::Device<Space, Memory>>;
  Vector const x("x", problem.source.size()), y("y", problem.source.size());
  compare_kernels(
      state, exec, {cells, bytes},
      [&] { poisson::laplacian(exec, problem.unknown, problem.source); },
      [&] { poisson::detail::multiply(exec, matrix, x, y); });
  double const by_matrix = state.counters["seconds"].value / state.counters["ours/raw"].value;
  state.counters["matrix_share"] = (held + bytes) / by_matrix / limits_of(exec).copy_bandwidth;
}
BENCHMARK_TEMPLATE(product, float)->Name("stencil,matrix,float")->Apply(sizes);
BENCHMARK_TEMPLATE(product, double)->Name("stencil,matrix,double")->Apply(sizes);

}  // namespace

}  // namespace coir::bench

#endif
