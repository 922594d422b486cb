// A user's program that transforms an array, and has nothing of FFTW in it.
#include <coir/array/creation.hpp>
#include <coir/array/reductions.hpp>
#include <coir/fft/numpy.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  double const total = coir::sum(coir::real(coir::fft::rfft(coir::ones(16))));
  std::printf("sum of the spectrum of ones: %g\n", total);
  return total == 16 ? 0 : 1;
}
