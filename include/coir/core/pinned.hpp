#pragma once

/// \file
/// Page-locked ("pinned") host memory, which a device reads and writes by itself.

#include <coir/core/kokkos.hpp>

#include <cstdint>
#include <memory>

namespace coir {

/// The memory space of page-locked host memory, for Views: copies between it and a device take the full rate of the bus, and
/// those on an execution space instance run beside kernels and beside the host. Host memory like any other where Kokkos has
/// no device. The system can't give page-locked memory to other programs, and locking takes long: keep what was allocated.
#if defined(KOKKOS_ENABLE_CUDA)
using PinnedSpace = Kokkos::CudaHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_HIP)
using PinnedSpace = HipHostPinnedSpace;
#else
using PinnedSpace = Kokkos::HostSpace;
#endif

/// Page-locked host memory for `bytes` bytes, aligned to 64, and uninitialised. It goes back to the system with its owner,
/// which waits for the copies that still use it; without a device it is memory of the pool of host arrays.
///
/// \throws ResourceError if there is not enough
std::shared_ptr<void> allocate_pinned(std::int64_t bytes);

}  // namespace coir
