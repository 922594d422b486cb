// A function of a row mapped over the rows of a matrix, by vmap and as a statement along an axis:
// the norms of n / 32 vectors of 32 numbers, and those of the columns of the transposed matrix. And
// one of two numbers, mapped over two vectors of n, and by a vmap of a vmap over all pairs of 32
// and n / 32 numbers. Counted are the bytes read and written, once.

#include <support/memory.hpp>
#include <support/sizes.hpp>
#include <support/timing.hpp>

#include <coir/array/axis_reductions.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/vmap.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

constexpr std::int64_t columns = 32;

struct Norm {
  KOKKOS_FUNCTION float operator()(Row<float> const& x) const { return norm(x); }
};

struct Hypotenuse {
  KOKKOS_FUNCTION float operator()(float x, float y) const { return math::sqrt(x * x + y * y); }
};

Array<float, 2, Memory> rows_of(std::int64_t n) {
  return reshape(linspace<float, Memory>(0, 1, n), Shape<2>{n / columns, columns});
}

Work work_of_rows(std::int64_t n) {
  return {double(n / columns), double(sizeof(float)) * double(n + n / columns), "rows"};
}

void norms(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  if (!fits(state, 3 * work_of_rows(n).bytes)) return;
  auto const x = rows_of(n);
  time_batches(state, Space{}, work_of_rows(n), [&] { auto const y = vmap(Norm{})(x); });
}
BENCHMARK(norms)->Name("vmap,norm")->Apply(elements);

void norms_of_columns(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  if (!fits(state, 3 * work_of_rows(n).bytes)) return;
  Array<float, 2, Memory> const x = transpose(rows_of(n));
  time_batches(state, Space{}, work_of_rows(n),
               [&] { auto const y = vmap(Norm{}, in_axes(1))(x); });
}
BENCHMARK(norms_of_columns)->Name("vmap,norm,columns")->Apply(elements);

void norms_along_axis(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  if (!fits(state, 3 * work_of_rows(n).bytes)) return;
  auto const x = rows_of(n);
  time_batches(state, Space{}, work_of_rows(n),
               [&] { Array<float, 1, Memory> const y = sqrt(sum(square(x), 1)); });
}
BENCHMARK(norms_along_axis)->Name("axis,norm")->Apply(elements);

void hypotenuses(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  double const bytes = 3 * double(sizeof(float)) * double(n);
  if (!fits(state, bytes)) return;
  auto const x = linspace<float, Memory>(0, 1, n), y = linspace<float, Memory>(1, 2, n);
  time_batches(state, Space{}, {double(n), bytes, "numbers"},
               [&] { auto const z = vmap(Hypotenuse{})(x, y); });
}
BENCHMARK(hypotenuses)->Name("vmap,hypot")->Apply(elements);

void hypotenuses_of_pairs(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  double const bytes = double(sizeof(float)) * double(n + n / columns + columns);
  if (!fits(state, 2 * bytes)) return;
  auto const x = linspace<float, Memory>(0, 1, n / columns);
  auto const y = linspace<float, Memory>(1, 2, columns);
  time_batches(state, Space{}, {double(n), bytes, "numbers"}, [&] {
    auto const z = vmap(vmap(Hypotenuse{}, in_axes(unmapped, 0)), in_axes(0, unmapped))(x, y);
  });
}
BENCHMARK(hypotenuses_of_pairs)->Name("vmap,vmap,hypot")->Apply(elements);

}  // namespace

}  // namespace coir::bench
