// A user's program that multiplies matrices and solves, and has nothing of Kokkos Kernels, BLAS or
// LAPACK in it.
#include <coir/array/creation.hpp>
#include <coir/array/reductions.hpp>
#include <coir/linalg/matmul.hpp>
#include <coir/linalg/solve.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  double const total = coir::sum(coir::matmul(coir::ones(3, 4), coir::ones(4, 5)));
  std::printf("sum of a product of ones: %g\n", total);
  double const volume = coir::det(2 * coir::eye(3));
  return total == 3 * 4 * 5 && volume == 8 ? 0 : 1;
}
