#pragma once

/// \file
/// Computes on the host while a device's kernels run.

#include <coir/core/kokkos.hpp>

#include <future>
#include <utility>

namespace coir::nbody::detail {

/// Calls compute(), which takes a host milliseconds, on a thread of its own, so that a device has kernels to run meanwhile. The
/// kernels of a host need its cores themselves: there, and where no thread can be started, the future's get() calls it.
///
/// \param compute  launches no kernels. What it refers to must live as long as the future, whose destructor waits for it
template <class Exec, class Compute>
auto while_kernels_run(Compute compute) {
  // With `deferred` beside `async` std::async() throws nothing where threads are short.
  auto const when =
      runs_on_host<Exec> ? std::launch::deferred : std::launch::async | std::launch::deferred;
  return std::async(when, std::move(compute));
}

}  // namespace coir::nbody::detail
