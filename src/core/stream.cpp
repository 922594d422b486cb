#include <coir/core/errors.hpp>
#include <coir/core/stream.hpp>

#include <string>

namespace coir {

namespace {

#if defined(KOKKOS_ENABLE_CUDA)

void expects_success(cudaError_t status, char const* call) {
  if (status != cudaSuccess)
    throw EnvironmentError(std::string(call) + ": " + cudaGetErrorString(status));
}

// Makes one stream wait for another. The event may be destroyed at once: the runtime keeps it until the wait is over.
void order(cudaStream_t later, cudaStream_t earlier) {
  if (later == earlier) return;
  cudaEvent_t event = nullptr;
  expects_success(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  cudaError_t const recorded = cudaEventRecord(event, earlier);
  cudaError_t const waits =
      recorded == cudaSuccess ? cudaStreamWaitEvent(later, event, 0) : recorded;
  cudaEventDestroy(event);
  expects_success(waits, "cudaStreamWaitEvent");
}

#elif defined(KOKKOS_ENABLE_HIP)

void expects_success(hipError_t status, char const* call) {
  if (status != hipSuccess)
    throw EnvironmentError(std::string(call) + ": " + hipGetErrorString(status));
}

void order(hipStream_t later, hipStream_t earlier) {
  if (later == earlier) return;
  hipEvent_t event = nullptr;
  expects_success(hipEventCreateWithFlags(&event, hipEventDisableTiming), "hipEventCreate");
  hipError_t const recorded = hipEventRecord(event, earlier);
  hipError_t const waits = recorded == hipSuccess ? hipStreamWaitEvent(later, event, 0) : recorded;
  static_cast<void>(hipEventDestroy(event));
  expects_success(waits, "hipStreamWaitEvent");
}

#endif

}  // namespace

template <CompiledSpace Exec>
void begin_after([[maybe_unused]] Exec const& later, [[maybe_unused]] Exec const& earlier) {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  if constexpr (!runs_on_host<Exec>) order(stream_of(later), stream_of(earlier));
#endif
}

template void begin_after(Kokkos::DefaultHostExecutionSpace const&,
                          Kokkos::DefaultHostExecutionSpace const&);
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
template void begin_after(Kokkos::DefaultExecutionSpace const&,
                          Kokkos::DefaultExecutionSpace const&);
#endif

}  // namespace coir
