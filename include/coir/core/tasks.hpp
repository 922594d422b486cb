#pragma once

/// \file
/// Kernels of a few calls, each of which is worth a thread.

#include <coir/core/concepts.hpp>
#include <coir/core/detail/host_threads.hpp>
#include <coir/core/kept_launches.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace coir {

/// The least number of cells that for_each and reduce give to a thread of a host: starting one
/// takes as long as adding two arrays of so many elements.
inline constexpr std::int64_t cells_worth_a_thread = 4096;

/// The time that each thread of an instance adds to a kernel on several threads, in cells of
/// memory; measured on 16 cores. Threads without work add it, too: all of them start and end the
/// kernel.
inline constexpr std::int64_t cells_of_a_start = 1024;

/// The number of host threads that are worth starting for work on `cells` cells of memory: at least
/// one, and at most the threads of the instance and the parts that the work can be cut into. It is
/// one where a start of the instance's threads would take longer than the work.
template <ExecutionSpace Exec>
std::int64_t threads_worth_starting(Exec const& exec, std::int64_t cells,
                                    std::int64_t parts = std::numeric_limits<std::int64_t>::max()) {
  std::int64_t const worth = cells / cells_worth_a_thread;
  if (worth <= 1 || parts <= 1) return 1;
  auto const threads = static_cast<std::int64_t>(exec.concurrency());
  return cells < threads * cells_of_a_start ? 1 : std::min({worth, parts, threads});
}

/// The most tasks of for_each_task that run at the same time on a host: the threads of the
/// instance, or one inside a parallel region of OpenMP, where kernels run on one thread.
template <ExecutionSpace Exec>
int most_tasks_at_once(Exec const& exec) {
  return detail::in_parallel_region() ? 1 : static_cast<int>(exec.concurrency());
}

/// Calls body(task) for every 0 <= task < count, in any order, in one kernel.
///
/// Use it where each call is worth a thread, even if there are few: bands of a grid, shares of
/// particles, columns to transform. for_each would count each call as one cell of memory, and give
/// all to one thread. Tasks must not depend on each other.
///
/// On hosts threads get equal shares of consecutive tasks, and the call waits for them. On devices
/// each task is a thread, and the call returns without a fence. Use Kokkos::TeamPolicy for work
/// that a block of threads does together.
///
/// \param label  the kernel's name in profiling tools, "coir::module::file/step". A recording keeps
///   the pointer: pass a literal
/// \param exec   where to run
/// \param count  the number of tasks; with 0 and less nothing runs
/// \param body   a callable with a const call operator that takes a std::int64_t
template <ExecutionSpace Exec, class Body>
void for_each_task(std::string_view label, Exec const& exec, std::int64_t count, Body const& body) {
  if (count <= 0) return;
  if constexpr (runs_on_host<Exec>)
    detail::launch_on_host<Body>(body, [=](Body const& own) {
      detail::run_on_host(
          label, exec, count, [](std::int64_t task, Body const& each) { each(task); }, own);
    });
  else
    Kokkos::parallel_for(
        std::string(label),
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, PassedWithLaunch<Body>>(exec, 0,
                                                                                           count),
        body);
}

/// Calls body(piece) for every 0 <= piece < count on threads of a host, and waits. It isn't
/// recorded: while record() records it runs at once.
///
/// Each thread begins with an equal share of consecutive pieces, whose memory is near to it, and
/// then takes pieces of other shares that nobody has begun: processors that share a core, or that
/// other programs take a part of, are slower. A piece should take ten microseconds or more.
///
/// \param shares  the number of threads, at least 1 and at most those of the instance
template <class Exec, class Body>
void for_each_piece(std::string_view label, Exec const& exec, std::int64_t count,
                    std::int64_t shares, Body const& body) {
  static_assert(runs_on_host<Exec>);
  struct alignas(128) Next {
    std::atomic<std::int64_t> piece{0};
  };
  auto const begin_of = [=](std::int64_t share) { return count * share / shares; };
  std::vector<Next> next(static_cast<std::size_t>(shares));
  for (std::int64_t share = 0; share < shares; ++share) next[share].piece = begin_of(share);
  auto const take = [=, of_share = next.data()](std::int64_t first, Body const& each) {
    for (std::int64_t k = 0; k < shares; ++k) {
      std::int64_t const share = (first + k) % shares, end = begin_of(share + 1);
      while (of_share[share].piece.load(std::memory_order_relaxed) < end) {
        std::int64_t const piece = of_share[share].piece.fetch_add(1, std::memory_order_relaxed);
        if (piece < end) each(piece);
      }
    }
  };
  detail::run_on_host(label, exec, shares, take, body);
}

}  // namespace coir
