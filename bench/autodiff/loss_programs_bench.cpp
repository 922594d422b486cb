// Six losses: value,program/k is the value alone,
// grad,program/k the value with its gradient, and recorded_value,program/k and
// recorded_grad,program/k are what record() made of these. bench/peers/gradients.py --twelve times
// JAX's programs beside these.

#include <autodiff/programs.hpp>
#include <autodiff/slopes.hpp>

#include <coir/autodiff/decompositions.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/autodiff/solve.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

/// The energy of soft spins with neighbours along both axes, and a field.
struct Ising {
  template <class X>
  auto operator()(X const& x) const {
    auto const s = evaluate(tanh(x));
    return -sum(s * (roll(s, 1, 0) + roll(s, 1, 1))) - 0.1F * sum(s);
  }
};

/// The mean squared distance of points to the nearest of 16 centres.
struct KMeans {
  Array<float, 2, Memory> const& points;
  template <class C>
  auto operator()(C const& centres) const {
    auto const products = matmul(points, transpose(centres));
    auto const squared = evaluate(sum(square(centres), 1));
    return mean(min(squared - 2 * products, 1) + sum(square(points), 1));
  }
};

/// The likelihood of a Gaussian process, as a function of where it was seen.
struct GaussianProcess {
  template <class X>
  auto operator()(X const& x) const {
    auto const at = ravel(x);
    std::int64_t const n = at.shape()[0];
    auto const seen = evaluate(sin(3 * at));
    auto const covariance =
        evaluate(exp(-2 * square(at(range(), newaxis) - at)) + 0.1F * eye<float, Memory>(n));
    auto const factor = cholesky(covariance);
    return 0.5F * sum(seen * solve(covariance, seen)) + sum(log(diagonal(factor)));
  }
};

/// One head of attention.
struct Attention {
  Array<float, 2, Memory> const& tokens;
  template <class Q, class K, class V>
  auto operator()(Q const& wq, K const& wk, V const& wv) const {
    auto const scores =
        evaluate(matmul(matmul(tokens, wq), transpose(matmul(tokens, wk))) * 0.125F);
    auto const weights = evaluate(exp(scores - with_axis(max(scores, 1), 1)));
    auto const shares = evaluate(weights / with_axis(sum(weights, 1), 1));
    return mean(square(matmul(shares, matmul(tokens, wv))));
  }
};

/// Smoothed total variation with a misfit.
struct TotalVariation {
  Array<float, 2, Memory> const& image;
  template <class X>
  auto operator()(X const& u) const {
    auto const in = range(0, -1), next = range(1, end);
    auto const steps = square(u(next, in) - u(in, in)) + square(u(in, next) - u(in, in));
    return sum(sqrt(steps + 1e-4F)) + 0.5F * sum(square(u - image));
  }
};

/// Horn and Schunck's loss of the flow between two images.
struct OpticalFlow {
  Array<float, 2, Memory> const &before, &after;
  template <class U, class V>
  auto operator()(U const& u, V const& v) const {
    auto const in = range(0, -1), next = range(1, end);
    auto const smooth = [&](auto const& w) {
      return sum(square(w(next, in) - w(in, in)) + square(w(in, next) - w(in, in)));
    };
    auto const seen = along_0(before) * u + along_1(before) * v + (after - before);
    return sum(square(seen)) + 0.1F * (smooth(u) + smooth(v));
  }
};

template <class Time>
void time_all(benchmark::State& state, Time const& time) {
  auto const large = matrix(1024, 1024);
  Array<float, 2, Memory> const other = sin(5 * large);
  auto const points = matrix(20000, 8), tokens = matrix(256, 64);
  switch (state.range(0)) {
    case 4: return time(Ising{}, large);
    case 5: return time(KMeans{points}, matrix(16, 8));
    case 6: return time(GaussianProcess{}, matrix(1, 256));
    case 7:
      return time(Attention{tokens}, matrix(64, 64, 0.2), matrix(64, 64, 0.3), matrix(64, 64));
    case 8: return time(TotalVariation{other}, large);
    case 9: return time(OpticalFlow{large, other}, large, other);
  }
}

bool const added = add_program("program", {4, 5, 6, 7, 8, 9},
                               [](auto& state, auto const& time) { time_all(state, time); });

}  // namespace

}  // namespace coir::bench
