#include <coir/core/errors.hpp>
#include <coir/poisson/iterate.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace coir::poisson {

void expects_limits(IterationLimits const& limits) {
  expects(limits.sweeps >= 0, "the number of sweeps must not be negative", limits.sweeps);
  expects(limits.tolerance >= 0 && limits.tolerance < 1, "the tolerance must lie in [0, 1)",
          limits.tolerance);
  expects(limits.check_every > 0, "the sweeps between checks must not be negative",
          limits.check_every);
}

namespace detail {

namespace {

class Loop {
 public:
  Loop(Sweeps const& sweeps, double source_norm, std::int64_t cells, IterationLimits const& limits)
      : sweeps_(sweeps), source_norm_(source_norm), limits_(limits) {
    result_.relative_residual = std::numeric_limits<double>::quiet_NaN();
    // The first slice is short on a large grid, so that the monitor is asked soon there, too.
    slice_ = limits.monitor
                 ? std::clamp<std::int64_t>((1 << 28) / std::max<std::int64_t>(1, cells), 1, 16)
                 : limits.sweeps;
  }

  Result run() {
    restart_clock();
    bool stop = checks() && must_stop();
    while (!stop && result_.iterations < limits_.sweeps) stop = advance();
    if (!checked_) look_at_the_last_sweep();
    return result_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double monitor_seconds = 0.1;
  // This many checks in a row that find no smaller residual are stagnation.
  static constexpr int patience = 8;

  bool checks() const { return limits_.tolerance > 0; }

  // Sweeps until a check or the monitor is due, and returns whether to stop.
  bool advance() {
    std::int64_t const to_check =
        checks() ? limits_.check_every - result_.iterations % limits_.check_every : limits_.sweeps;
    std::int64_t const step = std::min({to_check, limits_.sweeps - result_.iterations, slice_});
    sweeps_.advance(step);
    result_.iterations += step;
    checked_ = false;
    if (checks() && step == to_check && must_stop()) return true;
    return limits_.monitor && monitor_stops(step);
  }

  // Computes the residual, and decides whether to stop.
  bool must_stop() {
    result_.residual_norm = sweeps_.residual_norm();
    result_.relative_residual =
        source_norm_ > 0 ? result_.residual_norm / source_norm_ : result_.residual_norm;
    checked_ = true;
    if (!std::isfinite(result_.residual_norm) || !std::isfinite(source_norm_))
      return stop(StoppedBy::not_finite);
    result_.converged =
        result_.residual_norm == 0 || (checks() && result_.relative_residual <= limits_.tolerance);
    if (result_.converged) return stop(checks() ? StoppedBy::tolerance : StoppedBy::sweeps);
    if (result_.residual_norm < smallest_) {
      smallest_ = result_.residual_norm;
      checks_in_vain_ = 0;
    } else if (++checks_in_vain_ >= patience) {
      return stop(StoppedBy::stagnation);
    }
    return false;
  }

  bool stop(StoppedBy reason) {
    result_.stopped_by = reason;
    return true;
  }

  // Tells the monitor how many sweeps are done, and makes the next slice last until the monitor is
  // due again.
  bool monitor_stops(std::int64_t step) {
    sweeps_.wait();
    double const seconds = std::max(
        sweeps_.largest(std::chrono::duration<double>(Clock::now() - start_).count()), 1e-6);
    restart_clock();
    slice_ = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(static_cast<double>(step) * monitor_seconds / seconds), 1,
        std::min<std::int64_t>(4 * slice_, 1'000'000'000));
    bool const goes_on =
        limits_.monitor({result_.iterations, limits_.sweeps, result_.relative_residual});
    if (sweeps_.largest(goes_on ? 0 : 1) == 0 || result_.iterations >= limits_.sweeps) return false;
    return stop(StoppedBy::interrupted);
  }

  // Computes the residual after the last sweeps, for the result. An interruption remains the reason
  // to stop unless the residual isn't finite. This check doesn't count for stagnation.
  void look_at_the_last_sweep() {
    StoppedBy const reason = result_.stopped_by;
    must_stop();
    if (reason == StoppedBy::interrupted && result_.stopped_by != StoppedBy::not_finite)
      result_.stopped_by = reason;
    else if (result_.stopped_by == StoppedBy::stagnation)
      result_.stopped_by = StoppedBy::sweeps;
  }

  void restart_clock() {
    sweeps_.wait();
    start_ = Clock::now();
  }

  Sweeps const& sweeps_;
  double source_norm_;
  IterationLimits const& limits_;
  Result result_;
  std::int64_t slice_;
  bool checked_ = false;
  double smallest_ = std::numeric_limits<double>::infinity();
  int checks_in_vain_ = 0;
  Clock::time_point start_;
};

}  // namespace

Result iterate(Sweeps const& sweeps, double source_norm, std::int64_t cells,
               IterationLimits const& limits) {
  return Loop(sweeps, source_norm, cells, limits).run();
}

}  // namespace detail

}  // namespace coir::poisson
