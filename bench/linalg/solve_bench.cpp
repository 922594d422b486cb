// A system of equations a x = b by coir::solve, in turns with a direct call of LAPACK on copies of
// a and b: the counter ours/raw is the ratio. On hosts, where LAPACK is.
//
// Counted are 2/3 n^3 + 2 n^2 operations, and the bytes of a, b and x once.

#include <support/timing.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/random.hpp>
#include <coir/array/reductions.hpp>
#include <coir/linalg/solve.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

extern "C" {
void sgesv_(int const* n, int const* columns, float* a, int const* lda, int* pivots, float* b,
            int const* ldb, int* info);
void dgesv_(int const* n, int const* columns, double* a, int const* lda, int* pivots, double* b,
            int const* ldb, int* info);
}

namespace coir::bench {

namespace {

template <class T>
void solve_one(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  int const side = static_cast<int>(n), one = 1;
  Array<T, 2, Memory> const half = random::uniform<T, Memory>(random::key(1), {n, n});
  // Symmetric: LAPACK, which counts along columns, may see the transpose.
  Array<T, 2, Memory> const a = half + transpose(half) + T(n) * eye<T, Memory>(n);
  Array<T, 1, Memory> const b = random::uniform<T, Memory>(random::key(2), {n});
  Array<T, 1, Memory> x = b, by_lapack = b;
  Array<T, 2, Memory> factors = a;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  double const length = double(n);
  compare_kernels(
      state, Space{}, {length, double(sizeof(T)) * length * (length + 2)},
      [&] { x = coir::solve(a, b); },
      [&] {
        std::copy_n(a.data(), n * n, factors.data());
        std::copy_n(b.data(), n, by_lapack.data());
        int info = 0;
        if constexpr (std::is_same_v<T, float>)
          sgesv_(&side, &one, factors.data(), &side, pivots.data(), by_lapack.data(), &side, &info);
        else
          dgesv_(&side, &one, factors.data(), &side, pivots.data(), by_lapack.data(), &side, &info);
      });
  state.counters["flops"] =
      (length * length * length * 2 / 3 + 2 * length * length) / state.counters["seconds"].value;
  if (max(abs(x - by_lapack)) > T(1e-4)) state.SkipWithError("the answers differ");
}

[[maybe_unused]] bool const added = [] {
  if constexpr (runs_on_host<Space>) {
    auto const add = [](char const* name, void (*run)(benchmark::State&)) {
      auto* const bench = benchmark::RegisterBenchmark(name, run)->UseManualTime();
      for (std::int64_t const n : {3, 32, 300, 1000}) bench->Arg(n);
    };
    add("solve,float", solve_one<float>);
    add("solve,double", solve_one<double>);
  }
  return true;
}();

}  // namespace

}  // namespace coir::bench
