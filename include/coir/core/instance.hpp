#pragma once

/// \file
/// On which instance of an execution space array statements run: the default one, while a Queue runs them its own, and while
/// record() records them the one that it gives.

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>

#include <memory>
#include <string>
#include <vector>

namespace coir::detail {

/// What statements of this host thread need to know while they don't run on the default instance.
template <class Exec>
struct InstanceState {
  Exec const* exec;
  std::vector<std::shared_ptr<void>>* blocks;  ///< keeps the memory of temporaries, unless nullptr
  bool recorded;  ///< by record(), to run later; else by a Queue, and they run now
};

template <class Exec>
inline thread_local InstanceState<Exec> const* instance_state = nullptr;

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
  return instance_state<Exec> ? *instance_state<Exec>->exec : Exec{};
}

/// The same for what the host waits for: that can't be recorded.
template <class Exec>
Exec immediate(char const* what) {
  if (instance_state<Exec> && instance_state<Exec>->recorded)
    throw PreconditionError(
        std::string(what) +
        " can't be recorded by record(): only assignments, reductions along an axis, "
        "products and vmap can; do the rest between two runs");
  return instance<Exec>();
}

/// The same for what uses memory of its own on the default instance, or launches what can't be given an instance.
template <class Exec>
Exec default_instance(char const* what) {
  Exec const exec = immediate<Exec>(what);
  if (instance_state<Exec>)
    throw PreconditionError(std::string(what) +
                            " can't run on a Queue, only on the default instance: do it before or "
                            "after Queue::run()");
  return exec;
}

/// Statements of this host thread run on an instance, or are recorded for it, while this lives.
template <class Exec>
class WhileOnInstance {
 public:
  WhileOnInstance(Exec const& exec, std::vector<std::shared_ptr<void>>* blocks, bool recorded)
      : state_{&exec, blocks, recorded}, before_(instance_state<Exec>) {
    instance_state<Exec> = &state_;
  }
  ~WhileOnInstance() { instance_state<Exec> = before_; }
  WhileOnInstance(WhileOnInstance const&) = delete;
  WhileOnInstance& operator=(WhileOnInstance const&) = delete;

 private:
  InstanceState<Exec> state_;
  InstanceState<Exec> const* before_;
};

}  // namespace coir::detail
