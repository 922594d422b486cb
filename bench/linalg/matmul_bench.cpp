// Products of matrices, against direct calls of BLAS where there is one for the same.
//
// bench/peers/table.py runs the same rows in NumPy, JAX and CuPy.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/linalg/matmul.hpp>

#include <KokkosKernels_config.h>

#include <cstdint>
#include <type_traits>

#ifdef KOKKOSKERNELS_ENABLE_TPL_BLAS
extern "C" void sgemm_(char const* operation_a, char const* operation_b, int const* m, int const* n,
                       int const* k, float const* alpha, float const* a, int const* lda,
                       float const* b, int const* ldb, float const* beta, float* c, int const* ldc);
extern "C" void dgemm_(char const* operation_a, char const* operation_b, int const* m, int const* n,
                       int const* k, double const* alpha, double const* a, int const* lda,
                       double const* b, int const* ldb, double const* beta, double* c,
                       int const* ldc);
#endif

namespace coir::bench {

/// Elements between -1 and 1.
template <class T>
Array<T, 2, Memory> some_matrix(std::int64_t rows, std::int64_t columns) {
  return reshape(sin(linspace<T, Memory>(0, 1000, rows * columns)), Shape<2>{rows, columns});
}

/// Times products that make so many multiplications and additions each.
template <class Product>
void time_product(benchmark::State& state, Work work, double flops, Product const& product) {
  Space const exec;
  int const calls = time_batches(state, exec, product);
  report_rates(state, exec, {work.items * calls, work.bytes * calls});
  state.counters["flops"] =
      benchmark::Counter(flops * calls, benchmark::Counter::kIsIterationInvariantRate);
}

#ifdef KOKKOSKERNELS_ENABLE_TPL_BLAS
/// c = a b by BLAS, which counts rows along columns: c^T = b^T a^T.
template <class T>
void by_blas(int n, T const* a, T const* b, T* c) {
  T const one = 1, zero = 0;
  if constexpr (std::is_same_v<T, float>)
    sgemm_("N", "N", &n, &n, &n, &one, b, &n, a, &n, &zero, c, &n);
  else
    dgemm_("N", "N", &n, &n, &n, &one, b, &n, a, &n, &zero, c, &n);
}
#endif

template <class T>
void square(benchmark::State& state) {
  auto const n = state.range(0);
  double const cells = double(n) * double(n), flops = 2 * cells * double(n);
  Work const work{cells, 3 * double(sizeof(T)) * cells};
  if (!fits(state, 2 * work.bytes)) return;  // making them takes as much again
  auto const a = some_matrix<T>(n, n), b = some_matrix<T>(n, n);
  Array<T, 2, Memory> c(Shape<2>{n, n});
#ifdef KOKKOSKERNELS_ENABLE_TPL_BLAS
  if constexpr (runs_on_host<Space>) {
    compare_kernels(
        state, Space{}, work, [&] { matmul_into(c, a, b); },
        [&] { by_blas(static_cast<int>(n), a.data(), b.data(), c.data()); });
    state.counters["flops"] = flops / state.counters["seconds"];
    return;
  }
#endif
  time_product(state, work, flops, [&] { matmul_into(c, a, b); });
}
void square_sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Arg(32)->Arg(100)->Arg(1000);
  for (std::int64_t n = 64; n <= 4096; n *= 2) bench->Arg(n);
}
BENCHMARK_TEMPLATE(square, float)->Name("matmul,float")->Apply(square_sizes);
BENCHMARK_TEMPLATE(square, double)->Name("matmul,double")->Apply(square_sizes);

/// A new array each time, as in NumPy.
void new_square(benchmark::State& state) {
  auto const n = state.range(0);
  double const cells = double(n) * double(n);
  auto const a = some_matrix<double>(n, n), b = some_matrix<double>(n, n);
  time_product(state, {cells, 24 * cells}, 2 * cells * double(n),
               [&] { auto const c = matmul(a, b); });
}
BENCHMARK(new_square)->Name("matmul,double,new")->Arg(32)->Arg(1000)->UseManualTime();

void by_own_transpose(benchmark::State& state) {
  auto const n = state.range(0);
  double const cells = double(n) * double(n);
  auto const x = some_matrix<float>(n, n);
  time_product(state, {cells, 8 * cells}, cells * double(n),
               [&] { auto const c = matmul(x, transpose(x)); });
}
BENCHMARK(by_own_transpose)->Name("x xT,float")->Arg(32)->Arg(3000)->UseManualTime();

/// A matrix of 150 x 100 by vectors of 100.
void many_vectors(benchmark::State& state) {
  auto const vectors = state.range(0);
  auto const w = some_matrix<float>(150, 100), x = some_matrix<float>(vectors, 100);
  double const cells = double(vectors) * 150;
  time_product(state, {cells, 4 * (cells + 100. * double(vectors))}, 2 * cells * 100,
               [&] { auto const y = matvec(w, x); });
}
BENCHMARK(many_vectors)->Name("matvec,float")->Arg(10)->Arg(100'000)->UseManualTime();

/// 10'000 small products.
void stack(benchmark::State& state) {
  auto const n = state.range(0), count = std::int64_t(10'000);
  auto const a = reshape(some_matrix<double>(count, n * n), Shape<3>{count, n, n});
  double const cells = double(count) * double(n) * double(n);
  time_product(state, {cells, 24 * cells}, 2 * cells * double(n),
               [&] { auto const c = matmul(a, a); });
}
BENCHMARK(stack)->Name("matmul,stack")->Arg(4)->Arg(16)->Arg(64)->UseManualTime();

}  // namespace coir::bench
