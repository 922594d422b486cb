// The table of the GPU courses: array statements as one would write them in NumPy, one kernel each.
//
// bench/peers/table.py runs the same rows in NumPy, Numba, JAX, CuPy and PyTorch.

#include <support/memory.hpp>
#include <support/sizes.hpp>
#include <support/timing.hpp>

#include <coir/array/all.hpp>
#include <coir/array/random.hpp>
#include <coir/poisson/jacobi.hpp>

#include <vector>

namespace coir::bench {

template <class Statement>
void time_statement(benchmark::State& state, Work work, Statement const& statement) {
  time_batches(state, Space{}, work, statement);
}

/// The sizes of the table, and those for plots of time over size.
template <std::int64_t... OfTable>
void sizes(benchmark::internal::Benchmark* bench) {
  (bench->Arg(OfTable), ...);
  elements(bench);
}

/// Pictures: those of the table, and squares for plots.
void pictures(benchmark::internal::Benchmark* bench) {
  bench->Args({400, 266})->UseManualTime();
  for (std::int64_t side = 16; side <= 8192; side *= 2) bench->Args({side, side});
}

void add_number(benchmark::State& state) {
  auto const n = state.range(0);
  auto x = zeros<float, Memory>(n);
  time_statement(state, {double(n), 8.0 * n}, [&] { x += 3; });
}
BENCHMARK(add_number)->Name("x+=3")->Apply(sizes<256, 1'000'000, 100'000'000>);

void time_cosine_and_sine(benchmark::State& state, Array<float, 1, Memory> const& x) {
  auto const n = static_cast<double>(x.size());
  auto y = zeros_like(x);
  time_statement(state, {n, 8 * n}, [&] { y = square(cos(x)) + square(sin(x)); });
}

void cosine_and_sine_to_100(benchmark::State& state) {
  time_cosine_and_sine(state, linspace<float, Memory>(0, 100, state.range(0)));
}
BENCHMARK(cosine_and_sine_to_100)->Name("cos2+sin2,0..100")->Apply(sizes<256, 10'000'000>);

// 0, 1, 2, ... as in the courses: nearly all numbers are beyond 1e4, where most libraries reduce
// them one by one.
void cosine_and_sine_of_arange(benchmark::State& state) {
  time_cosine_and_sine(state, arange<float, Memory>(static_cast<float>(state.range(0))));
}
BENCHMARK(cosine_and_sine_of_arange)->Name("cos2+sin2,arange")->Apply(sizes<256, 10'000'000>);

// A new array each time, as in NumPy.
void add_arrays(benchmark::State& state) {
  auto const n = state.range(0);
  auto const a = linspace<float, Memory>(0, 1, n), b = linspace<float, Memory>(1, 2, n);
  time_statement(state, {double(n), 12.0 * n}, [&] { Array<float, 1, Memory> const c = a + b; });
}
BENCHMARK(add_arrays)->Name("a+b")->Apply(sizes<100'000'000>);

void add_arrays_in_place(benchmark::State& state) {
  auto const n = state.range(0);
  auto const a = linspace<float, Memory>(0, 1, n), b = linspace<float, Memory>(1, 2, n);
  auto c = zeros<float, Memory>(n);
  time_statement(state, {double(n), 12.0 * n}, [&] { c = a + b; });
}
BENCHMARK(add_arrays_in_place)->Name("a+b,preallocated")->Apply(sizes<100'000'000>);

void selu(benchmark::State& state) {
  auto const n = state.range(0);
  auto const x = linspace<float, Memory>(-3, 3, n);
  auto y = zeros<float, Memory>(n);
  time_statement(state, {double(n), 8.0 * n},
                 [&] { y = 1.05 * where(x > 0, x, 1.67 * exp(x) - 1.67); });
}
BENCHMARK(selu)->Name("selu")->Apply(sizes<256, 1'000'000>);

void chain(benchmark::State& state) {
  auto const n = state.range(0);
  if (!fits(state, 40.0 * double(n))) return;
  auto const a = linspace<double, Memory>(0, 1, n), b = linspace<double, Memory>(1, 2, n),
             c = linspace<double, Memory>(2, 3, n), d = linspace<double, Memory>(3, 4, n);
  auto y = zeros<double, Memory>(n);
  time_statement(state, {double(n), 40.0 * n}, [&] { y = ((a * b + c) * 0.5 - d) * a; });
}
BENCHMARK(chain)->Name("chain")->Apply(sizes<256, 10'000'000>);

/// Times function(x) of n numbers.
template <class Function>
void time_reduction(benchmark::State& state, Function const& function) {
  auto const n = state.range(0);
  auto const x = linspace<float, Memory>(0, 1, n);
  time_statement(state, {double(n), 4.0 * n}, [&] { function(x); });
}

void sum_all(benchmark::State& state) {
  time_reduction(state, [](auto const& x) { benchmark::DoNotOptimize(sum(x)); });
}
BENCHMARK(sum_all)->Name("sum")->Apply(sizes<256, 100'000'000>);

void max_all(benchmark::State& state) {
  time_reduction(state, [](auto const& x) { benchmark::DoNotOptimize(max(x)); });
}
BENCHMARK(max_all)->Name("max")->Apply(sizes<256, 100'000'000>);

void any_of_all(benchmark::State& state) {
  time_reduction(state, [](auto const& x) { benchmark::DoNotOptimize(any(x > 2)); });
}
BENCHMARK(any_of_all)->Name("any")->Apply(sizes<256, 100'000'000>);

// The same into arrays of rank 0, for which a device's host doesn't wait.

void sum_to_array(benchmark::State& state) {
  time_reduction(state, [](auto const& x) { auto const s = sum(x, 0); });
}
BENCHMARK(sum_to_array)->Name("sum,array")->Apply(sizes<256, 100'000'000>);

void max_to_array(benchmark::State& state) {
  time_reduction(state, [](auto const& x) { auto const s = max(x, 0); });
}
BENCHMARK(max_to_array)->Name("max,array")->Apply(sizes<256, 100'000'000>);

void any_to_array(benchmark::State& state) {
  time_reduction(state, [](auto const& x) { auto const s = any(x > 2, 0); });
}
BENCHMARK(any_to_array)->Name("any,array")->Apply(sizes<256, 100'000'000>);

void normal_numbers(benchmark::State& state) {
  auto const n = state.range(0);
  auto const key = random::key(1);
  auto x = zeros<float, Memory>(n);
  time_statement(state, {double(n), 4.0 * n}, [&] { random::fill_normal(key, x); });
}
BENCHMARK(normal_numbers)->Name("normal")->Apply(sizes<256, 10'000'000>);

void jacobi_sweep(Array<float, 2, Memory> const& b, Array<float, 2, Memory> const& u,
                  Array<float, 2, Memory>& v) {
  auto const in = range(1, -1), before = range(0, -2), after = range(2, end);
  v(in, in) = 0.25 * (u(before, in) + u(after, in) + u(in, before) + u(in, after) - b);
}

// The Jacobi sweep as one statement over slices, against the kernel written for it.
void jacobi_statement(benchmark::State& state) {
  auto const m = state.range(0), n = state.range(1);
  double const cells = double(m) * double(n);
  auto const b = ones<float, Memory>(m, n);
  auto u = zeros<float, Memory>(m + 2, n + 2), v = zeros<float, Memory>(m + 2, n + 2);
  time_statement(state, {cells, 12 * cells}, [&] {
    jacobi_sweep(b, u, v);
    u.swap(v);
  });
}
BENCHMARK(jacobi_statement)->Name("jacobi,statement")->Apply(pictures);

// The same, recorded: there and back by two statements, as a sweep that is repeated is written.
void jacobi_recorded(benchmark::State& state) {
  auto const m = state.range(0), n = state.range(1);
  double const cells = double(m) * double(n);
  auto const b = ones<float, Memory>(m, n);
  auto u = zeros<float, Memory>(m + 2, n + 2), v = zeros<float, Memory>(m + 2, n + 2);
  auto const sweeps = record<Memory>([&] {
    jacobi_sweep(b, u, v);
    jacobi_sweep(b, v, u);
  });
  std::int64_t const pairs = std::clamp<std::int64_t>(std::int64_t(1e9 / cells), 15, 10000);
  double const done = 2 * cells * double(pairs);
  time_kernel(state, Space{}, {done, 12 * done}, [&] { sweeps.run(pairs); }, [] {});
  state.counters["seconds"] = state.counters["seconds"].value / double(2 * pairs);
}
BENCHMARK(jacobi_recorded)->Name("jacobi,recorded")->Apply(pictures);

void jacobi_kernel(benchmark::State& state) {
  auto const m = state.range(0), n = state.range(1);
  double const cells = double(m) * double(n);
  // So many that the second field, which the solver allocates first, doesn't show.
  double const updates = runs_on_host<Space> ? 2e9 : 4e10;
  std::int64_t const sweeps = std::clamp<std::int64_t>(std::int64_t(updates / cells), 30, 20000);
  auto b = ones<float, Memory>(m, n);
  auto u = zeros<float, Memory>(m + 2, n + 2);
  Space const exec;
  poisson::JacobiOptions const options{.scheme = poisson::JacobiScheme::plain, .sweeps = sweeps};
  double const done = cells * double(sweeps);
  time_kernel(
      state, exec, {done, 12 * done}, [&] { poisson::jacobi(exec, b.view(), u.view(), options); },
      [] {});
  state.counters["seconds"] = state.counters["seconds"].value / double(sweeps);
}
BENCHMARK(jacobi_kernel)->Name("jacobi,kernel")->Apply(pictures);

}  // namespace coir::bench
