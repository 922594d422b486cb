// A solver on Views: the shape of a membrane under a load that is held at 0 along its rim, L u = b
// by multigrid.
#include <coir/poisson/multigrid.hpp>

#include <Kokkos_Core.hpp>

#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  int const m = 31, n = 41;

  // The unknown has a ring of boundary values around it: u(i + 1, j + 1) belongs to b(i, j).
  Kokkos::View<double**, Kokkos::LayoutRight> const b("load", m, n), u("height", m + 2, n + 2);
  Kokkos::deep_copy(b, 1);

  auto const result = coir::poisson::multigrid(b, u, {.tolerance = 1e-10});
  if (!result.converged) return 1;

  auto const u_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, u);
  std::cout.precision(10);
  std::cout << "middle " << u_h(16, 21) << '\n';
  std::cout << "corner " << u_h(1, 1) << '\n';
  std::cerr << result.iterations << " cycles\n";
}
