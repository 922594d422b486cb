#pragma once

/// What benchmarks of gradients of programs share: their arrays, and how values and gradients are
/// timed.

#include <support/timing.hpp>

#include <coir/array/all.hpp>
#include <coir/autodiff/array_grad.hpp>

#include <cstdint>

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

}  // namespace coir::bench
