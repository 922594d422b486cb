// A polynomial through noisy points: matrices, by LAPACK.
#include <coir/array/all.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/linalg/solve.hpp>

#include <Kokkos_Core.hpp>

#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);

  auto const t = coir::linspace(0, 1, 200);
  coir::Array<double, 1> const y = 1 - 3 * t + 2 * square(t) + 0.01 * sin(1000 * t);
  auto const powers = stack(1, coir::ones_like(t), t, square(t));  // a row 1, t, t^2 for each point

  auto const [fit, residuals, rank, singular_values] = lstsq(powers, y);
  coir::Array<double, 1> const misfit = y - matvec(powers, fit);

  std::cout.precision(12);
  for (int k = 0; k < 3; ++k) std::cout << "power_" << k << ' ' << fit(k) << '\n';
  std::cout << "misfit " << norm(misfit) << '\n';
  std::cout << "rank " << rank << '\n';
}
