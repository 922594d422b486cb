// Execution spaces that the library has no kernels for.

#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid.hpp>
#include <coir/poisson/multigrid_preconditioner.hpp>
#include <coir/poisson/red_black.hpp>

void misuse(Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const& b,
            Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const& u) {
#if defined(MISUSE_conjugate_gradients_on_serial)  // and not for this execution space
  coir::poisson::conjugate_gradients(Kokkos::Serial{}, b, u);
#elif defined(MISUSE_jacobi_on_serial)          // and not for this execution space
  coir::poisson::jacobi(Kokkos::Serial{}, b, u);
#elif defined(MISUSE_laplacian_on_serial)       // and not for this execution space
  coir::poisson::laplacian(Kokkos::Serial{}, u, b);
#elif defined(MISUSE_residual_norm_on_serial)   // and not for this execution space
  coir::poisson::residual_norm(Kokkos::Serial{}, b, u);
#elif defined(MISUSE_multigrid_on_serial)       // and not for this execution space
  coir::poisson::Multigrid<Kokkos::Serial, double, 2> const solver(Kokkos::Serial{}, {4, 4});
#elif defined(MISUSE_preconditioner_on_serial)  // and not for this execution space
  coir::poisson::MultigridPreconditioner<Kokkos::Serial, double> const solver(Kokkos::Serial{},
                                                                              {4, 4});
#elif defined(MISUSE_red_black_on_serial)       // and not for this execution space
  coir::poisson::red_black(Kokkos::Serial{}, b, u);
#else
  Kokkos::DefaultHostExecutionSpace const host;
  coir::poisson::conjugate_gradients(host, b, u);
  coir::poisson::jacobi(host, b, u);
  coir::poisson::laplacian(host, u, b);
  coir::poisson::residual_norm(host, b, u);
  coir::poisson::Multigrid<Kokkos::DefaultHostExecutionSpace, double, 2> const solver(host, {4, 4});
  coir::poisson::MultigridPreconditioner<Kokkos::DefaultHostExecutionSpace, double> const
      preconditioner(host, {4, 4});
  coir::poisson::red_black(host, b, u);
#endif
}
