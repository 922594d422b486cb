// Twelve programs of the kinds that are differentiated most: value,program/k is the value alone,
// grad,program/k the value with its gradient, and recorded_value,program/k and
// recorded_grad,program/k are what record() made of these. bench/peers/gradients.py times JAX's
// programs beside these.

#include <autodiff/programs.hpp>

#include <coir/autodiff/decompositions.hpp>
#include <coir/autodiff/fft.hpp>
#include <coir/autodiff/linalg.hpp>
#include <coir/autodiff/solve.hpp>

#include <cstdint>
#include <tuple>

namespace coir::bench {

namespace {

/// 50 steps of advection along rows with minmod-limited slopes and a Courant number of 1/2.
struct Advection {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(+x);
    for (int step = 0; step < 50; ++step) {
      auto const behind = evaluate(u - roll(u, 1, 1));
      auto const ahead = roll(behind, -1, 1);
      auto const slope =
          where(behind * ahead > 0.F, where(abs(behind) < abs(ahead), behind, ahead), 0.F * behind);
      auto const flux = evaluate(u + 0.25F * slope);
      u = u - 0.5F * (flux - roll(flux, 1, 1));
    }
    return sum(square(u));
  }
};

template <class U>
auto laplacian(U const& u) {
  return roll(u, 1, 0) + roll(u, -1, 0) + roll(u, 1, 1) + roll(u, -1, 1) - 4 * u;
}

/// 50 steps of the wave equation.
struct Wave {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(+x), v = evaluate(0.1F * x);
    for (int step = 0; step < 50; ++step) {
      v = v + 0.2F * laplacian(u);
      u = u + v;
    }
    return sum(square(u));
  }
};

template <class U>
auto along_0(U const& u) {
  return 0.5F * (roll(u, -1, 0) - roll(u, 1, 0));
}
template <class U>
auto along_1(U const& u) {
  return 0.5F * (roll(u, -1, 1) - roll(u, 1, 1));
}

/// 20 steps of the shallow-water equations.
struct ShallowWater {
  template <class X>
  auto operator()(X const& x) const {
    auto h = evaluate(1 + 0.1F * x), u = evaluate(0.1F * x), v = evaluate(0.1F * x);
    for (int step = 0; step < 20; ++step) {
      auto const p = evaluate(h * u), q = evaluate(h * v);
      auto const du = evaluate(u * along_0(u) + v * along_1(u) + along_0(h));
      auto const dv = evaluate(u * along_0(v) + v * along_1(v) + along_1(h));
      h = h - 0.05F * (along_0(p) + along_1(q));
      u = u - 0.05F * du;
      v = v - 0.05F * dv;
    }
    return sum(h * (square(u) + square(v))) + sum(square(h));
  }
};

/// 50 steps of Burgers' equation.
struct Burgers {
  template <class X>
  auto operator()(X const& x) const {
    auto u = evaluate(+x);
    for (int step = 0; step < 50; ++step)
      u = u - 0.1F * u * (along_0(u) + along_1(u)) + 0.1F * laplacian(u);
    return sum(square(u));
  }
};

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
    return mean(min(squared - 2 * products, 1)) + sum(square(points)) / float(points.extent(0));
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

/// 5 steps of the vorticity of a two-dimensional flow, by transforms.
struct NavierStokes {
  Array<Kokkos::complex<float>, 2, Memory> to_u, to_v, along_x, along_y;
  Array<float, 2, Memory> decay;

  explicit NavierStokes(std::int64_t n) {
    Array<float, 1, Memory> const whole = fft::fftfreq<float, Memory>(n) * float(n);
    Array<float, 1, Memory> const half = fft::rfftfreq<float, Memory>(n) * float(n);
    Array<float, 2, Memory> const kx = whole(range(), newaxis) + 0 * half, ky = 0 * kx + half;
    Array<float, 2, Memory> const squared = where(kx * kx + ky * ky > 0.F, kx * kx + ky * ky, 1.F);
    Kokkos::complex<float> const i(0, 1);
    along_x = i * kx;
    along_y = i * ky;
    to_u = i * (ky / squared);
    to_v = -i * (kx / squared);
    decay = exp(-1e-3F * squared);
  }
  template <class X>
  auto operator()(X const& x) const {
    auto w = evaluate(+x);
    std::int64_t const n = x.shape()[1];
    for (int step = 0; step < 5; ++step) {
      auto const spectrum = fft::rfftn(w);
      auto const back = [&](auto const& filter) { return fft::irfftn(spectrum * filter, n); };
      auto const advected = evaluate(back(to_u) * back(along_x) + back(to_v) * back(along_y));
      w = fft::irfftn(fft::rfftn(w - 0.01F * advected) * decay, n);
    }
    return sum(square(w));
  }
};

/// 20 steps of a recurrent cell.
struct RecurrentCell {
  Array<float, 2, Memory> const& input;
  template <class W, class U>
  auto operator()(W const& w, U const& u) const {
    auto h = tanh(matmul(input, u));
    auto state = evaluate(h);
    for (int step = 1; step < 20; ++step) state = tanh(matmul(state, w) + matmul(input, u));
    return mean(square(state));
  }
};

template <class Time>
void time_all(benchmark::State& state, Time const& time) {
  auto const field = matrix(256, 256), large = matrix(1024, 1024);
  Array<float, 2, Memory> const other = sin(5 * large);
  auto const points = matrix(20000, 8), tokens = matrix(256, 64), batch = matrix(64, 32);
  switch (state.range(0)) {
    case 0: return time(Advection{}, field);
    case 1: return time(Wave{}, field);
    case 2: return time(ShallowWater{}, field);
    case 3: return time(Burgers{}, field);
    case 4: return time(Ising{}, large);
    case 5: return time(KMeans{points}, matrix(16, 8));
    case 6: return time(GaussianProcess{}, matrix(1, 256));
    case 7:
      return time(Attention{tokens}, matrix(64, 64, 0.2), matrix(64, 64, 0.3), matrix(64, 64));
    case 8: return time(TotalVariation{other}, large);
    case 9: return time(OpticalFlow{large, other}, large, other);
    case 10: return time(NavierStokes(128), matrix(128, 128));
    case 11: return time(RecurrentCell{batch}, matrix(128, 128, 0.1), matrix(32, 128, 0.1));
  }
}

bool const added = add_program("program", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                               [](auto& state, auto const& time) { time_all(state, time); });

}  // namespace

}  // namespace coir::bench
