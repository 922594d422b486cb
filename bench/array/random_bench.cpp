// Random numbers into an array that is there. Counted are the bytes written; what bounds them on
// hosts is arithmetic.

#include <support/memory.hpp>
#include <support/sizes.hpp>
#include <support/timing.hpp>

#include <coir/array/random.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

template <class T, class Fill>
void fill(benchmark::State& state, Fill const& fill_array) {
  std::int64_t const n = state.range(0);
  double const bytes = double(sizeof(T)) * double(n);
  if (!fits(state, bytes)) return;
  Array<T, 1, Memory> x(Shape<1>{n});
  auto const key = random::key(1);
  time_batches(state, Space{}, {double(n), bytes, "numbers"}, [&] { fill_array(key, x); });
}

template <class T>
void uniform(benchmark::State& state) {
  fill<T>(state, [](auto const& key, auto& x) { random::fill_uniform(key, x); });
}
BENCHMARK_TEMPLATE(uniform, float)->Name("uniform,float")->Apply(elements);
BENCHMARK_TEMPLATE(uniform, double)->Name("uniform,double")->Apply(elements);

template <class T>
void normal(benchmark::State& state) {
  fill<T>(state, [](auto const& key, auto& x) { random::fill_normal(key, x); });
}
BENCHMARK_TEMPLATE(normal, float)->Name("normal,float")->Apply(elements);
BENCHMARK_TEMPLATE(normal, double)->Name("normal,double")->Apply(elements);

void integers(benchmark::State& state) {
  fill<std::int64_t>(state,
                     [](auto const& key, auto& x) { random::fill_integers(key, x, 0, 1'000'000); });
}
BENCHMARK(integers)->Name("integers,int64")->Apply(elements);

}  // namespace

}  // namespace coir::bench
