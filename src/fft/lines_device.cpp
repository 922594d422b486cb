// Lines on devices: cuFFT or hipFFT, which take a stride between the numbers of a line.

#include "device_plan.hpp"

#include <coir/fft/detail/lines.hpp>

#include <mutex>

namespace coir::fft::detail {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

template <class T>
class DeviceLines : public Lines<Exec, T> {
  using L = Library<T>;

 public:
  DeviceLines(std::int64_t length, std::int64_t count)
      : handle_(length, count, L::complex), work_(static_cast<std::int64_t>(handle_.work_bytes())) {
    work_.lend_to(handle_);
  }

  void forward(Exec const& exec, void const* in, void* out) override { run(exec, in, out, -1); }
  void backward(Exec const& exec, void const* in, void* out) override { run(exec, in, out, +1); }

 private:
  void run(Exec const& exec, void const* in, void* out, int sign) {
    using Number = typename L::Complex;
    std::lock_guard const lock(mutex_);
    // The libraries' interfaces know no const; plans of complex numbers don't write to an input
    // that lies apart.
    check(L::run_complex(on_stream(handle_, exec), static_cast<Number*>(const_cast<void*>(in)),
                         static_cast<Number*>(out), sign),
          "Exec");
  }

  Handle handle_;
  WorkArea work_;
  std::mutex mutex_;
};

}  // namespace

template <class Exec, class T>
  requires(!runs_on_host<Exec>)
std::shared_ptr<Lines<Exec, T>> lines(Exec const&, std::int64_t length, std::int64_t count,
                                      Effort) {
  return std::make_shared<DeviceLines<T>>(length, count);
}

#define COIR_INSTANTIATE(T) \
  template std::shared_ptr<Lines<Exec, T>> lines(Exec const&, std::int64_t, std::int64_t, Effort);
COIR_INSTANTIATE(float)
COIR_INSTANTIATE(double)
#undef COIR_INSTANTIATE

}  // namespace coir::fft::detail
