#include <support/captured_errors.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <iostream>
#include <utility>

namespace coir::apps {

void ErrorPipe::open() {
  kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  int ends[2] = {-1, -1};
  if (kept < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    if (kept >= 0) ::close(kept);
    kept = -1;
    return;
  }
  dup2(ends[1], STDERR_FILENO);
  ::close(ends[1]);
  end = ends[0];
}

std::string ErrorPipe::close() {
  std::string text;
  if (kept < 0) return text;
  char part[4096];
  for (ssize_t got; (got = read(end, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  dup2(kept, STDERR_FILENO);
  ::close(std::exchange(kept, -1));
  ::close(std::exchange(end, -1));
  return text;
}

CapturedErrors::CapturedErrors() { pipe_.open(); }
CapturedErrors::~CapturedErrors() { text(); }
std::string CapturedErrors::text() {
  std::cerr.clear();  // a full pipe made it refuse what follows
  return pipe_.close();
}

}  // namespace coir::apps
