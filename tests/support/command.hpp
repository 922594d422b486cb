#pragma once

/// \file
/// Runs a program as a user would and keeps what it said.

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace coir::testing {

/// A folder of its own, removed with everything in it at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "coir-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;

  std::filesystem::path const& path() const { return path_; }
  std::filesystem::path operator/(std::string const& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What a program left behind.
struct Outcome {
  int code = -1;  ///< exit code, or 128 + the signal that ended it
  std::string output;
  std::string errors;
};

/// Runs one command through the shell and waits for it.
///
/// \param command  as typed, with its own quoting; must not redirect its output
inline Outcome run_command(std::string const& command) {
  TemporaryFolder const folder;
  std::string const redirected = command + " >" + (folder / "output").string() + " 2>" +
                                 (folder / "errors").string() + " </dev/null";
  int const status = std::system(redirected.c_str());
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.output = read_text(folder / "output");
  outcome.errors = read_text(folder / "errors");
  return outcome;
}

}  // namespace coir::testing
