#include <coir/core/errors.hpp>
#include <coir/core/instance.hpp>
#include <coir/core/own_instance.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace coir {

namespace {

#if defined(KOKKOS_ENABLE_CUDA)

using Stream = cudaStream_t;

Stream new_stream() {
  Stream stream = nullptr;
  cudaError_t const status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  if (status != cudaSuccess)
    throw EnvironmentError(std::string("cudaStreamCreate: ") + cudaGetErrorString(status));
  return stream;
}

#elif defined(KOKKOS_ENABLE_HIP)

using Stream = hipStream_t;

Stream new_stream() {
  Stream stream = nullptr;
  hipError_t const status = hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
  if (status != hipSuccess)
    throw EnvironmentError(std::string("hipStreamCreate: ") + hipGetErrorString(status));
  return stream;
}

#endif

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)

/// Streams are never destroyed, so that kept copies of an instance stay valid.
class Streams {
 public:
  Stream take() {
    std::lock_guard const lock(mutex_);
    if (free_.empty()) return new_stream();
    Stream const stream = free_.back();
    free_.pop_back();
    return stream;
  }
  void give_back(Stream stream) {
    std::lock_guard const lock(mutex_);
    free_.push_back(stream);
  }

 private:
  std::mutex mutex_;
  std::vector<Stream> free_;
};

Streams& streams() {
  static auto* const all = new Streams;
  return *all;
}

#endif

template <class Exec>
std::shared_ptr<void> stream_for() {
  detail::expects_kokkos();
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  if constexpr (!runs_on_host<Exec>)
    return {streams().take(),
            [](void* stream) { streams().give_back(static_cast<Stream>(stream)); }};
#endif
  return nullptr;
}

template <class Exec>
Exec instance_on([[maybe_unused]] void* stream) {
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
  if constexpr (!runs_on_host<Exec>) return Exec(static_cast<Stream>(stream));
#endif
  return Exec();
}

}  // namespace

template <CompiledSpace Exec>
OwnInstance<Exec>::OwnInstance()
    : stream_(stream_for<Exec>()), exec_(instance_on<Exec>(stream_.get())) {}

template <CompiledSpace Exec>
OwnInstance<Exec>::~OwnInstance() {
  exec_.fence();
}

template class OwnInstance<Kokkos::DefaultHostExecutionSpace>;
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
template class OwnInstance<Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace coir
