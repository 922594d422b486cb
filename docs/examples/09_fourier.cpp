// A density makes a potential: Poisson's equation in a periodic box, by Fourier transforms.
#include <coir/array/all.hpp>
#include <coir/array/fft.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using coir::newaxis, coir::range;
  std::int64_t const n = 32;
  double const two_pi = 6.283185307179586;

  coir::Array<double, 1> const x = coir::arange<double>(n) / n;
  coir::Array<double, 3> const density = exp(cos(two_pi * x(range(), newaxis, newaxis))) *
                                         sin(two_pi * x(range(), newaxis)) *
                                         square(cos(two_pi * x));

  auto spectrum = coir::fft::rfftn(density);
  std::cout.precision(10);
  std::cout << "power " << sum(square(abs(spectrum))) << '\n';

  // -|k|^2 phi = density; the mean of the potential is free, and 0.
  coir::Array<double, 1> const k = two_pi * coir::fft::fftfreq(n, 1.0 / n),
                               half = two_pi * coir::fft::rfftfreq(n, 1.0 / n);
  auto const k2 = square(k(range(), newaxis, newaxis)) + square(k(range(), newaxis)) + square(half);
  spectrum = spectrum * where(k2 > 0, -1 / maximum(k2, 1), 0.0);
  auto const potential = coir::fft::irfftn(spectrum, n);

  std::cout << "deepest " << min(potential) << '\n';
  std::cout << "element " << potential(1, 2, 3) << '\n';
}
