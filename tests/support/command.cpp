#include "command.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace coir::testing {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "coir-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::operator/(std::string const& name) const {
  return path_ / name;
}

std::string read_text(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

int lines_in(std::string const& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

Outcome run_command(std::string const& command) {
  TemporaryFolder const folder;
  std::string const redirected = "{ " + command + "\n} >" + (folder / "output").string() + " 2>" +
                                 (folder / "errors").string() + " </dev/null";
  int const status = std::system(redirected.c_str());
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.output = read_text(folder / "output");
  outcome.errors = read_text(folder / "errors");
  return outcome;
}

}  // namespace coir::testing
