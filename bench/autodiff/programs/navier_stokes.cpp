#include <autodiff/programs.hpp>

#include <coir/autodiff/fft.hpp>

#include <cstdint>

namespace coir::bench {

namespace {

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

bool const navier_stokes_added = add_program(
    "navier_stokes", {128},
    [](auto&, std::int64_t n, auto const& time) { time(NavierStokes(n), matrix(n, n)); });

}  // namespace

}  // namespace coir::bench
