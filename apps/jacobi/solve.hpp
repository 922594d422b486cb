#pragma once

/// \file
/// One problem, one scheme: solved once or several times, timed, and compared with the photograph.

#include "jacobi_arrays.hpp"
#include "problem.hpp"
#include "settings.hpp"

#include <coir/core/contiguous.hpp>
#include <coir/core/pool.hpp>
#include <coir/core/timing.hpp>
#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/direct.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/over_ranks.hpp>

#include <support/interrupt.hpp>
#include <support/median.hpp>
#include <support/on_all.hpp>
#include <support/progress.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <vector>

namespace coir::apps::jacobi {

/// The result of a scheme.
struct JacobiOutcome {
  Scheme scheme = Scheme::automatic;  ///< the one that was taken
  poisson::Result result;
  double seconds = 0;  ///< the median over the repeats
  std::optional<Error> error;
  std::optional<std::int64_t> largest_prime_factor;  ///< of direct's transforms
};

template <class Exec, class T>
Limits limits_of(Scheme scheme, Problem<Exec, T> const& problem, JacobiSettings const& settings) {
  Limits limits{150'000, 0};
  if (scheme == Scheme::red_black)
    // At the best omega four sweeps per cell of the longer side reduce an error by e^-25.
    limits.sweeps = 4 * std::max<std::int64_t>(problem.all_rows, problem.columns());
  if (!makes_sweeps(scheme))
    // The error of a photograph is then far below a grey level, and above the rounding.
    limits = {50, sizeof(T) == 4 ? 1e-5 : 1e-10};
  if (settings.sweeps) limits.sweeps = *settings.sweeps;
  if (scheme == Scheme::direct) limits.sweeps = 1;
  if (settings.tolerance) limits.tolerance = *settings.tolerance;
  return limits;
}

/// Solves a problem by transforms. The residual is computed after the time is taken: transforms
/// don't need it.
template <class Exec, class T>
JacobiOutcome solve_directly(Exec const& exec, Problem<Exec, T> const& problem,
                             Grid<Exec, T> const& u, Limits const& limits,
                             poisson::Monitor const& monitor) {
  JacobiOutcome outcome;
  outcome.scheme = Scheme::direct;
  Stopwatch const watch(exec);
  poisson::Direct<Exec, T, 2> solver(exec, {problem.rows(), problem.columns()});
  solver.solve(problem.source, u);
  outcome.seconds = watch.seconds();
  outcome.largest_prime_factor = solver.largest_prime_factor();

  double const source = poisson::source_norm(exec, problem.source, u);
  poisson::Result& result = outcome.result;
  result.iterations = 1;
  result.residual_norm = poisson::residual_norm(exec, problem.source, u);
  result.relative_residual = source > 0 ? result.residual_norm / source : result.residual_norm;
  result.converged = result.residual_norm == 0 || result.relative_residual <= limits.tolerance;
  result.stopped_by =
      result.converged ? poisson::StoppedBy::tolerance : poisson::StoppedBy::stagnation;
  if (!std::isfinite(result.residual_norm) || !std::isfinite(source))
    result.stopped_by = poisson::StoppedBy::not_finite;
  else if (!monitor({1, 1, result.relative_residual}))
    result.stopped_by = poisson::StoppedBy::interrupted;
  return outcome;
}

/// Solves a problem once by one scheme, and times it. Collective.
template <class Exec, class T>
JacobiOutcome solve_once(Exec const& exec, distributed::Group const& ranks, Scheme scheme,
                         Problem<Exec, T> const& problem, Grid<Exec, T> const& u,
                         Limits const& limits, poisson::Monitor const& monitor) {
  if (scheme == Scheme::direct) return solve_directly(exec, problem, u, limits, monitor);
  JacobiOutcome outcome;
  outcome.scheme = scheme;
  Stopwatch const watch(exec);
  if (scheme == Scheme::red_black) {
    outcome.result = poisson::red_black(
        exec, ranks, problem.source, u,
        {.sweeps = limits.sweeps, .tolerance = limits.tolerance, .monitor = monitor});
  } else if (scheme == Scheme::multigrid) {
    poisson::MultigridOptions options;
    options.max_cycles = static_cast<int>(limits.sweeps);
    options.tolerance = limits.tolerance;
    options.monitor = monitor;
    outcome.result = poisson::multigrid(exec, ranks, problem.source, u, options);
  } else if (scheme == Scheme::cg) {
    outcome.result = poisson::conjugate_gradients(
        exec, problem.source, u,
        {.max_iterations = limits.sweeps, .tolerance = limits.tolerance, .monitor = monitor});
  } else if (scheme == Scheme::arrays) {
    outcome.result = jacobi_by_arrays(exec, problem.source, u, limits, monitor);
  } else {
    auto const choice = scheme == Scheme::plain     ? poisson::JacobiScheme::plain
                        : scheme == Scheme::blocked ? poisson::JacobiScheme::blocked
                                                    : poisson::JacobiScheme::automatic;
    auto const result = poisson::jacobi(exec, ranks, problem.source, u,
                                        {.scheme = choice,
                                         .sweeps = limits.sweeps,
                                         .tolerance = limits.tolerance,
                                         .monitor = monitor});
    outcome.result = result;
    outcome.scheme =
        result.scheme == poisson::JacobiScheme::blocked ? Scheme::blocked : Scheme::plain;
  }
  outcome.seconds = watch.seconds();
  return outcome;
}

/// Solves a problem settings.repeat times with one scheme; u holds the last result. Collective.
template <class Exec, class T>
JacobiOutcome solve(Exec const& exec, distributed::Group const& ranks, Scheme scheme,
                    Problem<Exec, T> const& problem, Grid<Exec, T> const& u,
                    JacobiSettings const& settings) {
  Activity const solving("solving by " + jacobi_scheme_name(scheme));
  Limits const limits = limits_of(scheme, problem, settings);
  auto const begin = [&] {
    set_to_zero(exec, u);
    if (settings.start == Start::laplacian) put_inside(exec, problem.source, u);
  };

  // The first launch of a kernel loads it. No scheme's time should contain that.
  begin();
  std::int64_t const few = makes_sweeps(scheme) ? 20 : 1;
  JacobiOutcome outcome =
      solve_once(exec, ranks, scheme, problem, u, {std::min(limits.sweeps, few), 0},
                 [](poisson::Progress const&) { return !interrupted(); });
  if (share_interrupt(ranks)) {
    outcome.result.iterations = 0;
    outcome.result.stopped_by = poisson::StoppedBy::interrupted;
    return outcome;
  }

  std::vector<double> seconds;
  for (std::int64_t round = 0; round < settings.repeat; ++round) {
    begin();
    ProgressLine line(jacobi_scheme_name(scheme), iterations_of(scheme),
                      ranks.is_first() ? settings.progress : ProgressMode::never);
    auto const monitor = [&line](poisson::Progress const& progress) {
      char note[48] = "";
      if (!std::isnan(progress.relative_residual))
        std::snprintf(note, sizeof note, "residual %.1e", progress.relative_residual);
      line.update(progress.iterations, progress.total, note);
      return !interrupted();
    };
    outcome = solve_once(exec, ranks, scheme, problem, u, limits, monitor);
    seconds.push_back(outcome.seconds);
    if (outcome.result.stopped_by == poisson::StoppedBy::interrupted) break;
  }
  outcome.seconds = median_of(seconds);
  MemoryPool<typename Exec::memory_space>::release();  // other schemes use no arrays
  if (problem.photograph) outcome.error = error_of(exec, ranks, u, problem);
  return outcome;
}

}  // namespace coir::apps::jacobi
