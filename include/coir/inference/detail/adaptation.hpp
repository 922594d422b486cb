#pragma once

/// The schedule of warm-up, and the step by dual averaging.

#include <coir/inference/detail/transition.hpp>
#include <coir/inference/options.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace coir::inference::detail {

/// When the metric is fitted: in windows that double in length, between draws at the start and at
/// the end that fit the step alone.
/// \see Stan Reference Manual, 15.2
class Windows {
 public:
  explicit Windows(std::int64_t warmup) {
    if (warmup < 20) return;
    std::int64_t window = 25;
    first_ = 75;
    last_ = warmup - 50;
    if (first_ + window > last_) {
      first_ = static_cast<std::int64_t>(0.15 * double(warmup));
      last_ = warmup - static_cast<std::int64_t>(0.1 * double(warmup));
      window = last_ - first_;
    }
    window_ = window;
  }

  bool holds(std::int64_t draw) const { return draw >= first_ && draw < last_; }

  /// Whether a window ends with this draw. The last one is longer where it would leave too little.
  bool ends(std::int64_t draw) const {
    std::int64_t end = first_;
    for (std::int64_t size = window_; end < last_; size *= 2) {
      end += size;
      if (end + 2 * size > last_) end = last_;
      if (draw + 1 == end) return true;
    }
    return false;
  }

 private:
  std::int64_t first_ = 0, last_ = 0, window_ = 0;
};

/// The step for which the mean acceptance is as asked for.
/// \see Hoffman & Gelman, J. Mach. Learn. Res. 15, 1593 (2014), section 3.2
class DualAveraging {
 public:
  explicit DualAveraging(Options const& options) : wanted_(options.acceptance) {}

  void restart(double step) {
    aim_ = std::log(10 * step);
    log_step_ = std::log(step);
    log_average_ = error_ = 0;
    count_ = 0;
  }
  void update(Transition const& draw) {
    ++count_;
    error_ += (wanted_ - draw.acceptance - error_) / (count_ + 10);
    log_step_ = aim_ - std::sqrt(count_) / 0.05 * error_;
    log_average_ += std::pow(count_, -0.75) * (log_step_ - log_average_);
  }
  void finish() {
    if (count_ > 0) log_step_ = log_average_;
  }
  double step() const { return std::exp(log_step_); }

  template <class Archive>
  void visit(Archive& archive) {
    archive(aim_);
    archive(log_step_);
    archive(log_average_);
    archive(error_);
    archive(count_);
  }

 private:
  double wanted_, aim_ = 0, log_step_ = 0, log_average_ = 0, error_ = 0, count_ = 0;
};

}  // namespace coir::inference::detail
