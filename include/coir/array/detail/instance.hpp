#pragma once

/// \file
/// On which instance of an execution space array statements run: the default one, or while record() records them,
/// the one that it gives.

#include <coir/core/errors.hpp>

#include <memory>
#include <string>
#include <vector>

namespace coir::detail {

/// What statements of this host thread need to know while they are recorded.
template <class Exec>
struct RecordingState {
  Exec const* exec;
  std::vector<std::shared_ptr<void>>* blocks;  ///< keeps the memory of temporaries, unless nullptr
};

template <class Exec>
inline thread_local RecordingState<Exec> const* recording_state = nullptr;

/// The instance that a statement runs on.
template <class Exec>
Exec instance() {
  return recording_state<Exec> ? *recording_state<Exec>->exec : Exec{};
}

/// The same for what the host waits for, or what launches what it can't give an instance to: that can't be recorded.
template <class Exec>
Exec immediate(char const* what) {
  if (recording_state<Exec>)
    throw PreconditionError(
        std::string(what) +
        " can't be recorded by record(): only assignments, reductions along an axis "
        "and vmap can; do the rest between two runs");
  return Exec{};
}

/// Statements of this host thread are recorded while this lives.
template <class Exec>
class WhileRecording {
 public:
  WhileRecording(Exec const& exec, std::vector<std::shared_ptr<void>>* blocks)
      : state_{&exec, blocks}, before_(recording_state<Exec>) {
    recording_state<Exec> = &state_;
  }
  ~WhileRecording() { recording_state<Exec> = before_; }
  WhileRecording(WhileRecording const&) = delete;
  WhileRecording& operator=(WhileRecording const&) = delete;

 private:
  RecordingState<Exec> state_;
  RecordingState<Exec> const* before_;
};

}  // namespace coir::detail
