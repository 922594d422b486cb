#pragma once

namespace coir::apps {

/// Has Kokkos start without the device that it was compiled for: Kokkos::initialize ends the
/// process where there is none. Kernels run on Kokkos::DefaultHostExecutionSpace then, for arrays
/// in Kokkos::HostSpace, and no instance of Kokkos::DefaultExecutionSpace may be made. Call it
/// before Kokkos starts. It does nothing where the default execution space is a host's.
void leave_device_out();

}  // namespace coir::apps
