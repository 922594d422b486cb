// Elementwise statements of split arrays beside the same statements of plain arrays of this rank's
// part: splitting costs no pass over memory and no message.

#include <support/memory.hpp>
#include <support/sizes.hpp>
#include <support/timing.hpp>

#include <coir/array/array.hpp>
#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/distributed/group.hpp>
#include <coir/sharded/functions.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;  // the one of split arrays

template <class T>
Array<T, 2> matrix(std::int64_t n) {
  return evaluate(reshape(linspace<T>(0, 1, n), {n / 1024, 1024}));
}

/// y = 2 x + 1 of two kinds of arrays, and a longer statement.
template <class X>
void time_statements(benchmark::State& state, X const& x, bool is_long) {
  using T = typename X::value_type;
  X y = x;
  double const n = static_cast<double>(x.size()), bytes = 2 * double(sizeof(T)) * n;
  time_batches(state, Exec{}, {n, bytes, "elements"}, [&] {
    if (is_long)
      y = sqrt(x * x + 1) - x / (2 + x);
    else
      y = 2 * x + 1;
  });
}

template <class T>
void local(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  if (!fits(state, 4 * double(sizeof(T)) * double(n))) return;
  time_statements(state, matrix<T>(n), state.range(1) != 0);
}
template <class T>
void split(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  if (!fits(state, 4 * double(sizeof(T)) * double(n))) return;
  // As many arrays as local() has: where an array lies in memory changes its time by some percent.
  sharded::Placement<2> const placement(distributed::Group::self(), {n / 1024, 1024});
  time_statements(state, sharded::Sharded<T, 2>(matrix<T>(n), placement), state.range(1) != 0);
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (std::int64_t const n : {std::int64_t(1) << 16, std::int64_t(1) << 20, std::int64_t(1) << 24})
    for (int const is_long : {0, 1}) bench->Args({n, is_long});
  bench->UseManualTime();
}
BENCHMARK_TEMPLATE(local, float)->Name("local,float")->Apply(sizes);
BENCHMARK_TEMPLATE(split, float)->Name("split,float")->Apply(sizes);
BENCHMARK_TEMPLATE(local, double)->Name("local,double")->Apply(sizes);
BENCHMARK_TEMPLATE(split, double)->Name("split,double")->Apply(sizes);

}  // namespace

}  // namespace coir::bench
