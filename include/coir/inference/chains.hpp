#pragma once

/// What samplers return: draws, statistics of each draw, and the state that a run goes on from.

#include <coir/array/creation.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace coir::inference {

/// Chains of draws, in host memory.
struct Chains {
  /// Places along the last axis of `statistics`. The energy is that of the momentum less the log
  /// density, and NaN for microcanonical samplers. The acceptance is a mean over the trajectory,
  /// steps are those taken, and `diverged` counts transitions. With thin > 1 the last three are of
  /// all transitions since the draw before.
  static constexpr int log_density = 0, energy = 1, acceptance = 2, steps = 3, diverged = 4;
  static constexpr int statistics_of_a_draw = 5;

  Array<double, 3, Kokkos::HostSpace> draws;       ///< (chain, draw, parameter)
  Array<double, 3, Kokkos::HostSpace> statistics;  ///< (chain, draw, statistic)
  std::vector<double> state;                       ///< from which the same sampler goes on
  bool biased = false;  ///< the sampler has no Metropolis test, so that moments are biased
};

/// Starts of chains as an array of (chain, parameter).
///
/// \throws PreconditionError if there is none, or chains have different numbers of parameters
Array<double, 2, Kokkos::HostSpace> starts(std::vector<std::vector<double>> const& chains);

/// Writes draws.npy, statistics.npy and state.npy into a folder, which is made if it isn't there.
/// Each file is whole or not there. The three aren't replaced in one step: a program that is killed
/// while it saves over older chains may leave files of two times, which read_chains() or the
/// sampler refuses. For checkpoints take two folders in turns.
///
/// \throws ResourceError if they can't be written
void save(std::filesystem::path const& folder, Chains const& chains);

/// Reads what save() has written.
///
/// \throws InputError if a file is missing or malformed, or the files don't belong together
Chains read_chains(std::filesystem::path const& folder);

}  // namespace coir::inference
