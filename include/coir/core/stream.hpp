#pragma once

/// \file
/// The order of work on different instances of an execution space.

#include <coir/core/concepts.hpp>

namespace coir {

#if defined(KOKKOS_ENABLE_CUDA)
inline cudaStream_t stream_of(Kokkos::Cuda const& exec) { return exec.cuda_stream(); }
/// Makes the device of an instance the one that this thread's calls of CUDA or HIP refer to. A new
/// thread begins with the first device.
inline void make_device_current(Kokkos::Cuda const& exec) { cudaSetDevice(exec.cuda_device()); }
#elif defined(KOKKOS_ENABLE_HIP)
inline hipStream_t stream_of(Hip const& exec) { return exec.hip_stream(); }
inline void make_device_current(Hip const& exec) { (void)hipSetDevice(exec.hip_device()); }
#endif

/// Work that is launched on `later` from now on begins after the work launched on `earlier` so far
/// has ended. The host doesn't wait. Does nothing on host spaces, where launches end before they
/// return.
///
/// \throws EnvironmentError if the device refuses
template <CompiledSpace Exec>
void begin_after(Exec const& later, Exec const& earlier);

}  // namespace coir
