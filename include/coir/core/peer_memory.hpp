#pragma once

/// \file
/// Memory of devices that several processes of one machine read and write, and signals between
/// their streams. Only builds for devices have these functions.

#include <coir/core/concepts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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

/// Memory of this device that was allocated as that of Views is.
///
/// \throws EnvironmentError if there is none
std::shared_ptr<char> allocate_as_views(std::int64_t bytes);

/// Numbers of 0 in memory of this device, for signals.
std::shared_ptr<std::uint32_t> allocate_signals(std::int64_t count);

/// A number that a place in a device's memory is given, or is to reach.
struct SignalValue {
  std::uint32_t* place;
  std::uint32_t number;
};

/// Writes numbers to memory of this device or of others after the instance's work so far.
void write_signals(Kokkos::DefaultExecutionSpace const& exec, std::span<SignalValue const> signals);

/// Work that is launched on the instance from now on begins when signals in memory of this device
/// have reached their numbers. Numbers may wrap around: they are compared by their difference. The
/// host doesn't wait.
void await_signals(Kokkos::DefaultExecutionSpace const& exec, std::span<SignalValue const> signals);

/// Bytes without gaps.
struct SmallCopy {
  char* to;
  char const* from;
  std::int64_t bytes;
};
inline constexpr std::size_t most_small_copies = 8, most_signals_of_copies = 8;

/// Copies few bytes, and then writes signals, by one kernel. That is quicker than copy_runs() and
/// write_signals() where latency counts.
///
/// \pre there are at most most_small_copies and most_signals_of_copies
void copy_small(Kokkos::DefaultExecutionSpace const& exec, std::span<SmallCopy const> copies,
                std::span<SignalValue const> signals);

/// Whether all work of an instance has ended.
bool has_ended(Kokkos::DefaultExecutionSpace const& exec);

}  // namespace coir
