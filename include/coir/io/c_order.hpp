#pragma once

/// \file
/// Elements of any View, of any layout and memory space, as row-major runs on the host, and back: for writers and
/// readers of files.

#include <coir/core/concepts.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/views.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace coir::io {

namespace detail {

template <class V, class Space>
using COrderView = Kokkos::View<view_data_t<typename V::non_const_value_type, int(V::rank)>,
                                Kokkos::LayoutRight, Space>;

template <class V>
inline constexpr bool host_accessible =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                               typename V::memory_space>::accessible;

}  // namespace detail

/// A View's extents.
template <class V>
std::array<std::int64_t, V::rank> shape_of(V const& view) {
  std::array<std::int64_t, V::rank> shape{};
  for (int d = 0; d < static_cast<int>(V::rank); ++d)
    shape[d] = static_cast<std::int64_t>(view.extent(d));
  return shape;
}

/// A new View whose elements are not set.
///
/// \throws ResourceError if memory is short
template <class V, std::size_t Rank>
V allocate(std::string const& label, std::array<std::int64_t, Rank> const& shape) {
  static_assert(Rank == std::size_t(V::rank) && Rank == std::size_t(V::rank_dynamic),
                "the View type needs one runtime extent for each dimension");
  static_assert(!std::is_same_v<typename V::array_layout, Kokkos::LayoutStride>,
                "a LayoutStride View can't be made from its extents: use copy_to_view");
  typename V::array_layout layout;
  std::int64_t count = 1;
  for (int d = 0; d < static_cast<int>(Rank); ++d) {
    layout.dimension[d] = static_cast<std::size_t>(shape[d]);
    count *= shape[d];
  }
  expects_memory<typename V::memory_space>(count * std::int64_t(sizeof(typename V::value_type)),
                                           label);
  return V(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), layout);
}

namespace detail {

// True if the elements lie one after the other with the last index fastest, whatever the layout's name.
template <class V>
bool is_c_order(V const& view) {
  std::size_t expected = 1;
  for (int d = static_cast<int>(V::rank) - 1; d >= 0; --d) {
    if (view.extent(d) != 1 && static_cast<std::size_t>(view.stride(d)) != expected) return false;
    expected *= view.extent(d);
  }
  return true;
}

}  // namespace detail

/// Calls fill(T* elements), which writes view.size() elements in C order, and puts them into the View.
template <class V, class Fill>
void fill_in_c_order(V const& view, Fill const& fill) {
  Kokkos::fence();  // a kernel may still use the View
  if constexpr (detail::host_accessible<V>) {
    if (detail::is_c_order(view)) {
      fill(view.data());
      return;
    }
  }
  auto const host =
      allocate<detail::COrderView<V, Kokkos::HostSpace>>("coir::io::staging", shape_of(view));
  fill(host.data());
  // Kokkos reorders within a memory space and copies between spaces, but not both at once.
  if constexpr (detail::host_accessible<V>)
    Kokkos::deep_copy(view, host);
  else
    Kokkos::deep_copy(view, Kokkos::create_mirror_view_and_copy(typename V::memory_space(), host));
}

/// The View's elements in C order on the host: the View's own memory where they already are, else a copy.
template <class V>
auto to_host_c_order(V const& view) {
  using T = typename V::non_const_value_type;
  using Host =
      Kokkos::View<view_data_t<T const, int(V::rank)>, Kokkos::LayoutRight, Kokkos::HostSpace>;
  Kokkos::fence();  // a kernel may still write to the View
  if constexpr (detail::host_accessible<V>) {
    if (detail::is_c_order(view)) {
      Kokkos::LayoutRight layout;
      for (int d = 0; d < static_cast<int>(V::rank); ++d) layout.dimension[d] = view.extent(d);
      return Host(view.data(), layout);
    }
    auto const host =
        allocate<detail::COrderView<V, Kokkos::HostSpace>>("coir::io::staging", shape_of(view));
    Kokkos::deep_copy(host, view);
    return Host(host);
  } else {
    auto const near = allocate<detail::COrderView<V, typename V::memory_space>>("coir::io::staging",
                                                                                shape_of(view));
    Kokkos::deep_copy(near, view);
    return Host(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), near));
  }
}

