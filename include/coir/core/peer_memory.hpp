#pragma once

/// \file
/// Memory of devices that several processes of one machine read and write, and signals between
/// their streams. Only builds for devices have these functions.

#include <coir/core/concepts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace coir {

/// What another process of the machine opens an allocation by.
using MemoryName = std::array<std::byte, 64>;

/// An allocation of this process on its device. Its number is never used again.
struct Allocation {
  char* first = nullptr;
  std::uint64_t number = 0;

  bool operator==(Allocation const&) const = default;
};

/// The allocation in which an address of a device lies; a default one if there is none.
Allocation allocation_of(void const* data);

/// \throws EnvironmentError if the driver doesn't share the allocation, as one of cudaMallocAsync
MemoryName name_of(Allocation const& allocation);

/// The address at which this process sees an allocation of another one, until close_memory().
///
/// \throws EnvironmentError if this device can't reach the other one's memory
char* open_memory(MemoryName const& name);
void close_memory(char* first);

/// Runs of bytes that lie evenly.
struct Runs {
  char* first;
  std::int64_t pitch;  ///< bytes from the begin of one to the begin of the next
};

/// Copies `count` runs of `bytes` bytes, on this device or to another one, in the order of an
/// instance's work and without waiting.
///
/// \throws EnvironmentError if the device refuses, as the functions below do
void copy_runs(Kokkos::DefaultExecutionSpace const& exec, Runs const& to, Runs const& from,
               std::int64_t bytes, std::int64_t count);

/// Numbers of 0 in memory of this device, for signals.
std::shared_ptr<std::uint32_t> allocate_signals(std::int64_t count);

/// Writes a number to memory of this device or of another one after the instance's work so far.
void write_signal(Kokkos::DefaultExecutionSpace const& exec, std::uint32_t* signal,
                  std::uint32_t number);

/// Work that is launched on the instance from now on begins when a signal in memory of this device
/// has reached a number. Numbers may wrap around: they are compared by their difference. The host
/// doesn't wait.
void await_signal(Kokkos::DefaultExecutionSpace const& exec, std::uint32_t* signal,
                  std::uint32_t number);

/// Whether all work of an instance has ended.
bool has_ended(Kokkos::DefaultExecutionSpace const& exec);

}  // namespace coir
