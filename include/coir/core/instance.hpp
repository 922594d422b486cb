#pragma once

/// \file
/// The instance of an execution space that array statements run on: the queue's inside
/// Queue::run(), the recording's while record() captures statements, and otherwise the default one.

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>

#include <memory>
#include <string>
#include <vector>

namespace coir::detail {

/// Where array statements of this host thread run, if not on the default instance.
template <class Exec>
struct InstanceState {
  Exec const* exec;
  std::vector<std::shared_ptr<void>>* blocks;  ///< keeps the memory of temporaries, unless nullptr
  bool recorded;  ///< true: record() captures statements; false: a Queue runs them
};

template <class Exec>
inline thread_local InstanceState<Exec> const* instance_state = nullptr;

/// Checks that Kokkos is running, which arrays and statements need.
///
/// \throws PreconditionError before Kokkos::initialize and after Kokkos::finalize, on every backend
///   alike
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

/// The instance for an operation that makes the host wait, and so can't be recorded.
///
/// \param what  the operation, for the message
/// \throws PreconditionError while record() records
template <class Exec>
Exec immediate(char const* what) {
  if (instance_state<Exec> && instance_state<Exec>->recorded)
    throw PreconditionError(
        std::string(what) +
        " can't be recorded by record(): only assignments, reductions along an axis, "
        "products and vmap can; do the rest between two runs");
  return instance<Exec>();
}

/// During its lifetime array statements of this host thread run on an instance, or are recorded for
/// it.
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

namespace coir {

/// The default instance, for an operation that keeps memory between calls or whose library takes no
/// instance.
///
/// \param what  the operation, for the message
/// \throws PreconditionError while record() records or a Queue runs
template <class Exec>
Exec default_instance(char const* what) {
  Exec const exec = detail::immediate<Exec>(what);
  if (detail::instance_state<Exec>)
    throw PreconditionError(std::string(what) +
                            " can't run on a Queue, only on the default instance: do it before or "
                            "after Queue::run()");
  return exec;
}

}  // namespace coir
