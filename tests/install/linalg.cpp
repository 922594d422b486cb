// A user's program that multiplies matrices, and has nothing of Kokkos Kernels or BLAS in it.
#include <coir/array/creation.hpp>
#include <coir/array/reductions.hpp>
#include <coir/linalg/matmul.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  double const total = coir::sum(coir::matmul(coir::ones(3, 4), coir::ones(4, 5)));
  std::printf("sum of a product of ones: %g\n", total);
  return total == 3 * 4 * 5 ? 0 : 1;
}
