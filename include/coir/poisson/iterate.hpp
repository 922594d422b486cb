#pragma once

/// \file
/// The loop around the sweeps of a stationary iteration, which may be a caller's own. It computes
/// the residual now and then, and decides when to stop.

#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/result.hpp>

#include <cstdint>
#include <functional>

namespace coir::poisson {

struct IterationLimits {
  std::int64_t sweeps;       ///< the most to make; at least 0
  double tolerance;          ///< on the relative residual, in [0, 1); 0 makes all the sweeps
  std::int64_t check_every;  ///< sweeps between looks at the residual; at least 1
  Monitor monitor;           ///< called about ten times a second
};

/// \throws PreconditionError if a limit is out of its range
void expects_limits(IterationLimits const& limits);

namespace detail {

/// The functions that the loop calls.
struct Sweeps {
  std::function<void(std::int64_t)> advance;
  std::function<void()> wait;             ///< waits until the sweeps are made
  std::function<double()> residual_norm;  ///< of the current field
  /// The largest of all ranks' numbers, so that all decide alike.
  std::function<double(double)> largest = [](double own) { return own; };
};

/// \param source_norm  the norm that relative residuals divide by
/// \param cells        of the grid
Result iterate(Sweeps const& sweeps, double source_norm, std::int64_t cells,
               IterationLimits const& limits);

}  // namespace detail

/// Sweeps until a limit is met. The sweeper offers
///   void advance(std::int64_t sweeps)   make them; may be asynchronous
///   auto current()                      the field, with its ring, as it is now
///   void finish()                       put the result into the caller's field
/// The residual is computed after the last sweep, and with a tolerance after every
/// limits.check_every sweeps. That is one pass over memory, which stores nothing.
template <CompiledSpace Exec, class B, class U, class Sweeper>
Result iterate(Exec const& exec, B const& b, U const& u, Sweeper& sweeper,
               IterationLimits const& limits) {
  detail::Sweeps const sweeps{[&](std::int64_t count) { sweeper.advance(count); },
                              [&] { exec.fence(); },
                              [&] { return residual_norm(exec, b, sweeper.current()); }};
  Result const result =
      detail::iterate(sweeps, source_norm(exec, b, u), static_cast<std::int64_t>(b.size()), limits);
  sweeper.finish();
  exec.fence();
  return result;
}

}  // namespace coir::poisson
