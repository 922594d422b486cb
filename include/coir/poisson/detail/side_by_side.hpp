#pragma once

/// \file
/// Threads of a host that run at the same time, so that they may wait for each other.

#include <coir/core/fewer_threads.hpp>
#include <coir/core/other_programs.hpp>
#include <coir/core/tasks.hpp>
#include <coir/poisson/detail/progress.hpp>

#include <cstdint>
#include <string_view>

namespace coir::poisson::detail {

/// How many threads should share work side by side: those of most_tasks_at_once() that have a
/// processor of their own, or one if not all may start.
template <class Exec>
int threads_side_by_side(Exec const& exec) {
  int const threads = most_tasks_at_once(exec);
  return may_start_fewer_threads(threads) ? 1 : threads_beside_others(threads);
}

/// Calls body(0) to body(threads - 1) at the same time, each on a thread of the instance.
///
/// \param threads  at most threads_side_by_side()
template <class Exec, class Body>
void run_side_by_side(std::string_view label, Exec const& exec, int threads, Body const& body) {
  static_assert(runs_on_host<Exec>);
  // With as many tasks as threads, each thread gets one, and all run at the same time.
  std::int64_t const tasks = threads == 1 ? 1 : exec.concurrency();
  for_each_task(label, exec, tasks, [threads, &body](std::int64_t task) {
    if (task < threads) body(static_cast<int>(task));
  });
}

}  // namespace coir::poisson::detail
