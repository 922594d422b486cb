#pragma once

/// Many jobs of several kinds, and the cost of wrong guesses of where they run faster.

#include "figures.hpp"
#include "model.hpp"

#include <functional>
#include <string>
#include <vector>

namespace coir::apps::offload {

/// A kind of job.
struct Job {
  OffloadWork work;
  double size = 1;
  double share = 0;  ///< of the time that all jobs take on the cores; all shares make 1
  std::string row;   ///< of the comparison that measured it; empty if it is described
  Times times = {};
};

/// A way to decide where jobs run.
struct Policy {
  std::string name;
  double time;       ///< of all jobs, in times of what they take on the cores
  double lost;       ///< the same in times of right guesses
  double most_lost;  ///< the largest factor that a job of some kind loses against a right guess
};

/// Reads kinds of jobs from JSON; README.md says how they are written. Shares are scaled to make 1.
///
/// \param measured  finds the rows that jobs name; may throw
/// \throws InputError naming the file, the place, what is wrong there and what may stand there
std::vector<Job> fleet_in(std::string const& text, std::string const& name,
                          std::function<Measured(std::string const& row)> const& measured);

/// The time that each policy takes: all on the cores, all on the device, each where it is faster,
/// each where it is slower, and on the device until `stop_after` times the time on the cores have
/// passed, then anew on the cores.
std::vector<Policy> policies_of(std::vector<Job> const& jobs, double stop_after);

/// The largest factor that the last of these can lose on any job:  max(1 + s, 1 + 1/s), at least 2,
/// with s = 1. One that is faster on the device, but not done by then, is done on the cores after 1
/// + s times their time.
double stop_loss(double stop_after);

}  // namespace coir::apps::offload
