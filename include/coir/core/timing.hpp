#pragma once

#include <coir/core/concepts.hpp>

#include <chrono>

namespace coir {

/// Wall-clock time of the work on one execution space instance.
///
/// Both ends fence, because kernels are asynchronous: work launched before the start isn't counted,
/// and work launched before seconds() is.
template <ExecutionSpace Exec>
class Stopwatch {
 public:
  explicit Stopwatch(Exec const& exec) : exec_(exec) { restart(); }

  void restart() {
    exec_.fence();
    start_ = Clock::now();
  }

  /// Seconds since construction or restart(), after all work on the instance has ended.
  double seconds() const {
    exec_.fence();
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Exec exec_;
  Clock::time_point start_;
};

}  // namespace coir
