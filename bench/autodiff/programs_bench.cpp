// Programs that go by the tape: value,NAME is the value alone, grad,NAME the value with its
// gradient, and recorded,NAME a recorded one. bench/peers/gradients.py times JAX's programs beside
// these.

#include <autodiff/programs.hpp>
#include <support/memory.hpp>

#include <coir/array/record.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/autodiff/value_and_grad_into.hpp>
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

template <bool Gradient>
void diffusion(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  if (!fits(state, 220. * sizeof(float) * double(n) * double(n))) return;
  time_program<Gradient>(state, double(n * n), Diffusion{}, matrix(n, n));
}

void recorded_diffusion(benchmark::State& state) {
  std::int64_t const n = state.range(0);
  if (!fits(state, 220. * sizeof(float) * double(n) * double(n))) return;
  auto const x = matrix(n, n);
  auto slope = matrix(n, n);
  Array<float, 0, Memory> value(Shape<0>{});
  auto const step = record<Memory>([&] { value_and_grad_into(Diffusion{})(value, slope, x); });
  double const cells = double(n * n);
  time_batches(state, Space{}, {cells, sizeof(float) * cells, "numbers"}, [&] { step.run(); });
}

template <bool Gradient>
void log_sum_exp(benchmark::State& state) {
  std::int64_t const rows = state.range(0), columns = 100;
  if (!fits(state, 4. * sizeof(float) * double(rows * columns))) return;
  time_program<Gradient>(state, double(rows * columns), LogSumExp{}, matrix(rows, columns));
}

template <bool Gradient>
void perceptron(benchmark::State& state) {
  std::int64_t const batch = state.range(0);
  if (!fits(state, 16. * sizeof(float) * double(batch * 784))) return;
  auto const data = matrix(batch, 784), target = matrix(batch, 10);
  time_program<Gradient>(state, double(batch * 784), Perceptron{data, target},
                         matrix(784, 512, 0.05), matrix(512, 512, 0.05), matrix(512, 10, 0.05));
}

BENCHMARK(diffusion<false>)->Name("value,diffusion")->UseManualTime()->Arg(64)->Arg(1024);
BENCHMARK(diffusion<true>)->Name("grad,diffusion")->UseManualTime()->Arg(64)->Arg(1024);
BENCHMARK(recorded_diffusion)->Name("recorded,diffusion")->UseManualTime()->Arg(64)->Arg(1024);
BENCHMARK(log_sum_exp<false>)->Name("value,log_sum_exp")->UseManualTime()->Arg(1000)->Arg(100000);
BENCHMARK(log_sum_exp<true>)->Name("grad,log_sum_exp")->UseManualTime()->Arg(1000)->Arg(100000);
BENCHMARK(perceptron<false>)->Name("value,perceptron")->UseManualTime()->Arg(32)->Arg(1024);
BENCHMARK(perceptron<true>)->Name("grad,perceptron")->UseManualTime()->Arg(32)->Arg(1024);

}  // namespace

}  // namespace coir::bench
