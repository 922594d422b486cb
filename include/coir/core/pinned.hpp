#pragma once

/// \file
/// Page-locked ("pinned") host memory, which a device reads and writes by itself.

#include <coir/core/kokkos.hpp>

#include <cstdint>
#include <memory>

namespace coir {

/// The memory space of page-locked host memory, for Views. Copies between it and a device take the
/// full rate of the bus; copies on an execution space instance run beside kernels and the host. If
/// Kokkos has no device, it is ordinary host memory. Locking takes long: allocate once, and keep
/// the memory. Other programs can't use it meanwhile.
#if defined(KOKKOS_ENABLE_CUDA)
using PinnedSpace = Kokkos::CudaHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_HIP)
using PinnedSpace = HipHostPinnedSpace;
#else
using PinnedSpace = Kokkos::HostSpace;
#endif

/// Page-locked host memory of `bytes` bytes, aligned to 64, not initialised. Its owner gives it
/// back to the system, and waits for copies that still use it. Without a device it comes from the
/// pool of host arrays.
///
/// \throws ResourceError if there is not enough
std::shared_ptr<void> allocate_pinned(std::int64_t bytes);

}  // namespace coir
