// A user's program that transforms a View, and has nothing of FFTW in it.
#include <coir/fft/plan.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  using Exec = Kokkos::DefaultExecutionSpace;
  Exec const exec;
  Kokkos::View<double*, Kokkos::LayoutRight, Exec::memory_space> const x("x", 8);
  Kokkos::View<Kokkos::complex<double>*, Kokkos::LayoutRight, Exec::memory_space> const z("z", 5);
  Kokkos::deep_copy(x, 1.0);
  coir::fft::RealPlan<Exec, double, 1>(exec, coir::Shape<1>{8}).forward(x, z);
  exec.fence();
  auto const z_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, z);
  std::printf("%g\n", z_h(0).real());
  return z_h(0) == Kokkos::complex<double>(8) ? 0 : 1;
}
