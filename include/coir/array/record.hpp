#pragma once

/// \file
/// Array statements that are recorded once and run many times.

#include <coir/array/array.hpp>
#include <coir/core/instance.hpp>
#include <coir/core/kept_launches.hpp>
#include <coir/core/replay.hpp>

#include <cstdint>
#include <memory>

namespace coir {

/// Recorded statements: see record().
template <class Space>
class Recorded {
 public:
  using Exec = typename Space::execution_space;

  template <class Statements>
  explicit Recorded(Statements const& statements) {
    // Kept at one place, because arrays in it are looked at in each run.
    auto const kept = std::make_shared<Statements const>(statements);
    statements_ = kept;
    if constexpr (runs_on_host<Exec>) {
      Exec const exec;
      detail::WhileOnInstance<Exec> const recording(exec, *state_);
      detail::WhileKeepingLaunches const keeping(&launches_);
      (*kept)();
    } else {
      if (!Replay<Exec>::captures) state_->blocks = nullptr;
      once_ = replay(*kept, 1);
      // Not with temporaries, which each run in the graph would have again.
      if (!state_->blocks || state_->blocks->empty()) together_ = replay(*kept, runs_together);
    }
    if (state_->blocks) state_->blocks->close();
  }

  /// Runs the statements `times` times, after all work that was started before, and waits.
  ///
  /// \throws PreconditionError if `times` is negative, or if an array of a recorded gradient isn't
  ///   in the memory that it had when it was recorded, or while record() records
  /// \throws NumericalError if a matrix of a recorded solve() or cholesky() is at fault
  void run(std::int64_t times = 1) const {
    expects(times >= 0, "recorded statements can be run 0 times or more", times);
    if (detail::kept_launches)
      throw PreconditionError("recorded statements can't be run while record() records");
    for (auto const& check : state_->checks) check();
    if constexpr (runs_on_host<Exec>) {
      Exec{}.fence();
      for (; times > 0; --times) launches_.run();
    } else {
      submit(times);
    }
  }

 private:
  void submit(std::int64_t times) const {
    Exec{}.fence();
    if (together_) {
      for (; times >= runs_together; times -= runs_together) together_->submit();
      together_->wait();
    }
    for (; times > 0; --times) once_->submit();
    once_->wait();
  }

  // Runs in one graph, because submitting a graph costs as much as several small kernels.
  static constexpr int runs_together = 32;

  template <class Statements>
  std::unique_ptr<Replay<Exec>> replay(Statements const& statements, int runs) {
    return std::make_unique<Replay<Exec>>(
        Exec{}, [&statements, runs, state = state_.get()](Exec const& exec) {
          detail::WhileOnInstance<Exec> const recording(exec, *state);
          for (int i = 0; i < runs; ++i) statements();
        });
  }

  std::unique_ptr<detail::RecordedState> state_ = std::make_unique<detail::RecordedState>();
  std::shared_ptr<void const> statements_;
  detail::KeptLaunches launches_;  // on hosts
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
/// `statements` is called once, and its kernels are kept with all their arguments: on CUDA as a
/// graph, on hosts as a list. So a run neither makes expressions nor arrays, which pays for small
/// ones. On other devices each run calls `statements` again.
///
/// Assignments (compound and masked ones, too), reductions along an axis, products, vmap(), on
/// hosts Fourier transforms, solve() and cholesky(), and value_and_grad_into() of these can be
/// recorded. `statements` must only change elements: arrays that it writes exist before and keep
/// their memory (no swap()), and numbers are the same in each run. Arrays that it refers to must
/// outlive the result. On hosts an element, u(0), is a reference: what is stored there isn't
/// recorded; write u(range(0, 1)) = 1.
///
/// \tparam Space  the memory space of the arrays
/// \throws PreconditionError if a statement needs the host to wait, as reductions to a number do
template <class Space = DefaultSpace, class Statements>
  requires std::is_invocable_v<Statements const&>
Recorded<Space> record(Statements const& statements) {
  return Recorded<Space>(statements);
}

}  // namespace coir
