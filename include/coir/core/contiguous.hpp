#pragma once

/// \file
/// Copies and zeros of memory without gaps. They are compiled once, in the library: Kokkos' own copies and fills, and the
/// kernels behind them for Views with gaps, are compiled again for each type of View.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/pinned.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace coir {

/// Copies memory to memory that doesn't overlap it, of the same or another space, once all kernels have ended, and waits.
///
/// \param bytes  how many; with 0 it only waits, and the pointers may be null
template <class ToSpace, class FromSpace>
void copy_bytes(void* to, void const* from, std::int64_t bytes);

/// The same in the order of an instance's work, and without waiting.
template <class ToSpace, class FromSpace, ExecutionSpace Exec>
void copy_bytes(Exec const& exec, void* to, void const* from, std::int64_t bytes);

/// Sets memory that `exec` writes to to zero, in the order of its work and without waiting.
///
/// \param bytes  how many, a multiple of 4
template <ExecutionSpace Exec>
void clear_bytes(Exec const& exec, void* data, std::int64_t bytes);

namespace detail {

template <class T, class Space>
using Contiguous =
    Kokkos::View<T*, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class V>
std::int64_t bytes_of_view(V const& view) {
  expects(view.span_is_contiguous(), "a View must have no gaps here");
  return static_cast<std::int64_t>(view.size() * sizeof(typename V::value_type));
}

template <class To, class From>
std::int64_t bytes_to_copy(To const& to, From const& from) {
  static_assert(SameValueType<To, From> && !std::is_const_v<typename To::value_type> &&
                    std::is_trivially_copyable_v<typename To::value_type>,
                "a copy needs two Views of the same elements, the first of which can be written");
  static_assert(To::rank == 1 ||
                    std::is_same_v<typename To::array_layout, typename From::array_layout>,
                "a copy needs two Views of the same layout");
  bool alike = To::rank == From::rank;
  for (int d = 0; alike && d < static_cast<int>(To::rank); ++d)
    alike = to.extent(d) == from.extent(d);
  expects(alike, "a copy needs two Views of the same extents");
  bytes_of_view(from);
  return bytes_of_view(to);
}

}  // namespace detail

/// Copies the elements of a View to another of the same layout and extents. Neither has gaps, and they don't overlap. Waits
/// for all kernels before, and for the copy.
///
/// \throws PreconditionError if the extents differ, or a View has gaps
template <class To, class From>
void copy_contiguous(To const& to, From const& from) {
  copy_bytes<typename To::memory_space, typename From::memory_space>(
      to.data(), from.data(), detail::bytes_to_copy(to, from));
}

/// The same in the order of an instance's work, and without waiting.
template <ExecutionSpace Exec, class To, class From>
void copy_contiguous(Exec const& exec, To const& to, From const& from) {
  copy_bytes<typename To::memory_space, typename From::memory_space>(
      exec, to.data(), from.data(), detail::bytes_to_copy(to, from));
}

/// Sets all elements of a View without gaps to zero, in the order of an instance's work and without waiting.
///
/// \throws PreconditionError if the View has gaps
template <ExecutionSpace Exec, class V>
void clear(Exec const& exec, V const& view) {
  static_assert(sizeof(typename V::value_type) % 4 == 0 &&
                    std::is_trivially_copyable_v<typename V::value_type>,
                "elements are cleared as words of four bytes");
  clear_bytes(exec, view.data(), detail::bytes_of_view(view));
}

/// The elements of a View without gaps in the host's memory: a copy, or the View itself where it is there. Waits.
template <class V>
auto on_host(V const& view) {
  using Host =
      Kokkos::View<typename V::non_const_data_type, typename V::array_layout, Kokkos::HostSpace>;
  if constexpr (std::is_same_v<typename V::memory_space, Kokkos::HostSpace>) {
    return view;
  } else {
    Host const host(Kokkos::view_alloc(Kokkos::WithoutInitializing, view.label()), view.layout());
    copy_contiguous(host, view);
    return host;
  }
}

template <class ToSpace, class FromSpace>
void copy_bytes(void* to, void const* from, std::int64_t bytes) {
  auto const count = static_cast<std::size_t>(bytes);
  Kokkos::deep_copy(
      detail::Contiguous<char, ToSpace>(static_cast<char*>(to), count),
      detail::Contiguous<char const, FromSpace>(static_cast<char const*>(from), count));
}

template <class ToSpace, class FromSpace, ExecutionSpace Exec>
void copy_bytes(Exec const& exec, void* to, void const* from, std::int64_t bytes) {
  if (bytes == 0) return;
  auto const count = static_cast<std::size_t>(bytes);
  Kokkos::deep_copy(
      exec, detail::Contiguous<char, ToSpace>(static_cast<char*>(to), count),
      detail::Contiguous<char const, FromSpace>(static_cast<char const*>(from), count));
}

template <ExecutionSpace Exec>
void clear_bytes(Exec const& exec, void* data, std::int64_t bytes) {
  if (bytes == 0) return;
  Kokkos::deep_copy(exec,
                    detail::Contiguous<std::uint32_t, typename Exec::memory_space>(
                        static_cast<std::uint32_t*>(data), static_cast<std::size_t>(bytes / 4)),
                    std::uint32_t(0));
}

// Compiled once, in the library, for its spaces.
#define COIR_COPY_BYTES(keyword, ToSpace, FromSpace) \
  keyword template void copy_bytes<ToSpace, FromSpace>(void*, void const*, std::int64_t)
#define COIR_COPY_BYTES_ON(keyword, Exec, ToSpace, FromSpace)                           \
  keyword template void copy_bytes<ToSpace, FromSpace>(Exec const&, void*, void const*, \
                                                       std::int64_t)
#define COIR_CLEAR_BYTES(keyword, Exec) \
  keyword template void clear_bytes(Exec const&, void*, std::int64_t)

#define COIR_CONTIGUOUS_ON_HOST(keyword)                                            \
  COIR_COPY_BYTES(keyword, Kokkos::HostSpace, Kokkos::HostSpace);                   \
  COIR_COPY_BYTES_ON(keyword, Kokkos::DefaultHostExecutionSpace, Kokkos::HostSpace, \
                     Kokkos::HostSpace);                                            \
  COIR_CLEAR_BYTES(keyword, Kokkos::DefaultHostExecutionSpace)
#define COIR_CONTIGUOUS_ON_DEVICE(keyword, Exec, Memory)        \
  COIR_COPY_BYTES(keyword, Memory, Kokkos::HostSpace);          \
  COIR_COPY_BYTES(keyword, Kokkos::HostSpace, Memory);          \
  COIR_COPY_BYTES_ON(keyword, Exec, Memory, Memory);            \
  COIR_COPY_BYTES_ON(keyword, Exec, Memory, Kokkos::HostSpace); \
  COIR_COPY_BYTES_ON(keyword, Exec, Kokkos::HostSpace, Memory); \
  COIR_COPY_BYTES_ON(keyword, Exec, Memory, PinnedSpace);       \
  COIR_COPY_BYTES_ON(keyword, Exec, PinnedSpace, Memory);       \
  COIR_CLEAR_BYTES(keyword, Exec)

COIR_CONTIGUOUS_ON_HOST(extern);
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
COIR_CONTIGUOUS_ON_DEVICE(extern, Kokkos::DefaultExecutionSpace,
                          Kokkos::DefaultExecutionSpace::memory_space);
#endif

}  // namespace coir
