#pragma once

/// \file
/// What coir::poisson::red_black does once its arguments are checked.

#include <coir/core/profiling.hpp>
#include <coir/core/replay.hpp>
#include <coir/poisson/detail/multigrid_device.hpp>
#include <coir/poisson/detail/multigrid_host.hpp>
#include <coir/poisson/iterate.hpp>
#include <coir/poisson/red_black.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace coir::poisson::detail {

/// Spectral radius of Jacobi's method on a box, whose extents needn't be whole.
double jacobi_radius(double const* extents, int rank);

/// The best omega of successive over-relaxation for it.
double best_omega(double jacobi_radius);

/// For how many sweeps at omega rounding is not to blame if the residual doesn't fall.
std::int64_t transient_sweeps(double omega, double jacobi_radius);

/// Makes the sweeps for iterate(); on devices by replaying a recorded sequence of them.
template <class Exec, class T, int Rank>
class RedBlackSweeper {
 public:
  RedBlackSweeper(Exec const& exec, Field<Exec, T const, Rank> const& b,
                  Field<Exec, T, Rank> const& u, T omega)
      : exec_(exec),
        u_(u),
        level_(finest_level<T, Rank>(b, u)),
        omega_(omega),
        passes_(exec, level_) {
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
  }

  Field<Exec, T, Rank> current() const { return u_; }
  void finish() const {}

 private:
  using Passes = std::conditional_t<runs_on_host<Exec>, HostPasses<Exec, T, Rank>,
                                    DevicePasses<Exec, T, Rank>>;
  static constexpr int recorded_sweeps = 64;

  void replay(std::int64_t times) {
    if (!recorded_)
      recorded_.emplace(exec_, [level = level_, omega = omega_](Exec const& instance) {
        Passes(instance, level).smooth(level, {true, omega, recorded_sweeps}, false);
      });
    for (; times > 0; --times) recorded_->submit();
    recorded_->wait();
  }

  Exec exec_;
  Field<Exec, T, Rank> u_;
  Level<T, Rank> level_;
  T omega_;
  Passes passes_;
  std::optional<Replay<Exec>> recorded_;
};

template <ExecutionSpace Exec, class T, int Rank>
Result red_black(Exec const& exec, Field<Exec, T const, Rank> const& b,
                 Field<Exec, T, Rank> const& u, RedBlackOptions const& options) {
  expects(options.omega >= 0 && options.omega < 2, "omega must lie in (0, 2), or be 0 for the best",
          options.omega);
  double extents[Rank];
  for (int d = 0; d < Rank; ++d) extents[d] = static_cast<double>(b.extent(d));
  double const radius = jacobi_radius(extents, Rank);
  double const omega = options.omega == 0 ? best_omega(radius) : options.omega;
  // iterate() calls it stagnation when 8 checks in a row find no smaller residual.
  std::int64_t const spacing = std::max<std::int64_t>(32, transient_sweeps(omega, radius) / 8);
  IterationLimits const limits{options.sweeps, options.tolerance,
                               options.check_every == 0 ? spacing : options.check_every,
                               options.monitor};
  expects_limits(limits);

  ProfilingRegion const region("coir::poisson::red_black");
  RedBlackSweeper<Exec, T, Rank> sweeper(exec, b, u, static_cast<T>(omega));
  return iterate(exec, b, u, sweeper, limits);
}

// Compiled once, in the library.
#define COIR_RED_BLACK(keyword, Exec, T, Rank)                                                     \
  keyword template Result red_black<Exec, T, Rank>(Exec const&, Field<Exec, T const, Rank> const&, \
                                                   Field<Exec, T, Rank> const&,                    \
                                                   RedBlackOptions const&)
COIR_RED_BLACK(extern, Kokkos::DefaultHostExecutionSpace, float, 2);
COIR_RED_BLACK(extern, Kokkos::DefaultHostExecutionSpace, float, 3);
COIR_RED_BLACK(extern, Kokkos::DefaultHostExecutionSpace, double, 2);
COIR_RED_BLACK(extern, Kokkos::DefaultHostExecutionSpace, double, 3);
COIR_RED_BLACK(extern, Kokkos::DefaultExecutionSpace, float, 2);
COIR_RED_BLACK(extern, Kokkos::DefaultExecutionSpace, float, 3);
COIR_RED_BLACK(extern, Kokkos::DefaultExecutionSpace, double, 2);
COIR_RED_BLACK(extern, Kokkos::DefaultExecutionSpace, double, 3);

}  // namespace coir::poisson::detail
