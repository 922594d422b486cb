#pragma once

/// \file
/// Array statements that are recorded once and run many times.

#include <coir/array/array.hpp>
#include <coir/core/instance.hpp>
#include <coir/core/replay.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace coir {

/// Recorded statements: see record().
template <class Space>
class Recorded {
 public:
  using Exec = typename Space::execution_space;

  template <class Statements>
  explicit Recorded(Statements const& statements)
      : once_(replay(statements, 1)),
        // Not with temporaries, which each run in the graph would have again.
        together_(blocks_->empty() ? replay(statements, runs_together) : nullptr) {}

  /// Runs the statements `times` times, after all work that was started before, and waits.
  ///
  /// \throws PreconditionError if `times` is negative
  void run(std::int64_t times = 1) const {
    expects(times >= 0, "recorded statements can be run 0 times or more", times);
    Exec{}.fence();
    if (together_) {
      for (; times >= runs_together; times -= runs_together) together_->submit();
      together_->wait();
    }
    for (; times > 0; --times) once_->submit();
    once_->wait();
  }

 private:
  // Runs in one graph, because submitting a graph costs as much as several small kernels.
  static constexpr int runs_together = 32;

  template <class Statements>
  std::unique_ptr<Replay<Exec>> replay(Statements const& statements, int runs) {
    // A graph needs the temporaries that were made when it was captured. Without graphs each call
    // makes its own.
    auto* const blocks = Replay<Exec>::captures ? blocks_.get() : nullptr;
    return std::make_unique<Replay<Exec>>(Exec{}, [statements, runs, blocks](Exec const& exec) {
      detail::WhileOnInstance<Exec> const recording(exec, blocks, /*recorded=*/true);
      for (int i = 0; i < runs; ++i) statements();
    });
  }

  using Blocks = std::vector<std::shared_ptr<void>>;
  std::unique_ptr<Blocks> blocks_ = std::make_unique<Blocks>();
  std::unique_ptr<Replay<Exec>> once_;
  std::unique_ptr<Replay<Exec>> together_;
};

/// Records what `statements` does with arrays, to be run many times:
///
///     auto const sweeps = record([=] {
///       v(in, in) = 0.25 * (u(before, in) + u(after, in) + u(in, before) + u(in, after) - b);
///       u(in, in) = 0.25 * (v(before, in) + v(after, in) + v(in, before) + v(in, after) - b);
///     });
///     sweeps.run(1000);
///
/// On CUDA the statements become a graph, which is launched faster than the kernels one by one:
/// this pays for small arrays. Elsewhere each run calls `statements` again.
///
/// Assignments (compound and masked ones, too), reductions along an axis, products and vmap() can
/// be recorded. `statements` must only change elements: arrays that it writes exist before and keep
/// their memory (no swap()), and numbers are the same in each run. Arrays that it refers to must
/// outlive the result.
///
/// \tparam Space  the memory space of the arrays
/// \throws PreconditionError if a statement needs the host to wait, as reductions to a number do;
///   on hosts run() throws it
template <class Space = DefaultSpace, class Statements>
  requires std::is_invocable_v<Statements const&>
Recorded<Space> record(Statements const& statements) {
  return Recorded<Space>(statements);
}

}  // namespace coir
