#pragma once

/// What benchmarks of gradients of programs share: their arrays, and how values and gradients are
/// timed. value,NAME is the value alone and grad,NAME the value with its gradient, statement by
/// statement; recorded_value,NAME and recorded_grad,NAME are what record() made of these.
/// bench/peers/gradients.py times JAX's programs beside them. Each program has a file of its own
/// below programs/, so that they are compiled beside each other.

#include <support/timing.hpp>

#include <coir/array/all.hpp>
#include <coir/array/record.hpp>
#include <coir/autodiff/array_grad.hpp>
#include <coir/autodiff/value_and_grad_into.hpp>
#include <coir/core/errors.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>

namespace coir::bench {

/// Elements between -scale and scale, as in bench/peers/gradients.py.
inline Array<float, 2, Memory> matrix(std::int64_t rows, std::int64_t columns, double scale = 1) {
  Array<float, 2, Memory> result(Shape<2>{rows, columns});
  result = cast<float>(
      scale * reshape(sin(linspace<double, Memory>(0, 1000, rows * columns)), {rows, columns}));
  return result;
}

/// Calls function(arguments...) in batches, or its value_and_grad.
template <bool Gradient, class F, class... X>
void time_program(benchmark::State& state, double cells, F const& function, X const&... arguments) {
  time_batches(state, Space{}, {cells, sizeof(float) * cells, "numbers"}, [&] {
    if constexpr (Gradient)
      benchmark::DoNotOptimize(value_and_grad(function)(arguments...).value);
    else
      benchmark::DoNotOptimize(static_cast<float>(function(arguments...)));
  });
}

/// Runs what record() recorded of function(arguments...), or of its value_and_grad, and waits after
/// each run. What record() refuses is skipped.
template <bool Gradient, class F, class... X>
void time_recorded(benchmark::State& state, double cells, F const& function,
                   X const&... arguments) {
  Array<float, 0, Memory> value(Shape<0>{});
  std::tuple slopes{copy(arguments)...};
  auto const recorded = [&]() -> std::optional<Recorded<Memory>> {
    try {
      return record<Memory>([&] {
        if constexpr (Gradient)
          std::apply(
              [&](auto&... slope) {
                value_and_grad_into(function)(value, std::tie(slope...), arguments...);
              },
              slopes);
        else
          value_into(function)(value, arguments...);
      });
    } catch (PreconditionError const& error) {
      state.SkipWithError(error.what());
      return std::nullopt;
    }
  }();
  if (!recorded) return;
  time_batches(state, Space{}, {cells, sizeof(float) * cells, "numbers"}, [&] { recorded->run(); });
}

/// Makes the benchmarks value,NAME/n, grad,NAME/n, recorded_value,NAME/n and recorded_grad,NAME/n.
///
/// \param program  called with the benchmark's state, n and `time`: time(function, arguments...)
///   measures that call
template <class Program>
bool add_program(std::string const& name, std::initializer_list<std::int64_t> sizes,
                 Program const& program) {
  auto const add = [&](std::string const& what, auto const& time) {
    auto* const row =
        benchmark::RegisterBenchmark((what + "," + name).c_str(), [=](benchmark::State& state) {
          program(state, state.range(0), [&](auto const& f, auto const&... x) {
            time(state, double((x.size() + ...)), f, x...);
          });
        });
    row->UseManualTime();
    for (std::int64_t const n : sizes) row->Arg(n);
  };
  add("value", [](auto&&... of) { time_program<false>(of...); });
  add("grad", [](auto&&... of) { time_program<true>(of...); });
  add("recorded_value", [](auto&&... of) { time_recorded<false>(of...); });
  add("recorded_grad", [](auto&&... of) { time_recorded<true>(of...); });
  return true;
}

}  // namespace coir::bench
