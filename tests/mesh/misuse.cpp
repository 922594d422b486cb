// Execution spaces that the library has no kernels for, and a layout that forces don't take.

#include <coir/fft/plan.hpp>
#include <coir/mesh/force.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/mesh/readout.hpp>

void misuse(Kokkos::View<float* [3], Kokkos::LayoutRight, Kokkos::HostSpace> const& positions,
            Kokkos::View<float***, Kokkos::LayoutRight, Kokkos::HostSpace> const& mesh,
            Kokkos::View<float*, Kokkos::HostSpace> const& values) {
#if defined(MISUSE_paint_on_serial)  // and not for this execution space
  coir::mesh::paint(Kokkos::Serial{}, positions, 1.0, mesh);
#elif defined(MISUSE_readout_on_serial)          // and not for this execution space
  coir::mesh::readout(Kokkos::Serial{}, positions, 1.0, mesh, values);
#elif defined(MISUSE_power_spectrum_on_serial)   // and not for this execution space
  auto const power = coir::mesh::power_spectrum(Kokkos::Serial{}, positions, 1.0, 4);
#elif defined(MISUSE_complex_plan_on_serial)     // and not for this execution space
  coir::fft::ComplexPlan<Kokkos::Serial, float, 3> const plan(Kokkos::Serial{}, {4, 4, 4});
#elif defined(MISUSE_plan_on_serial)             // and not for this execution space
  coir::fft::RealPlan<Kokkos::Serial, float, 3> const plan(Kokkos::Serial{}, {4, 4, 4});
#elif defined(MISUSE_force_on_serial)            // and not for this execution space
  coir::mesh::Force<Kokkos::Serial, float> const force(Kokkos::Serial{}, {4, 4, 4}, 1.0);
#elif defined(MISUSE_force_kept_in_layout_left)  // spectra must lie in C order
  using Host = Kokkos::DefaultHostExecutionSpace;
  coir::mesh::Force<Host, float> force(Host{}, {4, 4, 4}, 1.0);
  Kokkos::View<Kokkos::complex<float>***, Kokkos::LayoutLeft, Kokkos::HostSpace> const kept(
      "kept", 4, 4, 3);
  force.solve(1.0, kept);
#else
  Kokkos::DefaultHostExecutionSpace const host;
  coir::mesh::paint(host, positions, 1.0, mesh);
  coir::mesh::readout(host, positions, 1.0, mesh, values);
  auto const power = coir::mesh::power_spectrum(host, positions, 1.0, 4);
  coir::fft::ComplexPlan<Kokkos::DefaultHostExecutionSpace, float, 3> const complex(host,
                                                                                    {4, 4, 4});
  coir::fft::RealPlan<Kokkos::DefaultHostExecutionSpace, float, 3> const plan(host, {4, 4, 4});
  coir::mesh::Force<Kokkos::DefaultHostExecutionSpace, float> const force(host, {4, 4, 4}, 1.0);
#endif
}
