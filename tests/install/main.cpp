// A user's program: its own Kokkos Views, coir's loops and a solver.
#include <coir/core/loops.hpp>
#include <coir/core/version.hpp>
#include <coir/poisson/jacobi.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

/// Solves for u = i^2 - j^2, whose Laplacian is 0, from its boundary values; the largest error.
double largest_error() {
  int const rows = 20, columns = 30;  // and a ring of boundary values around them
  using Exec = Kokkos::DefaultExecutionSpace;
  Kokkos::View<double**, Kokkos::LayoutRight> u("u", rows + 2, columns + 2), b("b", rows, columns);

  Exec const exec;
  coir::for_each(
      "fill", exec, coir::box({rows + 2, columns + 2}), KOKKOS_LAMBDA(int i, int j) {
        bool const inside = i > 0 && i <= rows && j > 0 && j <= columns;
        u(i, j) = inside ? 0 : i * i - j * j;
      });
  coir::poisson::JacobiOptions options;
  options.sweeps = 5000;
  coir::poisson::jacobi(exec, b, u, options);

  double error = 0;
  coir::reduce(
      "check", exec, coir::box({rows + 2, columns + 2}),
      KOKKOS_LAMBDA(int i, int j, double& largest) {
        double const here = u(i, j) - (i * i - j * j);
        if (here > largest) largest = here;
        if (-here > largest) largest = -here;
      },
      Kokkos::Max<double>(error));
  return error;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  double const error = largest_error();
  std::printf("coir %s on %s: error %g\n", coir::version, Kokkos::DefaultExecutionSpace::name(),
              error);
  return error < 1e-9 ? 0 : 1;
}
