#include <support/exit_codes.hpp>
#include <support/stack_limit.hpp>

#include <coir/core/threads.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace coir::apps {

void expects_usable_stack(char const* program) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least_stack_bytes) return;
  if (program == nullptr) program = "coir";
  if (char const* const slash = std::strrchr(program, '/')) program = slash + 1;
  char line[256];
  int const length = std::snprintf(
      line, sizeof line,
      "%.60s: error: the stack may grow to %llu KiB only, below the %zu KiB that are needed: raise "
      "the limit, as by ulimit -s 8192\n",
      program, static_cast<unsigned long long>(limit.rlim_cur >> 10), least_stack_bytes >> 10);
  [[maybe_unused]] auto const written =
      write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  _exit(static_cast<int>(ExitCode::environment));
}

}  // namespace coir::apps
