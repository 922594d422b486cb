#pragma once

/// \file
/// Runs a program as a user would and keeps what it said.

#include <filesystem>
#include <string>

namespace coir::testing {

/// A folder of its own, removed with everything in it at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;

  std::filesystem::path const& path() const { return path_; }
  std::filesystem::path operator/(std::string const& name) const;

 private:
  std::filesystem::path path_;
};

std::string read_text(std::filesystem::path const& path);

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
