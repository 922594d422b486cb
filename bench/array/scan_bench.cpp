// Cumulative sums of a vector, and of a matrix with rows of 1024 along either axis.
//
// Counted are the bytes read and written, once.

#include <support/memory.hpp>
#include <support/sizes.hpp>
#include <support/timing.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/scan.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

template <class T>
void vector(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  double const bytes = 2 * double(sizeof(T)) * double(n);
  if (!fits(state, 2 * bytes)) return;
  auto const x = linspace<T, Memory>(0, 1, n);
  time_batches(state, Space{}, {double(n), bytes, "elements"}, [&] { auto const y = cumsum(x); });
}
BENCHMARK_TEMPLATE(vector, float)->Name("cumsum,float")->Apply(elements);
BENCHMARK_TEMPLATE(vector, double)->Name("cumsum,double")->Apply(elements);

template <int Axis>
void matrix(benchmark::State& state) {
  std::int64_t const n = state.range(0), columns = 1024;
  double const bytes = 2 * double(sizeof(float)) * double(n);
  if (!fits(state, 2 * bytes)) return;
  auto const x = ones<float, Memory>(n / columns, columns);
  time_batches(state, Space{}, {double(n), bytes, "elements"},
               [&] { auto const y = cumsum(x, Axis); });
}
BENCHMARK_TEMPLATE(matrix, 0)->Name("cumsum,axis0,float")->Apply(elements);
BENCHMARK_TEMPLATE(matrix, 1)->Name("cumsum,axis1,float")->Apply(elements);

}  // namespace

}  // namespace coir::bench
