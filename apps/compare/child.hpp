#pragma once

#include <functional>
#include <string>
#include <vector>

namespace coir::apps::compare {

/// The status and output of a program that has ended.
struct ChildOutcome {
  int status = 0;  ///< as waitpid() gives it
  std::string output;
  std::string errors;

  bool succeeded() const { return status == 0; }
  /// "ended with code 1: <its last line on stderr>", or "was ended by signal 11 (Segmentation
  /// fault)"
  std::string how_it_ended() const;
};

/// Runs a program on the cores that this one was started on, with nothing to read, and waits for
/// it. A program that can't be started ends with code 127 and says why.
///
/// \param command  path and arguments; the path is taken as it is
/// \param watch    called some times a second with the output so far; may be empty
/// \throws Failure if the user has asked this program to stop; the other one is then ended
ChildOutcome run_child(std::vector<std::string> const& command,
                       std::function<void(std::string const&)> const& watch = {});

}  // namespace coir::apps::compare
