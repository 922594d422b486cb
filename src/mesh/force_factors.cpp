#include "force_factors.hpp"

#include <coir/fft/wave_number.hpp>

#include <cmath>
#include <numbers>

namespace coir::mesh::detail {

namespace {

double sinc(double x) { return x == 0 ? 1 : std::sin(x) / x; }

}  // namespace

ForceFactors force_factors(std::int64_t cells, std::int64_t waves, double box, ForceKernel kernel) {
  ForceFactors factors;
  int const points = laplacian_points(kernel);
  for (std::int64_t i = 0; i < waves; ++i) {
    double const k = 2 * std::numbers::pi * static_cast<double>(fft::wave_number(i, cells)) / box;
    double const w = k * box / static_cast<double>(cells), half = sinc(w / 2), whole = sinc(w);
    factors.square.push_back(k * k);
    factors.laplacian.push_back(k * k *
                                (points == 0   ? 1
                                 : points == 3 ? half * half
                                               : 4.0 / 3.0 * half * half - whole * whole / 3.0));
    factors.window.push_back(1 / (half * half * half * half));
  }
  return factors;
}

}  // namespace coir::mesh::detail
