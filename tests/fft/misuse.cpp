// A layout that transforms over ranks don't take.

#include <coir/fft/slab.hpp>

#if defined(MISUSE_slab_of_layout_left)  // fields over ranks and spectra must lie in C order
using Layout = Kokkos::LayoutLeft;
#else
using Layout = Kokkos::LayoutRight;
#endif

void misuse(coir::fft::RealSlab<Kokkos::DefaultHostExecutionSpace, float> const& slab,
            Kokkos::View<Kokkos::complex<float>***, Layout, Kokkos::HostSpace> const& field,
            Kokkos::View<Kokkos::complex<float>***, Layout, Kokkos::HostSpace> const& spectrum) {
  slab.forward(field, spectrum);
}
