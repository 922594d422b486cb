#pragma once

/// \file
/// On which instance of an execution space array statements run: the default one, or while record() records them,
/// the one that it gives.

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>

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

/// Kokkos runs: arrays can be made, and statements run.
///
/// \throws PreconditionError before Kokkos::initialize and after Kokkos::finalize, on every backend alike
inline void expects_kokkos() {
  if (!Kokkos::is_initialized())
    throw PreconditionError(
        "Kokkos isn't running, and arrays need it: begin main with Kokkos::ScopeGuard or "
        "Kokkos::initialize, and make no array before it, after Kokkos::finalize, or as a global");
}

/// The instance that a statement runs on.
template <class Exec>
Exec instance() {
  expects_kokkos();
  return recording_state<Exec> ? *recording_state<Exec>->exec : Exec{};
}

/// The same for what the host waits for, or what launches what it can't give an instance to: that can't be recorded.
template <class Exec>
Exec immediate(char const* what) {
  if (recording_state<Exec>)
    throw PreconditionError(
        std::string(what) +
        " can't be recorded by record(): only assignments, reductions along an axis, "
        "products and vmap can; do the rest between two runs");
  expects_kokkos();
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
