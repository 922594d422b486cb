#pragma once

/// \file
/// Copies a host's std::vector to a View in another memory space.

#include <coir/core/contiguous.hpp>
#include <coir/core/views.hpp>

#include <string>
#include <vector>

namespace coir {

/// Copies the numbers of a vector, such as a kernel's table, to a new View in `Space`. Waits for
/// the copy.
///
/// \tparam Space  the memory space of the View
/// \param label   the View's name in profiling tools
template <class Space, class T>
Kokkos::View<T*, Space> copy_to(std::string const& label, std::vector<T> const& values) {
  Kokkos::View<T*, Space> const copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                     values.size());
  UnmanagedView<T const, 1, Kokkos::LayoutRight, Kokkos::HostSpace> const host(values.data(),
                                                                               values.size());
  copy_contiguous(copy, host);
  return copy;
}

}  // namespace coir
