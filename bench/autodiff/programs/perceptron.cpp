#include <autodiff/programs.hpp>
#include <support/memory.hpp>

#include <coir/autodiff/linalg.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

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

bool const perceptron_added =
    add_program("perceptron", {32, 1024}, [](auto& state, std::int64_t n, auto const& time) {
      if (!fits(state, 16. * sizeof(float) * double(n * 784))) return;
      auto const data = matrix(n, 784), target = matrix(n, 10);
      time(Perceptron{data, target}, matrix(784, 512, 0.05), matrix(512, 512, 0.05),
           matrix(512, 10, 0.05));
    });

}  // namespace

}  // namespace coir::bench
