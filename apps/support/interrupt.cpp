#include <support/interrupt.hpp>

#include <csignal>

namespace coir::apps {

namespace {

std::sig_atomic_t volatile was_interrupted = 0;

void remember(int) { was_interrupted = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  was_interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESETHAND | SA_RESTART;  // the second signal finds the default: the end
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool interrupted() { return was_interrupted != 0; }

}  // namespace coir::apps
