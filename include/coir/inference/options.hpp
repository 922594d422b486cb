#pragma once

/// How samplers run, and what they tell while they do.

#include <cstdint>
#include <functional>

namespace coir::inference {

/// What the metric of a sampler is fitted to in warm-up: nothing, the variance of each parameter,
/// or the covariance of all, which takes n^2 numbers and operations a step.
enum class Mass { unit, diagonal, dense };

/// How a sampler runs. All draws of one run have the same options.
struct Options {
  std::int64_t warmup = 1000;  ///< draws that fit the step and the metric, and aren't kept; >= 0
  std::int64_t draws = 1000;   ///< draws of each chain after these; >= 1
  std::int64_t thin = 1;       ///< one draw in so many is kept; >= 1
  Mass mass = Mass::diagonal;
  double acceptance = 0.8;  ///< warm-up fits the step to this mean acceptance; in (0, 1)
  double step = 0;          ///< the first step; 0: one is looked for
  int depth = 10;           ///< nuts: at most 2^depth - 1 steps a draw; 1 to 30
  /// hmc, chees, microcanonical: the length of a trajectory, > 0, in units in which the target has
  /// unit variance. pi/2 is a quarter of the period of a Gaussian. chees() only begins with it.
  double length = 1.5707963267948966;
  /// hmc, microcanonical: lengths are spread evenly over length (1 -+ jitter); in [0, 1).
  double jitter = 0.5;
  int most_steps = 1000;  ///< of a trajectory; >= 1
  /// microcanonical_unadjusted: warm-up fits the step to this variance of the energy's error in a
  /// step, per parameter; > 0.
  double energy_error = 5e-4;
  std::int64_t told_every = 100;  ///< draws of each chain between two calls of the progress; >= 1
  /// hmc, nuts, microcanonical, on hosts: whether each chain has a thread. If not, chains take
  /// turns, each with all threads.
  bool a_chain_a_thread = true;
};

/// How far a run is.
struct Progress {
  std::int64_t done = 0;   ///< draws of each chain so far, warm-up and left out ones included
  std::int64_t total = 0;  ///< draws of each chain at the end, counted the same way
  bool warming = true;
  std::int64_t divergences = 0;  ///< of all chains after warm-up
  double draws_per_second = 0;   ///< of all chains together, in this run
  double seconds_left = 0;       ///< at this speed
};

/// Called between draws, and after the last one, by the thread that started the run. If the call
/// returns false, the run ends, and the sampler can go on later from the chains that the run
/// returned.
using OnProgress = std::function<bool(Progress const&)>;

}  // namespace coir::inference
