#pragma once

namespace coir::apps {

/// While one lives, Ctrl-C (SIGINT) and SIGTERM only ask the program to stop: see interrupted().
/// A second signal of the same kind ends the program at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(InterruptGuard const&) = delete;
  InterruptGuard& operator=(InterruptGuard const&) = delete;
};

/// True once the user has asked the program to stop. Solvers' monitors poll this.
bool interrupted();

}  // namespace coir::apps