namespace detail {

// Indices first to last of the first dimension, all of the others.
template <class V, std::size_t... Others>
auto part_of(V const& view, std::size_t first, std::size_t last, std::index_sequence<Others...>) {
  return Kokkos::subview(view, std::pair<std::size_t, std::size_t>(first, last),
                         ((void)Others, Kokkos::ALL)...);
}

// How many indices of the first dimension go through the host's memory at once: from a device as much as makes copies
// fast, on the host no more than stays in a cache.
template <class V>
std::size_t indices_at_once(V const& view) {
  constexpr std::size_t bytes = std::size_t(host_accessible<V> ? 1 : 8) << 20;
  std::size_t each = sizeof(typename V::value_type);
  for (int d = 1; d < static_cast<int>(V::rank); ++d) each *= view.extent(d);
  return std::max<std::size_t>(1, bytes / std::max<std::size_t>(1, each));
}

}  // namespace detail

/// Calls use(std::span<T const>) with all elements in C order, run after run, each of whole rows (a row is all that has
/// the same first index). Elements that already are in that order on the host are not copied, others go through some
/// MiB.
template <class V, class Use>
void for_each_run_in_c_order(V const& view, Use const& use) {
  bool in_place = V::rank == 0;
  if constexpr (detail::host_accessible<V>) in_place = in_place || detail::is_c_order(view);
  if (in_place || view.size() == 0) {
    auto const host = to_host_c_order(view);
    use(std::span(host.data(), host.size()));
    return;
  }
  if constexpr (V::rank > 0) {
    std::size_t const step = detail::indices_at_once(view), all = view.extent(0);
    for (std::size_t first = 0; first < all; first += step) {
      auto const part = detail::part_of(view, first, std::min(first + step, all),
                                        std::make_index_sequence<std::size_t(V::rank) - 1>());
      auto const host = to_host_c_order(part);
      use(std::span(host.data(), host.size()));
    }
  }
}

/// Calls fill(first, std::span<T>) to have all elements set, row by row from the first one on: the span stands for whole
/// rows in C order, the first of which is number `first`. Memory as for_each_run_in_c_order.
///
/// \param view  of rank 1 or more
template <class V, class Fill>
void fill_runs_in_c_order(V const& view, Fill const& fill) {
  using T = typename V::value_type;
  std::size_t const all = view.extent(0), row = all == 0 ? 0 : view.size() / all;
  std::size_t step = detail::indices_at_once(view);
  if constexpr (detail::host_accessible<V>)
    if (detail::is_c_order(view)) step = std::max<std::size_t>(1, all);
  for (std::size_t first = 0; first < all; first += step) {
    std::size_t const last = std::min(first + step, all);
    fill_in_c_order(
        detail::part_of(view, first, last, std::make_index_sequence<std::size_t(V::rank) - 1>()),
        [&](T* elements) {
          fill(static_cast<std::int64_t>(first), std::span<T>(elements, (last - first) * row));
        });
  }
}

/// The rows of a View of rank 2 on the host, asked for from the first to the last. Rows that aren't there already go
/// through some MiB.
template <class V>
class HostRows {
 public:
  using T = typename V::non_const_value_type;

  explicit HostRows(V const& view) : view_(view), step_(detail::indices_at_once(view)) {
    Kokkos::fence();  // a kernel may still write to the View
  }

  std::span<T const> row(std::int64_t i) {
    auto const n = static_cast<std::size_t>(i), columns = static_cast<std::size_t>(view_.extent(1));
    if constexpr (detail::host_accessible<V>)
      if (columns <= 1 || view_.stride(1) == 1) return {&view_(n, 0), columns};
    if (rows_.extent(0) == 0 || n < first_ || n >= first_ + rows_.extent(0)) {
      first_ = n;
      auto const last = std::min<std::size_t>(n + step_, view_.extent(0));
      rows_ = to_host_c_order(detail::part_of(view_, n, last, std::index_sequence<1>()));
    }
    return {rows_.data() + (n - first_) * columns, columns};
  }

 private:
  V view_;
  std::size_t step_;
  std::size_t first_ = 0;
  Kokkos::View<T const**, Kokkos::LayoutRight, Kokkos::HostSpace> rows_;
};

}  // namespace coir::io
