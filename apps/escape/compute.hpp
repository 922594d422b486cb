#pragma once

/// The problem that settings describe, and counts of steps by either scheme, timed.

#include "escape_arrays.hpp"
#include "escape_time.hpp"
#include "settings.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/timing.hpp>
#include <coir/io/c_order.hpp>

#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/median.hpp>
#include <support/progress.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace coir::apps::escape {

template <class Exec, class T>
using Pixels = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

/// The results of a run.
template <class Exec, class T>
struct EscapeOutcome {
  Pixels<Exec, int> counts;
  Pixels<Exec, T> values;  ///< empty unless smooth values are wanted
  double seconds = 0;      ///< the median over the repeats
  std::int64_t steps = 0;  ///< of z -> z^2 + c that were counted
  std::int64_t inside = 0;
};

/// \throws Failure if neighbouring pixels are the same number
template <class T>
void expects_resolved(Region const& region, EscapeSettings const& settings) {
  // Pixels' centres are rounded to half this much, so four of it leave them evenly spaced.
  double const largest = std::max({std::abs(region.left), std::abs(region.right),
                                   std::abs(region.bottom), std::abs(region.top)});
  double const spacing = 4 * double(std::numeric_limits<T>::epsilon()) * largest;
  double const pixel = std::min((region.right - region.left) / settings.columns,
                                (region.top - region.bottom) / settings.rows);
  if (pixel >= spacing) return;
  char text[200];
  std::snprintf(text, sizeof text,
                "pixels of %.3g can't be told apart at %.6g in %s, which takes %.3g at least: %s",
                pixel, largest, float_or_double(settings.precision), spacing,
                sizeof(T) == 4 ? "use --precision double, a wider region or fewer pixels"
                               : "use a wider region or fewer pixels");
  throw Failure(ExitCode::numerical, text);
}

template <class T>
Problem<T> problem_of(EscapeSettings const& settings) {
  Region const region = region_of(settings);
  expects_resolved<T>(region, settings);
  Problem<T> problem;
  problem.pixels = {settings.rows,
                    settings.columns,
                    T(region.left),
                    T(region.top),
                    T((region.right - region.left) / settings.columns),
                    T((region.top - region.bottom) / settings.rows)};
  problem.iterations = settings.iterations;
  problem.julia = settings.set == Set::julia;
  auto const [re, im] = settings.constant.value_or(default_constant);
  problem.constant_re = T(re);
  problem.constant_im = T(im);
  return problem;
}

/// One run. Returns false if the monitor stopped it.
template <class Exec, class T>
bool compute_once(Exec const& exec, Problem<T> const& problem, EscapeOutcome<Exec, T>& outcome,
                  Scheme scheme, Monitor const& monitor) {
  Stopwatch<Exec> const watch(exec);
  bool done;
  if (scheme == Scheme::kernel) {
    done = escape_time(exec, problem, outcome.counts, outcome.values, monitor);
  } else {
    Shape<2> const shape{problem.pixels.rows, problem.pixels.columns};
    using Memory = typename Exec::memory_space;
    Array<int, 2, Memory> counts(outcome.counts.data(), shape, nullptr);
    Array<T, 2, Memory> values(outcome.values.data(), shape, nullptr);
    done = escape_time_by_arrays(problem, counts, outcome.values.size() > 0 ? &values : nullptr,
                                 monitor);
  }
  outcome.seconds = watch.seconds();
  return done;
}

template <class Exec, class T>
void count_steps(Exec const& exec, EscapeOutcome<Exec, T>& outcome, int iterations) {
  auto const counts = outcome.counts;
  auto const all = box({int(counts.extent(0)), int(counts.extent(1))});
  reduce(
      "coir::apps::escape/steps", exec, all,
      KOKKOS_LAMBDA(int i, int j, std::int64_t& sum) { sum += counts(i, j); },
      Kokkos::Sum<std::int64_t>(outcome.steps));
  reduce(
      "coir::apps::escape/inside", exec, all,
      KOKKOS_LAMBDA(int i, int j, std::int64_t& sum) { sum += counts(i, j) == iterations ? 1 : 0; },
      Kokkos::Sum<std::int64_t>(outcome.inside));
}

/// Computes settings.repeat times.
///
/// \throws Failure if the user stopped it
template <class Exec, class T>
EscapeOutcome<Exec, T> compute(Exec const& exec, Problem<T> const& problem,
                               EscapeSettings const& settings) {
  EscapeOutcome<Exec, T> outcome;
  Activity const computing(std::string("computing by ") + escape_scheme_name(settings.scheme));
  std::array const shape{std::int64_t(settings.rows), std::int64_t(settings.columns)};
  std::string const picture = "a picture of " + std::to_string(settings.columns) + " x " +
                              std::to_string(settings.rows) + " pixels";
  outcome.counts = io::allocate<Pixels<Exec, int>>(picture, shape);
  if (settings.wants_smooth()) outcome.values = io::allocate<Pixels<Exec, T>>(picture, shape);

  // The first launch loads kernels and allocates memory. It isn't timed.
  Problem<T> first = problem;
  first.iterations = 1;
  compute_once(exec, first, outcome, settings.scheme, {});

  char const* const unit = settings.scheme == Scheme::kernel ? "pixels" : "steps";
  std::vector<double> seconds;
  for (int round = 0; round < settings.repeat; ++round) {
    ProgressLine line(escape_scheme_name(settings.scheme), unit, settings.progress);
    std::int64_t reached = 0, total = 0;
    auto const monitor = [&](std::int64_t done, std::int64_t of) {
      line.update(done, of);
      reached = done;
      total = of;
      return !interrupted();
    };
    if (!compute_once(exec, problem, outcome, settings.scheme, monitor) || interrupted())
      throw Failure(ExitCode::interrupted, "stopped after " + std::to_string(reached) + " of " +
                                               std::to_string(total) + " " + unit +
                                               "; nothing was written");
    seconds.push_back(outcome.seconds);
  }
  outcome.seconds = median_of(seconds);
  count_steps(exec, outcome, problem.iterations);
  return outcome;
}

}  // namespace coir::apps::escape
