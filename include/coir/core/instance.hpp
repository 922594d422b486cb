#pragma once

/// \file
/// The instance of an execution space that array statements run on: the queue's inside
/// Queue::run(), the recording's while record() captures statements, and otherwise the default one.

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace coir::detail {

/// Memory of the arrays that statements make while they are recorded. The statements run one after
/// the other in each run, so that the memory of an array that is gone serves the next one.
class RecordedBlocks : public std::enable_shared_from_this<RecordedBlocks> {
 public:
  /// A block of at least `bytes`.
  ///
  /// \param allocate  called with the size of a new block
  template <class Allocate>
  std::shared_ptr<void> take(std::int64_t bytes, Allocate const& allocate) {
    any_ = true;
    auto const fit = free_.lower_bound(bytes);
    bool const reuses = fit != free_.end() && fit->first <= 2 * bytes;
    std::int64_t const size = reuses ? fit->first : bytes;
    std::shared_ptr<void> const block = reuses ? fit->second : allocate(bytes);
    if (reuses)
      free_.erase(fit);
    else
      kept_.push_back(block);
    void* const data = block.get();
    return {data, [blocks = weak_from_this(), block, size](void*) {
              if (auto const own = blocks.lock(); own && own->records_)
                own->free_.emplace(size, block);
            }};
  }

  bool empty() const { return !any_; }
  /// Whether an array's memory is from here.
  bool holds(void const* data) const {
    for (auto const& block : kept_)
      if (block.get() == data) return true;
    return false;
  }
  /// From now on blocks aren't handed on.
  void close() {
    records_ = false;
    free_.clear();
  }

 private:
  std::multimap<std::int64_t, std::shared_ptr<void>> free_;
  std::vector<std::shared_ptr<void>> kept_;
  bool any_ = false, records_ = true;
};

/// What record() keeps beside the statements.
struct RecordedState {
  /// nullptr where each run calls the statements again.
  std::shared_ptr<RecordedBlocks> blocks = std::make_shared<RecordedBlocks>();
  /// Each throws if an array isn't where it was.
  std::vector<std::function<void()>> checks;
};

/// Where array statements of this host thread run, if not on the default instance.
template <class Exec>
struct InstanceState {
  Exec const* exec;
  std::vector<std::shared_ptr<void>>* blocks;  ///< keeps the memory of a Queue's temporaries
  RecordedState* recorded;                     ///< of record(); nullptr on a Queue
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

/// Whether record() records statements of this host thread.
template <class Exec>
bool is_recording() {
  return instance_state<Exec> && instance_state<Exec>->recorded;
}

/// During its lifetime array statements of this host thread run on an instance, or are recorded for
/// it.
template <class Exec>
class WhileOnInstance {
 public:
  WhileOnInstance(Exec const& exec, std::vector<std::shared_ptr<void>>& blocks)
      : WhileOnInstance(InstanceState<Exec>{&exec, &blocks, nullptr}) {}
  WhileOnInstance(Exec const& exec, RecordedState& recorded)
      : WhileOnInstance(InstanceState<Exec>{&exec, nullptr, &recorded}) {}
  ~WhileOnInstance() { instance_state<Exec> = before_; }
  WhileOnInstance(WhileOnInstance const&) = delete;
  WhileOnInstance& operator=(WhileOnInstance const&) = delete;

 private:
  explicit WhileOnInstance(InstanceState<Exec> const& state)
      : state_(state), before_(instance_state<Exec>) {
    instance_state<Exec> = &state_;
  }

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
