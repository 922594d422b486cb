// Execution spaces that the library has no kernels for: see CMakeLists.txt.

#include <coir/fft/plan.hpp>
#include <coir/mesh/force.hpp>
#include <coir/mesh/paint.hpp>

void misuse(Kokkos::View<float* [3], Kokkos::LayoutRight, Kokkos::HostSpace> const& positions,
            Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> const& mesh) {
#if defined(MISUSE_paint_on_serial)
  coir::mesh::paint(Kokkos::Serial{}, positions, 1.0, mesh);
#elif defined(MISUSE_plan_on_serial)
  coir::fft::RealPlan<Kokkos::Serial, float, 3> const plan(Kokkos::Serial{}, {4, 4, 4});
#elif defined(MISUSE_force_on_serial)
  coir::mesh::Force<Kokkos::Serial, float> const force(Kokkos::Serial{}, {4, 4, 4}, 1.0);
#else
  Kokkos::DefaultHostExecutionSpace const host;
  coir::mesh::paint(host, positions, 1.0, mesh);
  coir::fft::RealPlan<Kokkos::DefaultHostExecutionSpace, float, 3> const plan(host, {4, 4, 4});
  coir::mesh::Force<Kokkos::DefaultHostExecutionSpace, float> const force(host, {4, 4, 4}, 1.0);
#endif
}
