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

/// A point in the work of an instance that others wait for. It can be moved on, over and over: who
/// waits already waits for the point that it was at. On host spaces it does nothing.
template <CompiledSpace Exec>
class Moment {
 public:
  /// \throws EnvironmentError if the device refuses, as the functions below do
  Moment();
  ~Moment();
  Moment(Moment const&) = delete;
  Moment& operator=(Moment const&) = delete;

  /// Moves it behind the work launched on an instance so far.
  void record(Exec const& exec);
  /// Work that is launched on `later` from now on begins after it, or at once if it was never
  /// recorded. The host doesn't wait.
  void await(Exec const& later) const;

 private:
  void* event_ = nullptr;
};

}  // namespace coir
