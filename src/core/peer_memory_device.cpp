#include "device_runtime.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/peer_memory.hpp>
#include <coir/core/stream.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>

namespace coir {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Handle = COIR_RUNTIME(IpcMemHandle_t);
static_assert(sizeof(Handle) == sizeof(MemoryName));

// What the two drivers call by different names.
#if defined(KOKKOS_ENABLE_CUDA)
using Address = CUdeviceptr;
constexpr auto success = CUDA_SUCCESS;
// Where there is no allocation this succeeds, and finds 0.
auto range_and_number(void** found, Address data) {
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                  CU_POINTER_ATTRIBUTE_BUFFER_ID};
  return cuPointerGetAttributes(2, wanted, found, data);
}
// Batches have a limit, which is far above any number of ranks of a machine.
constexpr std::size_t most_in_a_batch = 128;
auto in_a_batch(cudaStream_t stream, std::span<SignalValue const> signals, bool writes) {
  std::array<CUstreamBatchMemOpParams, most_in_a_batch> batch{};
  for (std::size_t n = 0; n < signals.size(); ++n) {
    auto const address = reinterpret_cast<Address>(signals[n].place);
    if (writes) {
      auto& write = batch[n].writeValue;
      write.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
      write.address = address;
      write.value = signals[n].number;
      write.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
    } else {
      auto& wait = batch[n].waitValue;
      wait.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
      wait.address = address;
      wait.value = signals[n].number;
      wait.flags = CU_STREAM_WAIT_VALUE_GEQ;
    }
  }
  return cuStreamBatchMemOp(stream, static_cast<unsigned>(signals.size()), batch.data(), 0);
}
#else
using Address = hipDeviceptr_t;
constexpr auto success = hipSuccess;
auto range_and_number(void** found, Address data) {
  hipPointer_attribute wanted[] = {HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   HIP_POINTER_ATTRIBUTE_BUFFER_ID};
  return hipDrvPointerGetAttributes(2, wanted, found, data);
}
constexpr std::size_t most_in_a_batch = 1;
auto in_a_batch(hipStream_t stream, std::span<SignalValue const> signals, bool writes) {
  auto const& [place, number] = signals.front();
  return writes ? hipStreamWriteValue32(stream, place, number, 0)
                : hipStreamWaitValue32(stream, place, number, hipStreamWaitValueGte, 0xffffffff);
}
#endif

template <class Status>
void expects_driver(Status status, char const* call) {
  if (status != success)
    throw EnvironmentError(std::string(call) + " of the device's driver failed with code " +
                           std::to_string(static_cast<int>(status)));
}

KOKKOS_FORCEINLINE_FUNCTION void finish_stores_for_all_devices() {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  __threadfence_system();
#endif
}

/// copy_small() by one team.
struct CopySmall {
  static constexpr int team = 256;
  SmallCopy copies[most_small_copies];
  SignalValue signals[most_signals_of_copies];
  int copy_count, signal_count;

  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION void copy(SmallCopy const& one, int rank) const {
    auto const* const from = reinterpret_cast<Number const*>(one.from);
    auto* const to = reinterpret_cast<Number*>(one.to);
    for (std::int64_t n = rank; n < one.bytes / std::int64_t(sizeof(Number)); n += team)
      to[n] = from[n];
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    int const rank = member.team_rank();
    for (int n = 0; n < copy_count; ++n) {
      SmallCopy const one = copies[n];
      auto const bits = reinterpret_cast<std::uintptr_t>(one.to) |
                        reinterpret_cast<std::uintptr_t>(one.from) |
                        static_cast<std::uintptr_t>(one.bytes);
      if (bits % sizeof(std::uint32_t) == 0)
        copy<std::uint32_t>(one, rank);
      else
        copy<char>(one, rank);
    }
    member.team_barrier();
    if (rank != 0) return;
    finish_stores_for_all_devices();
    for (int n = 0; n < signal_count; ++n)
      *static_cast<std::uint32_t volatile*>(signals[n].place) = signals[n].number;
  }
};

void in_batches(Exec const& exec, std::span<SignalValue const> signals, bool writes) {
  while (!signals.empty()) {
    auto const some = signals.first(std::min(signals.size(), most_in_a_batch));
    expects_driver(in_a_batch(stream_of(exec), some, writes),
                   writes ? "StreamWriteValue32" : "StreamWaitValue32");
    signals = signals.subspan(some.size());
  }
}

}  // namespace

