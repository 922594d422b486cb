#include "relaxation.hpp"

#include <coir/core/errors.hpp>
#include <coir/poisson/red_black.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace coir::poisson::detail {

double optimal_omega(int const* extents, int rank) {
  double real[3];
  for (int d = 0; d < rank; ++d) {
    expects(extents[d] >= 1, "the grid must have at least 1 cell along every axis", extents[d]);
    real[d] = extents[d];
  }
  return best_omega(jacobi_radius(real, rank));
}

double jacobi_radius(double const* extents, int rank) {
  double sum = 0;
  for (int d = 0; d < rank; ++d) sum += std::cos(std::numbers::pi / (extents[d] + 1));
  return sum / rank;
}

double best_omega(double jacobi_radius) {
  return 2 / (1 + std::sqrt((1 - jacobi_radius) * (1 + jacobi_radius)));
}

// The eigenvalues lambda of a sweep solve lambda + omega - 1 = omega radius sqrt(lambda) (Young).
// From the best omega on they are complex, of modulus omega - 1, and at the best omega there is a
// Jordan block. So errors may behave like k lambda^k after k sweeps: this rises first, and falls to
// 1 again at about k = (1 + log k) / -log lambda. The code has 4 in place of 1 for safety.
std::int64_t transient_sweeps(double omega, double jacobi_radius) {
  double const half = omega * jacobi_radius / 2;
  double const discriminant = half * half - (omega - 1);
  double const root = discriminant > 0 ? half + std::sqrt(discriminant) : 0;
  double const lambda = std::max(root * root, omega - 1);
  if (!(lambda > 0 && lambda < 1)) return 1;
  double const sweeps_per_e = -1 / std::log(lambda);
  return 1 + static_cast<std::int64_t>(sweeps_per_e * (4 + std::log(1 + sweeps_per_e)));
}

}  // namespace coir::poisson::detail
