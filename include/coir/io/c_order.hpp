#pragma once

/// \file
/// Elements of a View of any layout and memory space as row-major runs on the host, and back: for
/// writers and readers of files.

#include <coir/core/concepts.hpp>
#include <coir/core/contiguous.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/strided.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

namespace coir::io {

/// A View's extents.
template <class V>
std::array<std::int64_t, V::rank> shape_of(V const& view) {
  std::array<std::int64_t, V::rank> shape{};
  for (int d = 0; d < static_cast<int>(V::rank); ++d)
    shape[d] = static_cast<std::int64_t>(view.extent(d));
  return shape;
}

namespace detail {

/// The bytes of an array, or the largest number: shapes from files may be of any size.
template <std::size_t Rank>
std::int64_t bytes_of(std::array<std::int64_t, Rank> const& shape, std::int64_t element_bytes) {
  std::int64_t bytes = element_bytes;
  bool overflows = false;
  for (std::int64_t const extent : shape) {
    if (extent == 0) return 0;
    overflows = overflows || extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes);
  }
  return overflows ? std::numeric_limits<std::int64_t>::max() : bytes;
}

}  // namespace detail

/// A new View whose elements are not set.
///
/// \throws ResourceError if there is not enough memory
template <class V, std::size_t Rank>
V allocate(std::string const& label, std::array<std::int64_t, Rank> const& shape) {
  static_assert(Rank == std::size_t(V::rank) && Rank == std::size_t(V::rank_dynamic),
                "the View type needs one runtime extent for each dimension");
  static_assert(!std::is_same_v<typename V::array_layout, Kokkos::LayoutStride>,
                "a LayoutStride View can't be made from its extents: use copy_to_view");
  typename V::array_layout layout;
  for (int d = 0; d < static_cast<int>(Rank); ++d)
    layout.dimension[d] = static_cast<std::size_t>(shape[d]);
  expects_memory<typename V::memory_space>(
      detail::bytes_of(shape, std::int64_t(sizeof(typename V::value_type))), label);
  return V(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), layout);
}

namespace detail {

template <class Space>
inline constexpr bool host_accessible =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace, Space>::accessible;

/// A buffer for copies in C order. It holds bytes, so that its type is the same for all elements.
template <class Space>
using Staging = Kokkos::View<char*, Space>;

template <class Space>
Staging<Space> stage(std::int64_t bytes) {
  expects_memory<Space>(bytes, "a View's copy in C order");
  return Staging<Space>(
      Kokkos::view_alloc("coir::io::c_order/staging", Kokkos::WithoutInitializing),
      static_cast<std::size_t>(bytes));
}

template <class T, int Rank>
Strided<T, Rank> in_c_order(T* data, std::array<std::int64_t, Rank> const& extents) {
  return {data, extents, c_strides(extents)};
}

/// Copies elements of a memory space to the host, and waits.
template <class Space, class T, int Rank>
void copy_to_host(Strided<T const, Rank> const& from, T* to) {
  std::int64_t const bytes = from.size() * static_cast<std::int64_t>(sizeof(T));
  if (is_c_order(from)) {
    copy_bytes<Kokkos::HostSpace, Space>(to, from.data, bytes);
  } else if constexpr (Rank > 0 && host_accessible<Space>) {
    Kokkos::DefaultHostExecutionSpace const exec;
    copy_strided(exec, from, in_c_order<T, Rank>(to, from.extents));
    exec.fence();
  } else if constexpr (Rank > 0) {
    auto const near = stage<Space>(bytes);
    T* const there = reinterpret_cast<T*>(near.data());
    copy_strided(typename Space::execution_space(), from, in_c_order<T, Rank>(there, from.extents));
    copy_bytes<Kokkos::HostSpace, Space>(to, there, bytes);
  }
}

/// Copies elements from the host to a memory space, and waits.
template <class Space, class T, int Rank>
void copy_from_host(T const* from, Strided<T, Rank> const& to) {
  std::int64_t const bytes = to.size() * static_cast<std::int64_t>(sizeof(T));
  if (is_c_order(to)) {
    copy_bytes<Space, Kokkos::HostSpace>(to.data, from, bytes);
  } else if constexpr (Rank > 0 && host_accessible<Space>) {
    Kokkos::DefaultHostExecutionSpace const exec;
    copy_strided(exec, in_c_order<T const, Rank>(from, to.extents), to);
    exec.fence();
  } else if constexpr (Rank > 0) {
    auto const near = stage<Space>(bytes);
    T* const there = reinterpret_cast<T*>(near.data());
    copy_bytes<Space, Kokkos::HostSpace>(there, from, bytes);
    typename Space::execution_space const exec;
    copy_strided(exec, in_c_order<T const, Rank>(there, to.extents), to);
    exec.fence();
  }
}

/// The rows `first` to `last` of the first axis.
template <class T, int Rank>
Strided<T, Rank> rows_of(Strided<T, Rank> all, std::int64_t first, std::int64_t last) {
  all.data += first * all.strides[0];
  all.extents[0] = last - first;
  return all;
}

/// The number of indices of the first axis that go through the host's memory at once: from a device
/// enough for fast copies, on the host no more than stay in a cache.
template <class Space, class T, int Rank>
std::int64_t indices_at_once(Strided<T, Rank> const& all) {
  constexpr std::int64_t bytes = std::int64_t(host_accessible<Space> ? 1 : 8) << 20;
  std::int64_t each = sizeof(T);
  for (int d = 1; d < Rank; ++d) each *= all.extents[d];
  return std::max<std::int64_t>(1, bytes / std::max<std::int64_t>(1, each));
}

template <class Space, class T, int Rank, class Fill>
void fill(Strided<T, Rank> const& elements, Fill const& fill) {
  if constexpr (host_accessible<Space>) {
    if (is_c_order(elements)) {
      fill(elements.data);
      return;
    }
  }
  auto const host = stage<Kokkos::HostSpace>(elements.size() * std::int64_t(sizeof(T)));
  T* const copy = reinterpret_cast<T*>(host.data());
  fill(copy);
  copy_from_host<Space, T, Rank>(copy, elements);
}

/// A View's elements, to be set.
template <StridedView V>
auto strided_to_fill(V const& view) {
  auto const all = strided(view);
  if constexpr (V::rank > 0)
    expects_distinct_elements(all.extents, all.strides, "a View to read into");
  return all;
}

}  // namespace detail