Allocation allocation_of(void const* data) {
  Allocation allocation;
  void* found[] = {&allocation.first, &allocation.number};
  auto const status = range_and_number(found, reinterpret_cast<Address>(const_cast<void*>(data)));
  return status == success && allocation.first != nullptr ? allocation : Allocation();
}

MemoryName name_of(Allocation const& allocation) {
  Handle handle{};
  detail::expects_success(COIR_RUNTIME(IpcGetMemHandle)(&handle, allocation.first),
                          "IpcGetMemHandle");
  MemoryName name{};
  std::memcpy(name.data(), &handle, sizeof handle);
  return name;
}

char* open_memory(MemoryName const& name) {
  Handle handle{};
  std::memcpy(&handle, name.data(), sizeof handle);
  void* first = nullptr;
  auto const status =
      COIR_RUNTIME(IpcOpenMemHandle)(&first, handle, COIR_RUNTIME(IpcMemLazyEnablePeerAccess));
  // The runtime reports a failure again after the next launch, unless it is asked for it.
  if (status != COIR_RUNTIME(Success)) static_cast<void>(COIR_RUNTIME(GetLastError)());
  detail::expects_success(status, "IpcOpenMemHandle");
  return static_cast<char*>(first);
}

void close_memory(char* first) { static_cast<void>(COIR_RUNTIME(IpcCloseMemHandle)(first)); }

void copy_runs(Exec const& exec, Runs const& to, Runs const& from, std::int64_t bytes,
               std::int64_t count) {
  auto const width = static_cast<std::size_t>(bytes), height = static_cast<std::size_t>(count);
  auto const kind = COIR_RUNTIME(MemcpyDefault);
  bool const has_gaps = count > 1 && (to.pitch != bytes || from.pitch != bytes);
  detail::expects_success(
      has_gaps
          ? COIR_RUNTIME(Memcpy2DAsync)(to.first, static_cast<std::size_t>(to.pitch), from.first,
                                        static_cast<std::size_t>(from.pitch), width, height, kind,
                                        stream_of(exec))
          : COIR_RUNTIME(MemcpyAsync)(to.first, from.first, width * height, kind, stream_of(exec)),
      "MemcpyAsync");
}

std::shared_ptr<char> allocate_as_views(std::int64_t bytes) {
  using Space = Exec::memory_space;
  try {
    void* const memory = Kokkos::kokkos_malloc<Space>("coir::core::peer_memory_device/as_views",
                                                      static_cast<std::size_t>(bytes));
    return {static_cast<char*>(memory), [](char* first) { Kokkos::kokkos_free<Space>(first); }};
  } catch (std::exception const& error) {  // Kokkos' own
    throw EnvironmentError(error.what());
  }
}

std::shared_ptr<std::uint32_t> allocate_signals(std::int64_t count) {
  auto const bytes = static_cast<std::size_t>(count) * sizeof(std::uint32_t);
  void* data = nullptr;
  detail::expects_success(COIR_RUNTIME(Malloc)(&data, bytes), "Malloc");
  std::shared_ptr<std::uint32_t> signals(
      static_cast<std::uint32_t*>(data),
      [](std::uint32_t* memory) { static_cast<void>(COIR_RUNTIME(Free)(memory)); });
  detail::expects_success(COIR_RUNTIME(Memset)(data, 0, bytes), "Memset");
  detail::expects_success(COIR_RUNTIME(DeviceSynchronize)(), "DeviceSynchronize");
  return signals;
}

void write_signals(Exec const& exec, std::span<SignalValue const> signals) {
  in_batches(exec, signals, true);
}

void await_signals(Exec const& exec, std::span<SignalValue const> signals) {
  in_batches(exec, signals, false);
}

void copy_small(Exec const& exec, std::span<SmallCopy const> copies,
                std::span<SignalValue const> signals) {
  CopySmall body{};
  body.copy_count = static_cast<int>(copies.size());
  body.signal_count = static_cast<int>(signals.size());
  std::copy(copies.begin(), copies.end(), body.copies);
  std::copy(signals.begin(), signals.end(), body.signals);
  Kokkos::parallel_for(
      "coir::core::peer_memory_device/copy_small",
      Kokkos::TeamPolicy<Exec, PassedWithLaunch<CopySmall>>(exec, 1, CopySmall::team), body);
}

bool has_ended(Exec const& exec) {
  auto const status = COIR_RUNTIME(StreamQuery)(stream_of(exec));
  if (status == COIR_RUNTIME(ErrorNotReady)) {
    static_cast<void>(COIR_RUNTIME(GetLastError)());
    return false;
  }
  detail::expects_success(status, "StreamQuery");
  return true;
}

}  // namespace coir
