#pragma once

/// \file
/// Types of Kokkos Views by their element and rank.

#include <coir/core/kokkos.hpp>

namespace coir {

namespace detail {

template <class T, int Rank>
struct ViewData {
  using type = typename ViewData<T, Rank - 1>::type*;
};
template <class T>
struct ViewData<T, 0> {
  using type = T;
};

}  // namespace detail

/// The data type of a View with `Rank` extents that are known at run time: T** for rank 2.
template <class T, int Rank>
using view_data_t = typename detail::ViewData<T, Rank>::type;

/// A View of memory that someone else owns.
template <class T, int Rank, class Layout, class Space>
using UnmanagedView =
    Kokkos::View<view_data_t<T, Rank>, Layout, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace coir
