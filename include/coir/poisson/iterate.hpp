#pragma once

/// \file
/// The loop of the stationary iterations, for sweeps of one's own, too: when it looks at the residual, and when it stops.

#include <coir/core/errors.hpp>
#include <coir/core/timing.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/result.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace coir::poisson {

struct IterationLimits {
  std::int64_t sweeps;       ///< the most to make; at least 0
  double tolerance;          ///< on the relative residual, in [0, 1); 0 makes all the sweeps
  std::int64_t check_every;  ///< sweeps between looks at the residual; at least 1
  Monitor monitor;           ///< called about ten times a second
};

/// \throws PreconditionError if a limit is out of its range
inline void expects_limits(IterationLimits const& limits) {
  expects(limits.sweeps >= 0, "the number of sweeps must not be negative", limits.sweeps);
  expects(limits.tolerance >= 0 && limits.tolerance < 1, "the tolerance must lie in [0, 1)",
          limits.tolerance);
  expects(limits.check_every > 0, "the sweeps between checks must not be negative",
          limits.check_every);
}

/// Sweeps until a limit is met. The sweeper offers
///   void advance(std::int64_t sweeps)   make them; may be asynchronous
///   auto current()                      the field, with its ring, as it is now
///   void finish()                       put the result into the caller's field
/// The residual is looked at after the last sweep, and with a tolerance after every
/// limits.check_every sweeps: one pass over memory that stores nothing.
template <class Exec, class B, class U, class Sweeper>
Result iterate(Exec const& exec, B const& b, U const& u, Sweeper& sweeper,
               IterationLimits const& limits) {
  constexpr double monitor_seconds = 0.1;
  constexpr int patience =
      8;  // checks without a new smallest residual before it counts as stagnation

  double const scale = source_norm(exec, b, u);
  Result result;
  result.relative_residual = std::numeric_limits<double>::quiet_NaN();
  double smallest = std::numeric_limits<double>::infinity();
  int checks_in_vain = 0;
  // The first slice is short on a large grid, so that the monitor is soon heard there, too.
  std::int64_t const cells = std::max<std::int64_t>(1, static_cast<std::int64_t>(b.size()));
  std::int64_t slice =
      limits.monitor ? std::clamp<std::int64_t>((1 << 28) / cells, 1, 16) : limits.sweeps;
  Stopwatch<Exec> watch(exec);

  bool checked = false;
  auto const check = [&] {
    result.residual_norm = residual_norm(exec, b, sweeper.current());
    result.relative_residual = scale > 0 ? result.residual_norm / scale : result.residual_norm;
    checked = true;
    if (!std::isfinite(result.residual_norm) || !std::isfinite(scale)) {
      result.stopped_by = StoppedBy::not_finite;
      return true;
    }
    result.converged = result.residual_norm == 0 ||
                       (limits.tolerance > 0 && result.relative_residual <= limits.tolerance);
    if (result.converged) {
      result.stopped_by = limits.tolerance > 0 ? StoppedBy::tolerance : StoppedBy::sweeps;
      return true;
    }
    if (result.residual_norm < smallest) {
      smallest = result.residual_norm;
      checks_in_vain = 0;
    } else if (++checks_in_vain >= patience) {
      result.stopped_by = StoppedBy::stagnation;
      return true;
    }
    return false;
  };

  bool stop = limits.tolerance > 0 && check();
  while (!stop && result.iterations < limits.sweeps) {
    std::int64_t const to_check = limits.tolerance > 0
                                      ? limits.check_every - result.iterations % limits.check_every
                                      : limits.sweeps;
    std::int64_t const step = std::min({to_check, limits.sweeps - result.iterations, slice});
    sweeper.advance(step);
    result.iterations += step;
    checked = false;
    if (limits.tolerance > 0 && step == to_check) stop = check();
    if (limits.monitor && !stop) {
      double const seconds = std::max(watch.seconds(), 1e-6);
      watch.restart();
      slice = std::clamp<std::int64_t>(
          static_cast<std::int64_t>(static_cast<double>(step) * monitor_seconds / seconds), 1,
          std::min<std::int64_t>(4 * slice, 1'000'000'000));
      if (!limits.monitor({result.iterations, limits.sweeps, result.relative_residual}) &&
          result.iterations < limits.sweeps) {
        result.stopped_by = StoppedBy::interrupted;
        stop = true;
      }
    }
  }
  if (!checked) {
    StoppedBy const reason = result.stopped_by;
    check();
    // The last look only tells how far it got, unless it finds an end that the loop did not see.
    if (reason == StoppedBy::interrupted && result.stopped_by != StoppedBy::not_finite)
      result.stopped_by = reason;
    else if (result.stopped_by == StoppedBy::stagnation)
      result.stopped_by = StoppedBy::sweeps;
  }
  sweeper.finish();
  exec.fence();
  return result;
}

}  // namespace coir::poisson
