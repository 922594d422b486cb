#pragma once

/// \file
/// Copies of numbers on the host in the memory of kernels.

#include <coir/core/kokkos.hpp>
#include <coir/core/views.hpp>

#include <string>
#include <vector>

namespace coir {

/// A copy of numbers in another memory space, such as a table for a kernel. Returns when it is made.
///
/// \param label  of the View, for profilers
template <class Space, class T>
Kokkos::View<T*, Space> copy_to(std::string const& label, std::vector<T> const& values) {
  Kokkos::View<T*, Space> const copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                     values.size());
  UnmanagedView<T const, 1, Kokkos::LayoutRight, Kokkos::HostSpace> const host(values.data(),
                                                                               values.size());
  Kokkos::deep_copy(copy, host);
  return copy;
}

}  // namespace coir
