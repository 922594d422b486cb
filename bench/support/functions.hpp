#pragma once

/// Rows of the comparison of functions with other packages. A row is one expression of the arrays
/// below, and bears its text as name: `COIR_ROW(8, sort(x))` is the benchmark "sort(x)".
/// bench/peers/functions.py has the same rows under the same names.

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/random.hpp>
#include <coir/array/sorting.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace coir::bench {

/// The arrays that rows read, each of about n elements, of float unless said.
struct Inputs {
  template <class T>
  using Vector = Array<T, 1, Memory>;
  using Matrix = Array<float, 2, Memory>;

  std::int64_t n;
  std::int64_t side = std::llround(std::floor(std::sqrt(double(n))));
  std::int64_t edge = std::llround(std::floor(std::cbrt(double(n) + 0.5)));
  std::int64_t root = std::llround(std::floor(std::sqrt(std::sqrt(double(n) + 0.5))));
  Vector<float> x = normal<float>(1, Shape<1>{n});
  Vector<float> y = normal<float>(2, Shape<1>{n});
  Vector<float> u = random::uniform<float, Memory>(random::key(13), {n}, 0.01f, 1);
  Vector<float> out = copy(y);  // for rows that write
  Vector<float> sorted = sort(x);
  Vector<double> d = normal<double>(3, Shape<1>{n});
  Vector<std::int64_t> k = random::integers<std::int64_t, Memory>(random::key(4), {n}, 0, 1000);
  Vector<std::int32_t> i = random::integers<std::int32_t, Memory>(random::key(5), {n}, -1000, 1000);
  Vector<std::int64_t> order = random::permutation<Memory>(random::key(6), n);
  Vector<bool> mask = x > 0;
  Vector<Kokkos::complex<float>> z = x + y * Kokkos::complex<float>(0, 1);
  Matrix m = normal<float>(7, Shape<2>{side, side});
  Matrix product = m;  // for products that are written
  Matrix tall = normal<float>(8, Shape<2>{n / 3, 3});
  Matrix wide = normal<float>(9, Shape<2>{3, n / 3});
  Matrix rows = normal<float>(10, Shape<2>{n / 1000, 1000});
  Array<float, 3, Memory> cube = normal<float>(11, Shape<3>{edge, edge, edge});
  Array<float, 4, Memory> four = normal<float>(12, Shape<4>{root, root, root, root});
  Array<double, 2, Memory> spd = positive_definite();

  Array<double, 2, Memory> positive_definite() const {
    auto const a = reshape(d(range(0, side * side)), {side, side});
    return a + transpose(a) + 10 * std::sqrt(double(side)) * eye<double, Memory>(side);
  }

  template <class T, std::size_t Rank>
  static Array<T, int(Rank), Memory> normal(int seed, std::array<std::int64_t, Rank> const& shape) {
    return random::normal<T, Memory>(random::key(std::uint64_t(seed)), shape);
  }
};

/// A row: the bytes per element that its statement must read and write, 0 where they aren't what
/// bounds it, and the statement.
struct FunctionRow {
  char const* name;
  double bytes;
  void (*run)(Inputs& inputs);
  std::int64_t most = 100'000'000;  ///< elements, beyond which it takes too long
};

/// Computes what an expression stands for; other values are there already.
template <class Result>
void compute(Result const& result) {
  if constexpr (Expression<Result>) {
    auto const values = evaluate(result);
    benchmark::DoNotOptimize(&values);
  } else {
    benchmark::DoNotOptimize(&result);
  }
}
template <class First, class Second>
void compute(std::pair<First, Second> const& both) {
  compute(both.first);
  compute(both.second);
}
template <class T, int Rank, class MemorySpace>
void compute(Array<T, Rank, MemorySpace> const& result) {
  benchmark::DoNotOptimize(&result);
}

#define COIR_ROW_UP_TO(MOST, BYTES, ...)                                                           \
  ::coir::bench::FunctionRow {                                                                     \
    #__VA_ARGS__, BYTES,                                                                           \
        [](::coir::bench::Inputs& inputs) {                                                        \
          [[maybe_unused]] auto& [n, side, edge, root, x, y, u, out, sorted, d, k, i, order, mask, \
                                  z, m, product, tall, wide, rows, cube, four, spd] = inputs;      \
          ::coir::bench::compute(__VA_ARGS__);                                                     \
        },                                                                                         \
        MOST                                                                                       \
  }
#define COIR_ROW(BYTES, ...) COIR_ROW_UP_TO(100'000'000, BYTES, __VA_ARGS__)

/// Times a row; rows of one size share their arrays.
inline void time_function(benchmark::State& state, FunctionRow const& row, std::int64_t n) {
  static std::unique_ptr<Inputs> inputs;
  static bool const at_end = (Kokkos::push_finalize_hook([] { inputs.reset(); }), true);
  (void)at_end;
  if (!inputs || inputs->n != n) {
    inputs.reset();
    if (!fits(state, 160 * double(n))) return;
    inputs = std::make_unique<Inputs>(Inputs{n});
  }
  time_batches(state, Space{}, {double(n), row.bytes * double(n), "elements"},
               [&] { row.run(*inputs); });
}

/// Makes benchmarks of rows, of 10^3, 10^5 and 10^7 elements, on devices of 10^8, too.
inline bool add_functions(std::initializer_list<FunctionRow> rows) {
  std::int64_t const largest = runs_on_host<Space> ? 10'000'000 : 100'000'000;
  for (std::int64_t const n : {1'000, 100'000, 10'000'000, 100'000'000})
    for (FunctionRow const& row : rows)
      if (n <= std::min(row.most, largest))
        benchmark::RegisterBenchmark((std::string(row.name) + "/" + std::to_string(n)).c_str(),
                                     [=](benchmark::State& state) { time_function(state, row, n); })
            ->UseManualTime();
  return true;
}

}  // namespace coir::bench
