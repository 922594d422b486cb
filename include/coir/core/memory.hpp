#pragma once

/// \file
/// How much memory is free: asked before large allocations.

#include <coir/core/concepts.hpp>

#include <atomic>
#include <cstdint>
#include <string>

namespace coir {

/// Bytes that all processes of the machine together can still allocate, within the limits of this
/// process' control groups.
std::int64_t free_bytes_of_machine();

/// Bytes that this process may still allocate by its own limits (ulimit -v and -d). The machine may
/// have less.
std::int64_t free_bytes_of_process();

namespace detail {
std::int64_t free_host_bytes();
std::int64_t free_device_bytes();
/// Frees what the pool of a memory space keeps. None before there is a pool.
template <class MemorySpace>
inline std::atomic<void (*)()> free_kept = nullptr;
}  // namespace detail

/// Bytes that can still be allocated in a memory space. On the host: what the kernel calls
/// available, within the limits of the process (ulimit -v and -d) and of its control groups. On a
/// device: what its driver reports.
template <class MemorySpace>
std::int64_t free_bytes() {
  if constexpr (std::is_same_v<MemorySpace, Kokkos::HostSpace>)
    return detail::free_host_bytes();
  else
    return detail::free_device_bytes();
}

/// A byte count as people read it: "1.5 GiB".
std::string readable_bytes(std::int64_t bytes);

/// Refuses an allocation that can't succeed, before it is tried. Frees what pools and kept_view()
/// keep for later if there is not enough besides.
///
/// \param bytes  what is going to be allocated in MemorySpace
/// \param what   what for: "the solve on 8192 x 8192 cells"
/// \throws ResourceError naming the need, what is free, and the remedy
template <class MemorySpace>
void expects_memory(std::int64_t bytes, std::string const& what);

/// Refuses an allocation that exceeds the bytes that the caller knows to be available.
///
/// \throws ResourceError unless bytes <= available
void expects_memory(std::int64_t bytes, std::int64_t available, std::string const& what);

/// Asks the system for pages of 2 MiB for new host memory of 4 MiB or more: they cause fewer page
/// faults and fewer misses of the TLB. Does nothing if the system has no such pages.
void ask_for_large_pages(void* block, std::int64_t bytes);

/// `bytes` or a little more, for a View that other processes of the machine are to reach: on a
/// device, with the 128 bytes that Kokkos puts before a View, a large allocation is a multiple of
/// 2 MiB. The driver maps other ones in small pages in other processes, which is slower.
template <class MemorySpace>
constexpr std::int64_t bytes_in_large_pages(std::int64_t bytes) {
  constexpr std::int64_t page = std::int64_t(1) << 21, header = 128, large = 16 * page;
  if (std::is_same_v<MemorySpace, Kokkos::HostSpace> || bytes < large) return bytes;
  return (bytes + header + page - 1) / page * page - header;
}

template <class MemorySpace>
void expects_memory(std::int64_t bytes, std::string const& what) {
  auto* const free_kept = detail::free_kept<MemorySpace>.load();
  if (free_kept != nullptr && bytes > free_bytes<MemorySpace>()) free_kept();
  expects_memory(bytes, free_bytes<MemorySpace>(), what);
}

}  // namespace coir
