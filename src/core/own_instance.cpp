#include "device_runtime.hpp"

#include <coir/core/instance.hpp>
#include <coir/core/own_instance.hpp>

#include <mutex>
#include <vector>

namespace coir {

namespace {

#ifdef COIR_RUNTIME

using Stream = COIR_RUNTIME(Stream_t);

/// Streams are never destroyed, so that kept copies of an instance stay valid.
class Streams {
 public:
  explicit Streams(Precedence precedence) : precedence_(precedence) {}

  Stream take() {
    std::lock_guard const lock(mutex_);
    Stream stream = nullptr;
    if (free_.empty()) {
      // 0 is the default stream's, and a smaller number comes first.
      int least = 0, most = 0;
      detail::expects_success(COIR_RUNTIME(DeviceGetStreamPriorityRange)(&least, &most),
                              "DeviceGetStreamPriorityRange");
      detail::expects_success(
          COIR_RUNTIME(StreamCreateWithPriority)(&stream, COIR_RUNTIME(StreamNonBlocking),
                                                 precedence_ == Precedence::first ? most : 0),
          "StreamCreate");
    } else {
      stream = free_.back();
      free_.pop_back();
    }
    return stream;
  }
  void give_back(Stream stream) {
    std::lock_guard const lock(mutex_);
    free_.push_back(stream);
  }

 private:
  Precedence const precedence_;
  std::mutex mutex_;
  std::vector<Stream> free_;
};

Streams& streams(Precedence precedence) {
  static auto* const usual = new Streams(Precedence::none);
  static auto* const first = new Streams(Precedence::first);
  return precedence == Precedence::first ? *first : *usual;
}

#endif

template <class Exec>
std::shared_ptr<void> stream_for([[maybe_unused]] Precedence precedence) {
  detail::expects_kokkos();
#ifdef COIR_RUNTIME
  if constexpr (!runs_on_host<Exec>)
    return {streams(precedence).take(), [precedence](void* stream) {
              streams(precedence).give_back(static_cast<Stream>(stream));
            }};
#endif
  return nullptr;
}

template <class Exec>
Exec instance_on([[maybe_unused]] void* stream) {
#ifdef COIR_RUNTIME
  if constexpr (!runs_on_host<Exec>) return Exec(static_cast<Stream>(stream));
#endif
  return Exec();
}

}  // namespace

template <CompiledSpace Exec>
OwnInstance<Exec>::OwnInstance(Precedence precedence)
    : stream_(stream_for<Exec>(precedence)), exec_(instance_on<Exec>(stream_.get())) {}

template <CompiledSpace Exec>
OwnInstance<Exec>::~OwnInstance() {
  exec_.fence();
}

template class OwnInstance<Kokkos::DefaultHostExecutionSpace>;
#ifdef COIR_RUNTIME
template class OwnInstance<Kokkos::DefaultExecutionSpace>;
#endif

}  // namespace coir
