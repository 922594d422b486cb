#include "command.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

namespace coir::testing {

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
