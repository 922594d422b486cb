#pragma once

/// \file
/// Copies and zeros of memory without gaps. They are compiled once, in the library. Kokkos' own
/// copies and fills are compiled again for each type of View.

#include <coir/core/concepts.hpp>
#include <coir/core/errors.hpp>
#include <coir/core/pinned.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace coir {

/// Waits for all kernels, copies memory to memory of the same or another space, and waits for the
/// copy. The two pieces of memory are the same, or don't overlap.
///
/// \param bytes  how many; with 0 it only waits, and the pointers may be null
template <class ToSpace, class FromSpace>
void copy_bytes(void* to, void const* from, std::int64_t bytes);

/// Copies memory in the order of an instance's work, without waiting.
template <class ToSpace, class FromSpace, ExecutionSpace Exec>
void copy_bytes(Exec const& exec, void* to, void const* from, std::int64_t bytes);

/// Sets memory to zero, in the order of an instance's work and without waiting.
///
/// \param data   in memory that `exec` can write to, aligned to 4 bytes
/// \param bytes  how many
/// \throws PreconditionError unless `bytes` is a multiple of 4
template <ExecutionSpace Exec>
void clear_bytes(Exec const& exec, void* data, std::int64_t bytes);

namespace detail {

template <class T, class Space>
using Contiguous =
    Kokkos::View<T*, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// \throws PreconditionError if the View has gaps
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
  constexpr int rank = static_cast<int>(To::rank);
  static_assert(rank == static_cast<int>(From::rank), "a copy needs two Views of the same rank");
  bool alike = true;
  for (int d = 0; d < rank; ++d)
    alike = alike && to.extent(d) == from.extent(d) &&
            (to.extent(d) <= 1 || to.stride(d) == from.stride(d));
  expects(alike || to.size() + from.size() == 0,
          "a copy needs two Views of the same extents and order of elements");
  bytes_of_view(from);
  return bytes_of_view(to);
}

}  // namespace detail

/// Waits for all kernels, copies the elements of a View to another View, and waits for the copy.
/// The elements of both lie in the same order, without gaps. The two are the same memory, or don't
/// overlap.
///
/// \throws PreconditionError if extents or strides differ, or a View has gaps
template <class To, class From>
  requires(Kokkos::is_view<To>::value && Kokkos::is_view<From>::value)
void copy_contiguous(To const& to, From const& from) {
  copy_bytes<typename To::memory_space, typename From::memory_space>(
      to.data(), from.data(), detail::bytes_to_copy(to, from));
}

/// Copies such elements in the order of an instance's work, without waiting.
template <ExecutionSpace Exec, class To, class From>
  requires(Kokkos::is_view<To>::value && Kokkos::is_view<From>::value)
void copy_contiguous(Exec const& exec, To const& to, From const& from) {
  copy_bytes<typename To::memory_space, typename From::memory_space>(
      exec, to.data(), from.data(), detail::bytes_to_copy(to, from));
}

/// Sets all elements of a View without gaps to zero, in the order of an instance's work and without
/// waiting.
///
/// \throws PreconditionError if the View has gaps
template <ExecutionSpace Exec, class V>
  requires Kokkos::is_view<V>::value
void set_to_zero(Exec const& exec, V const& view) {
  static_assert(sizeof(typename V::value_type) % 4 == 0 && alignof(typename V::value_type) >= 4 &&
                    std::is_trivially_copyable_v<typename V::value_type>,
                "elements are cleared as words of four bytes");
  clear_bytes(exec, view.data(), detail::bytes_of_view(view));
}

/// Waits for all kernels and returns the elements of a View without gaps in the host's memory: the
/// View itself if its elements are there, otherwise a copy.
///
/// \throws PreconditionError if the View has gaps
template <class V>
  requires Kokkos::is_view<V>::value
auto host_view_of(V const& view) {
  using Host =
      Kokkos::View<typename V::non_const_data_type, typename V::array_layout, Kokkos::HostSpace>;
  if constexpr (std::is_same_v<typename V::memory_space, Kokkos::HostSpace>) {
    detail::bytes_of_view(view);
    Kokkos::fence();
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
  expects(bytes % 4 == 0, "bytes are cleared as words of four", bytes);
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
