// A layout that transforms over ranks don't take: see CMakeLists.txt.

#include <coir/fft/slab.hpp>

#if defined(MISUSE_no_mistake)
using Layout = Kokkos::LayoutRight;
#else
using Layout = Kokkos::LayoutLeft;
#endif

void misuse(coir::fft::RealSlab<Kokkos::DefaultHostExecutionSpace, float> const& slab,
            Kokkos::View<Kokkos::complex<float>***, Layout, Kokkos::HostSpace> const& field,
            Kokkos::View<Kokkos::complex<float>***, Layout, Kokkos::HostSpace> const& spectrum) {
  slab.forward(field, spectrum);
}
