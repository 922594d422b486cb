#pragma once

/// Runs a set on each of several builds, and on peers, in turns.

#include "comparison.hpp"
#include "peers.hpp"
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
  PeerSettings peers;
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
};

/// Runs the works of the set in rounds. In each round builds and peers take their turns, program by
/// program, and the one that began the last round comes last. `left_out` names rows that a build
/// lacks and rows that fail, but not rows that peers lack.
///
/// \param notes  what else the user is to know is added here
/// \throws InputError naming the command that builds it if a folder isn't a build with benchmarks
/// \throws EnvironmentError if no build, or a peer that was named, can run here
/// \throws Failure if the user has asked the program to stop
Comparison measure(RunSettings const& settings, std::vector<std::string>& notes);

}  // namespace coir::apps::compare
