// Programs that go by the tape: value,NAME is the value alone, grad,NAME the value with its
// gradient, and recorded_value,NAME and recorded_grad,NAME are what record() made of these.
// bench/peers/gradients.py times JAX's programs beside these.

#include <autodiff/programs.hpp>
#include <support/memory.hpp>

#include <coir/autodiff/linalg.hpp>
#include <coir/linalg/matmul.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// 100 explicit steps of diffusion on a periodic square.
struct Diffusion {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(x);
    for (int step = 0; step < 100; ++step)
      u = u + 0.2F * (roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u);
    return sum(square(u));
  }
};

/// The sum over rows of the logarithm of the sum of exp.
struct LogSumExp {
  template <class X>
  auto operator()(X const& x) const {
    auto const largest = evaluate(max(x, 1));
    return sum(log(sum(exp(x - with_axis(largest, 1)), 1)) + largest);
  }
};

/// Mean squared error of two hidden layers.
struct Perceptron {
  Array<float, 2, Memory> const &data, &target;
  template <class W1, class W2, class W3>
  auto operator()(W1 const& w1, W2 const& w2, W3 const& w3) const {
    auto const first = evaluate(tanh(matmul(data, w1)));
    auto const second = evaluate(tanh(matmul(first, w2)));
    return mean(square(matmul(second, w3) - target));
  }
};

/// Calls time(function, arguments...) with a program of a size, unless there is no memory for it.
template <class Time>
void diffusion(benchmark::State& state, Time const& time) {
  std::int64_t const n = state.range(0);
  if (!fits(state, 220. * sizeof(float) * double(n) * double(n))) return;
  time(Diffusion{}, matrix(n, n));
}

template <class Time>
void log_sum_exp(benchmark::State& state, Time const& time) {
  std::int64_t const rows = state.range(0), columns = 100;
  if (!fits(state, 4. * sizeof(float) * double(rows * columns))) return;
  time(LogSumExp{}, matrix(rows, columns));
}

template <class Time>
void perceptron(benchmark::State& state, Time const& time) {
  std::int64_t const batch = state.range(0);
  if (!fits(state, 16. * sizeof(float) * double(batch * 784))) return;
  auto const data = matrix(batch, 784), target = matrix(batch, 10);
  time(Perceptron{data, target}, matrix(784, 512, 0.05), matrix(512, 512, 0.05),
       matrix(512, 10, 0.05));
}

bool const added = add_program("diffusion", {64, 1024},
                               [](auto& state, auto const& time) { diffusion(state, time); }) &&
                   add_program("log_sum_exp", {1000, 100000},
                               [](auto& state, auto const& time) { log_sum_exp(state, time); }) &&
                   add_program("perceptron", {32, 1024},
                               [](auto& state, auto const& time) { perceptron(state, time); });

}  // namespace

}  // namespace coir::bench
