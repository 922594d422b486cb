// Gradients. Of array expressions that end in a reduction: value,NAME is the value alone and
// grad,NAME the value with its gradient with respect to an array of n numbers; sum takes one pass
// over memory, norm takes two, differences of neighbours go by the tape. Of a function of two
// numbers, at n points in one kernel: value,rosenbrock and grad,rosenbrock. Counted are the bytes
// of arguments and results, once.

#include <support/memory.hpp>
#include <support/sizes.hpp>
#include <support/timing.hpp>

#include <coir/array/creation.hpp>
#include <coir/array/functions.hpp>
#include <coir/array/operators.hpp>
#include <coir/array/reductions.hpp>
#include <coir/array/vmap.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/grad.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// Linear in what is reduced: one pass.
struct SumOf {
  template <class X>
  auto operator()(X const& x) const {
    return sum(square(cos(x)) * exp(-x));
  }
};

/// The norm isn't linear in what is reduced: two passes.
struct NormOf {
  template <class X>
  auto operator()(X const& x) const {
    return norm(square(cos(x)) * exp(-x));
  }
};

/// Of slices: by the tape.
struct DifferencesOf {
  template <class X>
  auto operator()(X const& x) const {
    return sum(square(x(range(1, coir::end)) - x(range(0, -1))));
  }
};

/// Calls function(x) in batches; `arrays` is how many arrays like x are read or written.
template <class Function>
void time_of_array(benchmark::State& state, double arrays, Function const& function) {
  std::int64_t const n = state.range(0);
  double const bytes = double(sizeof(double)) * double(n);
  if (!fits(state, 2 * bytes)) return;
  auto const x = linspace<double, Memory>(0, 1, n);
  time_batches(state, Space{}, {double(n), arrays * bytes, "numbers"},
               [&] { benchmark::DoNotOptimize(function(x)); });
}

template <class F>
void value(benchmark::State& state) {
  time_of_array(state, 1, [](auto const& x) { return F{}(x); });
}
BENCHMARK_TEMPLATE(value, SumOf)->Name("value,sum")->Apply(elements);
BENCHMARK_TEMPLATE(value, NormOf)->Name("value,norm")->Apply(elements);
BENCHMARK_TEMPLATE(value, DifferencesOf)->Name("value,differences")->Apply(elements);

template <class F>
void gradient(benchmark::State& state) {
  time_of_array(state, 2, [](auto const& x) { return value_and_grad(F{})(x).value; });
}
BENCHMARK_TEMPLATE(gradient, SumOf)->Name("grad,sum")->Apply(elements);
BENCHMARK_TEMPLATE(gradient, NormOf)->Name("grad,norm")->Apply(elements);
BENCHMARK_TEMPLATE(gradient, DifferencesOf)->Name("grad,differences")->Apply(elements);

struct Rosenbrock {
  template <class X>
  KOKKOS_FUNCTION X operator()(X const& x, X const& y) const {
    X const right = 1 - x, above = y - x * x;
    return right * right + 100 * (above * above);
  }
};

struct Slopes {
  KOKKOS_FUNCTION Kokkos::Array<double, 2> operator()(double x, double y) const {
    auto const [along_x, along_y] = grad(Rosenbrock{})(x, y);
    return {along_x, along_y};
  }
};

/// `numbers` are read and written at each point.
template <class F>
void at_points(benchmark::State& state, double numbers) {
  std::int64_t const n = state.range(0);
  double const bytes = numbers * double(sizeof(double)) * double(n);
  if (!fits(state, bytes)) return;
  auto const x = linspace<double, Memory>(-2, 2, n), y = linspace<double, Memory>(-1, 3, n);
  time_batches(state, Space{}, {double(n), bytes, "points"},
               [&] { auto const z = vmap(F{})(x, y); });
}

void rosenbrock_values(benchmark::State& state) { at_points<Rosenbrock>(state, 3); }
BENCHMARK(rosenbrock_values)->Name("value,rosenbrock")->Apply(elements);

void rosenbrock_slopes(benchmark::State& state) { at_points<Slopes>(state, 4); }
BENCHMARK(rosenbrock_slopes)->Name("grad,rosenbrock")->Apply(elements);

}  // namespace

}  // namespace coir::bench
