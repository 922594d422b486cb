#pragma once

/// The sweeps of coir::poisson::red_black, for grids whose extents are checked.

#include "iterate_fields.hpp"
#include "multigrid_device.hpp"
#include "multigrid_host.hpp"
#include "relaxation.hpp"
#include "second_field.hpp"

#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/profiling.hpp>
#include <coir/core/replay.hpp>
#include <coir/poisson/red_black.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace coir::poisson::detail {

/// Makes the sweeps for iterate_fields(); on devices by replaying a recorded sequence of them.
template <class Exec, class T, int Rank>
class RedBlackSweeper {
 public:
  RedBlackSweeper(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                  RowMajorView<Exec, T, Rank> const& u, T omega)
      : exec_(exec),
        u_(u),
        level_(finest_level<T, Rank>(b, u)),
        omega_(omega),
        passes_(exec, level_) {
    if constexpr (Rank == 3 && !runs_on_host<Exec>) {
      auto const bytes = static_cast<std::int64_t>(u.span() * sizeof(T));
      if (fills_columns(level_.n) && has_near_cells(level_) &&
          bytes < free_bytes<typename Exec::memory_space>()) {
        fields_.emplace(exec, u, "red-black sweeps");
        level_.second = fields_->other().data();
      }
    }
    passes_.begin();
  }

  void advance(std::int64_t sweeps) {
    if constexpr (!runs_on_host<Exec>) {
      std::int64_t const replays = sweeps / recorded_sweeps;
      if (replays > 0) replay(replays);
      sweeps -= replays * recorded_sweeps;
    }
    constexpr std::int64_t most = 1'000'000'000;
    for (; sweeps > 0; sweeps -= most)
      passes_.smooth(level_, {true, omega_, static_cast<int>(std::min(sweeps, most))}, false);
    if (fields_ && level_.u != fields_->current().data()) fields_->swap();
  }

  RowMajorView<Exec, T, Rank> current() const { return fields_ ? fields_->current() : u_; }
  void finish() {
    if (!fields_) return;
    fields_->finish();
    level_.u = fields_->current().data();
    level_.second = fields_->other().data();
  }

 private:
  using Passes = std::conditional_t<runs_on_host<Exec>, HostPasses<Exec, T, Rank>,
                                    DevicePasses<Exec, T, Rank>>;
  static constexpr int recorded_sweeps = 64;  // even: a recording ends in the field it began in

  void replay(std::int64_t times) {
    auto& recorded = recorded_[fields_ ? fields_->parity() : 0];
    if (!recorded)
      recorded.emplace(exec_, [level = level_, omega = omega_](Exec const& instance) {
        auto from = level;
        Passes(instance, from).smooth(from, {true, omega, recorded_sweeps}, false);
      });
    else
      exec_.fence();  // a recording does not wait for what exec_ was given since it was made
    for (; times > 0; --times) recorded->submit();
    recorded->wait();
  }

  Exec exec_;
  RowMajorView<Exec, T, Rank> u_;
  Level<T, Rank> level_;
  T omega_;
  Passes passes_;
  std::optional<TwoFields<Exec, T, Rank>> fields_;  // for sweeps from one to the other
  std::optional<Replay<Exec>> recorded_[2];
};

/// The relaxation parameter and the limits of options, which are checked.
struct RedBlackPlan {
  double omega;
  IterationLimits limits;

  /// \param extents  of the whole grid
  template <std::size_t Rank>
  RedBlackPlan(std::array<double, Rank> const& extents, RedBlackOptions const& options) {
    expects(options.omega >= 0 && options.omega < 2,
            "omega must lie in (0, 2), or be 0 for the best", options.omega);
    double const radius = jacobi_radius(extents.data(), static_cast<int>(Rank));
    omega = options.omega == 0 ? best_omega(radius) : options.omega;
    // iterate() stops by stagnation when 8 checks in a row find no smaller residual. A transient
    // must not cause this.
    std::int64_t const spacing = std::max<std::int64_t>(32, transient_sweeps(omega, radius) / 8);
    limits = {options.sweeps, options.tolerance,
              options.check_every == 0 ? spacing : options.check_every, options.monitor};
    expects_limits(limits);
  }
};

template <CompiledSpace Exec, class T, int Rank>
Result red_black(Exec const& exec, RowMajorView<Exec, T const, Rank> const& b,
                 RowMajorView<Exec, T, Rank> const& u, RedBlackOptions const& options) {
  std::array<double, Rank> extents;
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = static_cast<double>(b.extent(d));
  RedBlackPlan const plan(extents, options);

  ProfilingRegion const region("coir::poisson::red_black");
  RedBlackSweeper<Exec, T, Rank> sweeper(exec, b, u, static_cast<T>(plan.omega));
  return iterate_fields<Exec, T, Rank>(exec, b, u, sweeper, plan.limits);
}

}  // namespace coir::poisson::detail

#define COIR_RED_BLACK(Exec, T, Rank)                                                             \
  template Result red_black<Exec, T, Rank>(Exec const&, RowMajorView<Exec, T const, Rank> const&, \
                                           RowMajorView<Exec, T, Rank> const&,                    \
                                           RedBlackOptions const&);
#define COIR_INSTANTIATE_RED_BLACK(Exec) \
  namespace coir::poisson::detail {      \
  COIR_RED_BLACK(Exec, float, 2)         \
  COIR_RED_BLACK(Exec, float, 3)         \
  COIR_RED_BLACK(Exec, double, 2)        \
  COIR_RED_BLACK(Exec, double, 3)        \
  }
