// Lines on hosts: FFTW's plans of columns, which threads share out.

#include "columns.hpp"
#include "effort.hpp"
#include "fftw.hpp"

#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/fft/detail/lines.hpp>

#include <mutex>

namespace coir::fft::detail {

namespace {

template <class Exec, class T>
class HostLines : public Lines<Exec, T> {
  using Number = std::array<T, 2>;

 public:
  HostLines(std::int64_t length, std::int64_t count, std::int64_t threads, Effort effort)
      : length_(length),
        threads_(threads),
        columns_(1, length, count, threads),
        bytes_(threads * columns_.buffer_bytes()),
        forward_(plan(Kind::complex_forward, effort)),
        backward_(plan(Kind::complex_backward, effort)) {
    expects_memory<Kokkos::HostSpace>(bytes_, "the work of a transform");
    buffers_ = Scratch<T>(bytes_);
  }

  void forward(Exec const& exec, void const* in, void* out) override {
    run(exec, in, out, forward_);
  }
  void backward(Exec const& exec, void const* in, void* out) override {
    run(exec, in, out, backward_);
  }
  bool filter(Exec const& exec, void* data,
              typename Lines<Exec, T>::Multiply const& multiply) override {
    for_each(exec, data, data, [&](Number* modes, std::int64_t first, std::int64_t width) {
      forward_(modes, modes);
      for (std::int64_t i = 0; i < length_; ++i)
        multiply(i, first, width, modes[i * columns<T>].data());
      backward_(modes, modes);
    });
    return true;
  }

 private:
  FftwPlan<T> plan(Kind kind, Effort effort) const {
    Scratch<T> const buffer(columns_.buffer_bytes());
    return FftwPlan<T>(kind, {{length_, columns<T>, columns<T>}}, Axis{columns<T>, 1, 1},
                       buffer.get(), buffer.get(), planner_flag(effort, length_));
  }
  void run(Exec const& exec, void const* in, void* out, FftwPlan<T> const& plan) {
    if (length_ == 1 && in == out) return;
    for_each(exec, in, out,
             [&plan](Number* modes, std::int64_t, std::int64_t) { plan(modes, modes); });
  }
  template <class What>
  void for_each(Exec const& exec, void const* in, void* out, What const& what) {
    std::lock_guard const lock(mutex_);
    for_columns(exec, threads_, columns_, static_cast<Number const*>(in), static_cast<Number*>(out),
                ThreadBuffers{buffers_.get(), columns_.buffer_bytes()}, what);
  }

  std::int64_t length_, threads_;
  Columns<T> columns_;
  std::int64_t bytes_;
  FftwPlan<T> forward_, backward_;
  Scratch<T> buffers_;
  std::mutex mutex_;
};

}  // namespace

template <class Exec, class T>
  requires runs_on_host<Exec>
std::shared_ptr<Lines<Exec, T>> lines(Exec const& exec, std::int64_t length, std::int64_t count,
                                      Effort effort) {
  return std::make_shared<HostLines<Exec, T>>(length, count, host_threads(exec), effort);
}

#define COIR_INSTANTIATE(Exec, T) \
  template std::shared_ptr<Lines<Exec, T>> lines(Exec const&, std::int64_t, std::int64_t, Effort);
COIR_INSTANTIATE(Kokkos::DefaultHostExecutionSpace, float)
COIR_INSTANTIATE(Kokkos::DefaultHostExecutionSpace, double)
#undef COIR_INSTANTIATE

}  // namespace coir::fft::detail
