#include <support/captured_errors.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <iostream>
#include <utility>

namespace coir::apps {

namespace {

// Plain functions and integers: before main() neither constructors nor the streams have run.

/// Puts a pipe in place of stderr; returns what stderr was, and the end of the pipe to read from.
void start(int& kept, int& pipe_end) {
  kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int ends[2] = {-1, -1};
  // What doesn't fit into the pipe is lost rather than waited for.
  if (kept < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    if (kept >= 0) close(kept);
    kept = -1;
    return;
  }
  dup2(ends[1], STDERR_FILENO);
  close(ends[1]);
  pipe_end = ends[0];
}

std::string stop(int& kept, int& pipe_end) {
  std::string text;
  if (kept < 0) return text;
  char part[4096];
  for (ssize_t got; (got = read(pipe_end, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  dup2(kept, STDERR_FILENO);
  close(std::exchange(kept, -1));
  close(std::exchange(pipe_end, -1));
  return text;
}

int stderr_before_main = -1;
int pipe_before_main = -1;

#if defined(__linux__) && defined(__GLIBC__)
void start_before_main(int, char**, char**) { start(stderr_before_main, pipe_before_main); }

// What stands in this section of a program runs before the constructors of its libraries.
__attribute__((section(".preinit_array"),
               used)) void (*const before_libraries)(int, char**, char**) = start_before_main;
#endif

}  // namespace

CapturedErrors::CapturedErrors() { start(stderr_, pipe_); }
CapturedErrors::~CapturedErrors() { text(); }
std::string CapturedErrors::text() {
  std::cerr.clear();  // a full pipe made it refuse what follows
  return stop(stderr_, pipe_);
}

std::string errors_before_main() { return stop(stderr_before_main, pipe_before_main); }

}  // namespace coir::apps
