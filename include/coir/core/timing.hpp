#pragma once

#include <coir/core/concepts.hpp>

#include <chrono>

namespace coir {

/// Wall-clock time of the work on one execution space instance.
///
/// Both ends fence, because kernels are asynchronous: work launched before the start isn't counted,
/// and work launched before seconds() is.
///
/// One that is off doesn't fence, and its seconds() are 0.
template <ExecutionSpace Exec>
class Stopwatch {
 public:
  explicit Stopwatch(Exec const& exec, bool on = true) : exec_(exec), on_(on) { restart(); }

  void restart() {
    if (!on_) return;
    exec_.fence();
    start_ = Clock::now();
  }

  /// Seconds since construction or restart(), after all work on the instance has ended.
  double seconds() const {
    if (!on_) return 0;
    exec_.fence();
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Exec exec_;
  bool on_;
  Clock::time_point start_{};
};

}  // namespace coir