/// Elements in C order on the host: a View's memory, which must outlive this object, or a copy.
template <class T>
class HostElements {
 public:
  template <class Space, int Rank>
  static HostElements of(Strided<T const, Rank> const& view) {
    HostElements result;
    result.size_ = static_cast<std::size_t>(view.size());
    result.data_ = view.data;
    if (detail::host_accessible<Space> && is_c_order(view)) return result;
    result.copy_ = detail::stage<Kokkos::HostSpace>(view.size() * std::int64_t(sizeof(T)));
    T* const copy = reinterpret_cast<T*>(result.copy_.data());
    detail::copy_to_host<Space, T, Rank>(view, copy);
    result.data_ = copy;
    return result;
  }

  T const* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<T const> span() const { return {data_, size_}; }

 private:
  T const* data_ = nullptr;
  std::size_t size_ = 0;
  detail::Staging<Kokkos::HostSpace> copy_;
};

/// Calls use(std::span<T const>) with all elements in C order, run after run, each of whole rows. A
/// row is the elements of one first index. Elements in that order on the host aren't copied; others
/// go through some MiB.
template <StridedView V, class Use>
void for_each_run_in_c_order(V const& view, Use const& use) {
  using T = typename V::non_const_value_type;
  using Space = typename V::memory_space;
  constexpr int rank = static_cast<int>(V::rank);
  Kokkos::fence();
  Strided<T const, rank> const all = strided(view);
  bool const in_place = rank == 0 || (detail::host_accessible<Space> && is_c_order(all));
  if (in_place || all.size() == 0) {
    use(HostElements<T>::template of<Space, rank>(all).span());
    return;
  }
  if constexpr (rank > 0) {
    std::int64_t const step = detail::indices_at_once<Space>(all);
    for (std::int64_t first = 0; first < all.extents[0]; first += step)
      use(HostElements<T>::template of<Space, rank>(
              detail::rows_of(all, first, std::min(first + step, all.extents[0])))
              .span());
  }
}

/// Calls fill(first, std::span<T>) to set all elements, run after run: the span stands for whole
/// rows in C order, from number `first` on. Memory as for_each_run_in_c_order.
///
/// \param view  of rank 1 or more
/// \throws PreconditionError if elements of the View lie in the same place
template <StridedView V, class Fill>
void fill_runs_in_c_order(V const& view, Fill const& fill) {
  using T = typename V::value_type;
  using Space = typename V::memory_space;
  Kokkos::fence();
  auto const all = detail::strided_to_fill(view);
  std::int64_t const count = all.extents[0];
  std::int64_t const step = detail::host_accessible<Space> && is_c_order(all)
                                ? std::max<std::int64_t>(1, count)
                                : detail::indices_at_once<Space>(all);
  for (std::int64_t first = 0; first < count; first += step) {
    auto const rows = detail::rows_of(all, first, std::min(first + step, count));
    detail::fill<Space>(rows, [&](T* elements) {
      fill(first, std::span<T>(elements, static_cast<std::size_t>(rows.size())));
    });
  }
}

/// The rows of a View of rank 2 on the host, to be asked for in order. Rows that aren't on the host
/// go through some MiB.
template <StridedView V>
class HostRows {
 public:
  using T = typename V::non_const_value_type;

  explicit HostRows(V const& view)
      : view_(view), all_(strided(view)), step_(detail::indices_at_once<Space>(all_)) {
    Kokkos::fence();  // a kernel may still write to the View
  }

  std::span<T const> row(std::int64_t i) {
    std::int64_t const columns = all_.extents[1];
    if constexpr (detail::host_accessible<Space>)
      if (columns <= 1 || all_.strides[1] == 1)
        return {all_.data + i * all_.strides[0], static_cast<std::size_t>(columns)};
    if (first_ < 0 || i < first_ || i >= first_ + step_) {
      first_ = i;
      rows_ = HostElements<T>::template of<Space, 2>(
          detail::rows_of(all_, i, std::min(i + step_, all_.extents[0])));
    }
    return {rows_.data() + (i - first_) * columns, static_cast<std::size_t>(columns)};
  }

 private:
  using Space = typename V::memory_space;
  V view_;  // keeps the memory
  Strided<T const, 2> all_;
  std::int64_t step_, first_ = -1;
  HostElements<T> rows_;
};

}  // namespace coir::io
