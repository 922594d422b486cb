// The Mandelbrot set by statements over whole arrays and by one kernel: n^2 pixels of
// [-2, 1] x [-1.5, 1.5], 256 steps at most, no shortcut for points inside. Peers do the same.

#include <escape/escape_arrays.hpp>
#include <escape/escape_time.hpp>
#include <support/timing.hpp>

#include <coir/core/loops.hpp>

#include <concepts>

namespace coir::bench {

using Counts = Kokkos::View<int**, Kokkos::LayoutRight, Memory>;

template <class T>
apps::escape::Problem<T> problem_of(benchmark::State const& state) {
  int const n = static_cast<int>(state.range(0));
  apps::escape::Problem<T> problem;
  problem.pixels = {n, n, T(-2), T(1.5), T(3) / T(n), T(3) / T(n)};
  return problem;
}

/// Steps z -> z^2 + c that count.
inline std::int64_t steps_of(Counts const& counts) {
  std::int64_t sum = 0;
  reduce(
      "coir::bench::steps", Space{}, box({int(counts.extent(0)), int(counts.extent(1))}),
      KOKKOS_LAMBDA(int i, int j, std::int64_t& value) { value += counts(i, j); },
      Kokkos::Sum<std::int64_t>(sum));
  return sum;
}

template <class Compute>
void time_escape(benchmark::State& state, Counts const& counts, Compute const& compute) {
  double const calls = time_batches(state, Space{}, compute);
  using benchmark::Counter;
  constexpr auto per_batch = Counter::kIsIterationInvariantRate;
  state.counters["pixels/s"] = Counter(calls * double(counts.size()), per_batch);
  state.counters["iterations/s"] = Counter(calls * double(steps_of(counts)), per_batch);
}

template <class T>
void bench_escape_kernel(benchmark::State& state) {
  auto const problem = problem_of<T>(state);
  Counts const counts("counts", problem.pixels.rows, problem.pixels.columns);
  Kokkos::View<T**, Kokkos::LayoutRight, Memory> const no_values;
  time_escape(state, counts,
              [&] { apps::escape::escape_time(Space{}, problem, counts, no_values); });
}

template <class T>
void bench_escape_arrays(benchmark::State& state) {
  auto const problem = problem_of<T>(state);
  Counts const counts("counts", problem.pixels.rows, problem.pixels.columns);
  Array<int, 2, Memory> array(counts.data(), {problem.pixels.rows, problem.pixels.columns},
                              nullptr);
  time_escape(state, counts, [&] {
    apps::escape::escape_time_by_arrays(problem, array, static_cast<Array<T, 2>*>(nullptr));
  });
}

template <std::int64_t largest>
void sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->Arg(64);
  for (std::int64_t side = 256; side <= largest; side *= 2) bench->Arg(side);
}

BENCHMARK_TEMPLATE(bench_escape_kernel, float)->Apply(sizes<8192>);
BENCHMARK_TEMPLATE(bench_escape_kernel, double)->Apply(sizes<8192>);

/// The application's statements are those of the default space.
template <class S = Space>
bool add_arrays() {
  if constexpr (std::same_as<S, Kokkos::DefaultExecutionSpace>) {
    benchmark::RegisterBenchmark("bench_escape_arrays<float>", bench_escape_arrays<float>)
        ->Apply(sizes<2048>);
    benchmark::RegisterBenchmark("bench_escape_arrays<double>", bench_escape_arrays<double>)
        ->Apply(sizes<2048>);
  }
  return true;
}
[[maybe_unused]] bool const arrays_added = add_arrays();

}  // namespace coir::bench
