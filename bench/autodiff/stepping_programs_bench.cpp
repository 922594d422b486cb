// Six programs that make many steps: value,program/k is the value alone,
// grad,program/k the value with its gradient, and recorded_value,program/k and
// recorded_grad,program/k are what record() made of these. bench/peers/gradients.py --twelve times
// JAX's programs beside these.

#include <autodiff/programs.hpp>
#include <autodiff/slopes.hpp>

#include <coir/autodiff/fft.hpp>
#include <coir/autodiff/linalg.hpp>

#include <cstdint>

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
  auto const field = matrix(256, 256), batch = matrix(64, 32);
  switch (state.range(0)) {
    case 0: return time(Advection{}, field);
    case 1: return time(Wave{}, field);
    case 2: return time(ShallowWater{}, field);
    case 3: return time(Burgers{}, field);
    case 10: return time(NavierStokes(128), matrix(128, 128));
    case 11: return time(RecurrentCell{batch}, matrix(128, 128, 0.1), matrix(32, 128, 0.1));
  }
}

bool const added = add_program("program", {0, 1, 2, 3, 10, 11},
                               [](auto& state, auto const& time) { time_all(state, time); });

}  // namespace

}  // namespace coir::bench
