#pragma once

#include <coir/core/kokkos.hpp>

#include <future>
#include <utility>

namespace coir::nbody::detail {

/// Calls compute() on a thread of its own while a device's kernels run. If kernels run on the host,
/// which need its cores, or if no thread can be started, the future's get() calls compute().
///
/// \param compute  launches no kernels. Objects that it refers to must live as long as the future,
///                 whose destructor waits for it
template <class Exec, class Compute>
auto while_kernels_run(Compute compute) {
  // With `deferred` beside `async` std::async() doesn't throw if no thread can be started.
  auto const when =
      runs_on_host<Exec> ? std::launch::deferred : std::launch::async | std::launch::deferred;
  return std::async(when, std::move(compute));
}

}  // namespace coir::nbody::detail
