#pragma once

/// \file
/// From the settings to counts: the problem, its memory, either scheme, timed.

#include "escape_arrays.hpp"
#include "escape_time.hpp"
#include "settings.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/timing.hpp>

#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/memory_plan.hpp>
#include <support/progress.hpp>

#include <algorithm>
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
struct Outcome {
  Pixels<Exec, int> counts;
  Pixels<Exec, T> values;  ///< empty unless smooth values are wanted
  double seconds = 0;      ///< the median over the repeats
  std::int64_t steps = 0;  ///< of z -> z^2 + c that were counted
  std::int64_t inside = 0;
};

/// \throws Failure if neighbouring pixels are the same number
template <class T>
void expects_resolved(Region const& region, Settings const& settings) {
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
Problem<T> problem_of(Settings const& settings) {
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

/// Stops before memory is allocated for what can't fit.
///
/// \returns what the run takes at most
template <class Exec, class T>
MemoryPlan expects_memory_for(Problem<T> const& problem, Settings const& settings) {
  std::int64_t const pixels = std::int64_t(settings.rows) * settings.columns;
  std::int64_t const result =
      pixels * (4 + (settings.wants_smooth() ? std::int64_t(sizeof(T)) : 0));
  std::int64_t device = result;
  if (settings.scheme == Scheme::arrays)
    device += bytes_of_arrays(problem, settings.wants_smooth());
  MemoryPlan plan{resident_bytes(), bytes_beside(4 * pixels)};
  if (runs_on_host<Exec>) {
    plan.host += device;
  } else {
    plan.host += settings.output.empty() ? 0 : result;
    plan.device = device;
  }
  expects_memory(plan, "a picture of " + std::to_string(settings.columns) + " x " +
                           std::to_string(settings.rows) + " pixels");
  return plan;
}

/// One run. Returns false if the monitor stopped it.
template <class Exec, class T>
bool compute_once(Exec const& exec, Problem<T> const& problem, Outcome<Exec, T>& outcome,
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
void count_steps(Exec const& exec, Outcome<Exec, T>& outcome, int iterations) {
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
Outcome<Exec, T> compute(Exec const& exec, Problem<T> const& problem, Settings const& settings) {
  Outcome<Exec, T> outcome;
  Activity const computing(std::string("computing by ") + name_of(settings.scheme));
  outcome.counts = Pixels<Exec, int>("counts", settings.rows, settings.columns);
  if (settings.wants_smooth())
    outcome.values = Pixels<Exec, T>("values", settings.rows, settings.columns);

  // Kernels are loaded and memory is allocated at the first launch, which isn't timed.
  Problem<T> first = problem;
  first.iterations = 1;
  compute_once(exec, first, outcome, settings.scheme, {});

  char const* const unit = settings.scheme == Scheme::kernel ? "pixels" : "steps";
  std::vector<double> seconds;
  for (int round = 0; round < settings.repeat; ++round) {
    ProgressLine line(name_of(settings.scheme), unit, settings.progress);
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
  std::sort(seconds.begin(), seconds.end());
  std::size_t const middle = seconds.size() / 2;
  outcome.seconds =
      seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  count_steps(exec, outcome, problem.iterations);
  return outcome;
}

}  // namespace coir::apps::escape
