#pragma once

/// Runs a program as a user would and keeps what it said.

#include <support/folder.hpp>

#include <string>

namespace coir::testing {

bool contains(std::string const& text, std::string const& part);

/// How many lines end in a text.
int lines_in(std::string const& text);

/// What a program left behind.
struct Outcome {
  int code = -1;  ///< exit code, or 128 + the signal that ended it
  std::string output;
  std::string errors;
};

/// Runs commands through the shell, with nothing to read, and waits for them.
///
/// \param command  as typed, with its own quoting
Outcome run_command(std::string const& command);

}  // namespace coir::testing
