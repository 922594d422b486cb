// Execution spaces that the library has no kernels for: see CMakeLists.txt.

#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/multigrid.hpp>

void misuse(Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const& b,
            Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const& u) {
#if defined(MISUSE_jacobi_on_serial)
  coir::poisson::jacobi(Kokkos::Serial{}, b, u);
#elif defined(MISUSE_multigrid_on_serial)
  coir::poisson::Multigrid<Kokkos::Serial, double, 2> const solver(Kokkos::Serial{}, {4, 4});
#else
  Kokkos::DefaultHostExecutionSpace const host;
  coir::poisson::jacobi(host, b, u);
  coir::poisson::Multigrid<Kokkos::DefaultHostExecutionSpace, double, 2> const solver(host, {4, 4});
#endif
}
