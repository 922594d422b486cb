#include "device_runtime.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/peer_memory.hpp>
#include <coir/core/stream.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda.h>
#endif

#include <cstring>
#include <memory>
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
auto write_value(cudaStream_t stream, std::uint32_t* signal, std::uint32_t number) {
  return cuStreamWriteValue32(stream, reinterpret_cast<Address>(signal), number,
                              CU_STREAM_WRITE_VALUE_DEFAULT);
}
auto await_value(cudaStream_t stream, std::uint32_t* signal, std::uint32_t number) {
  return cuStreamWaitValue32(stream, reinterpret_cast<Address>(signal), number,
                             CU_STREAM_WAIT_VALUE_GEQ);
}
#else
using Address = hipDeviceptr_t;
constexpr auto success = hipSuccess;
auto range_and_number(void** found, Address data) {
  hipPointer_attribute wanted[] = {HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   HIP_POINTER_ATTRIBUTE_BUFFER_ID};
  return hipDrvPointerGetAttributes(2, wanted, found, data);
}
auto write_value(hipStream_t stream, std::uint32_t* signal, std::uint32_t number) {
  return hipStreamWriteValue32(stream, signal, number, 0);
}
auto await_value(hipStream_t stream, std::uint32_t* signal, std::uint32_t number) {
  return hipStreamWaitValue32(stream, signal, number, hipStreamWaitValueGte, 0xffffffff);
}
#endif

template <class Status>
void expects_driver(Status status, char const* call) {
  if (status != success)
    throw EnvironmentError(std::string(call) + " of the device's driver failed with code " +
                           std::to_string(static_cast<int>(status)));
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

void write_signal(Exec const& exec, std::uint32_t* signal, std::uint32_t number) {
  expects_driver(write_value(stream_of(exec), signal, number), "StreamWriteValue32");
}

void await_signal(Exec const& exec, std::uint32_t* signal, std::uint32_t number) {
  expects_driver(await_value(stream_of(exec), signal, number), "StreamWaitValue32");
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
