// A user's program: its own Kokkos Views, coir's loops and solver.
#include <coir/core/loops.hpp>
#include <coir/core/version.hpp>
#include <coir/poisson/laplacian.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

int count_wrong_cells() {
  int const rows = 5, columns = 7;  // and a ring of boundary values around them
  using Exec = Kokkos::DefaultExecutionSpace;
  using Field = Kokkos::View<double**, Kokkos::LayoutRight>;
  Field u("u", rows + 2, columns + 2), b("b", rows, columns);

  // u = i^2 + j^2 has the Laplacian 4.
  Exec const exec;
  coir::for_each(
      "fill", exec, coir::box({rows + 2, columns + 2}),
      KOKKOS_LAMBDA(int i, int j) { u(i, j) = i * i + j * j; });
  coir::poisson::laplacian(exec, u, b);

  int wrong = 0;
  coir::reduce(
      "check", exec, coir::box({rows, columns}),
      KOKKOS_LAMBDA(int i, int j, int& count) { count += b(i, j) != 4; }, Kokkos::Sum<int>(wrong));
  return wrong;
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  int const wrong = count_wrong_cells();
  std::printf("coir %s on %s: %d wrong cells\n", coir::version,
              Kokkos::DefaultExecutionSpace::name(), wrong);
  return wrong == 0 ? 0 : 1;
}
