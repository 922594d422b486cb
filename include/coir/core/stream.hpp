#pragma once

/// \file
/// The order of work on different instances of an execution space.

#include <coir/core/concepts.hpp>

namespace coir {

#if defined(KOKKOS_ENABLE_CUDA)
inline cudaStream_t stream_of(Kokkos::Cuda const& exec) { return exec.cuda_stream(); }
#elif defined(KOKKOS_ENABLE_HIP)
inline hipStream_t stream_of(Hip const& exec) { return exec.hip_stream(); }
#endif

/// Makes everything that is launched on `later` from now on begin after everything that was launched on `earlier` so
/// far has ended. The host doesn't wait. Does nothing on host spaces, where launches end before they return.
///
/// \throws EnvironmentError if the device refuses
template <CompiledSpace Exec>
void begin_after(Exec const& later, Exec const& earlier);

}  // namespace coir
