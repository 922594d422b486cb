#pragma once

/// \file
/// Runs a set on each of several builds, in turns.

#include "comparison.hpp"
#include "work_set.hpp"

#include <support/progress.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps::compare {

struct RunSettings {
  std::vector<std::string> builds;  ///< folders
  SetName set = SetName::quick;
  std::vector<std::string> only;  ///< names of works; empty: all
  std::filesystem::path output = "compare";
  std::optional<int> rounds;  ///< those of the set unless given
  std::string machine;        ///< its name; empty: the host's
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
};

/// Runs the works of the set in rounds, in each of which the builds take their turns program by program, the one that
/// began last time coming last. Rows that a build lacks, and those that fail, are named in `left_out`.
///
/// \throws InputError naming the command that builds it if a folder isn't a build with benchmarks
/// \throws EnvironmentError if no build can run here
/// \throws Failure if the user has asked the program to stop
Comparison measure(RunSettings const& settings);

}  // namespace coir::apps::compare
