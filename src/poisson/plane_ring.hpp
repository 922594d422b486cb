#pragma once

/// Planes of a tile in a team's shared memory: a team that marches along the slabs of a box loads
/// planes ahead, so that its threads don't wait for memory.

#include <coir/core/kokkos.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace coir::poisson::detail {

/// Begins to copy a number to shared[Index]. On GPUs that can't copy without registers it is there
/// at once.
///
/// \see CUDA C++ Programming Guide, sec. "Asynchronous Data Copies"
template <int Index, class T>
KOKKOS_FORCEINLINE_FUNCTION void begin_copy(T* shared, T const* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0+%2], [%1], %3;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(from), "n"(Index * static_cast<int>(sizeof(T))), "n"(sizeof(T))
               : "memory");
#else
  shared[Index] = *from;
#endif
}

/// Ends a group of copies that this thread began. There may be none in it.
KOKKOS_FORCEINLINE_FUNCTION void end_of_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until all groups of this thread's copies but the last `Count` are there.
template <int Count>
KOKKOS_FORCEINLINE_FUNCTION void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Count) : "memory");
#endif
}

/// Begins to load the line of the last cache that holds a number, on GPUs that can.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void fetch_line([[maybe_unused]] T const* at) {
#if defined(__CUDA_ARCH__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#endif
}

/// The number that lies `offset` bytes behind another one. Offsets of 32 bits from an address that
/// all threads of a team share take fewer instructions than addresses of each thread.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T* behind(T* from, std::uint32_t offset) {
  using Byte = std::conditional_t<std::is_const_v<T>, char const, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(from) + offset);
}

/// The offset in bytes of a cell of a plane. Cells beyond the plane have that of one at its edge.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t offset_of_cell(int j, int k, int rows, int columns,
                                                         std::ptrdiff_t row_stride) {
  auto const clamped = [](int i, int count) { return i < 0 ? 0 : i < count ? i : count - 1; };
  return static_cast<std::uint32_t>((clamped(j, rows) * row_stride + clamped(k, columns)) *
                                    static_cast<int>(sizeof(T)));
}

/// A rectangle of a plane, of which each thread of a team copies some cells into a ring of planes
/// in shared memory.
template <class T, int Rows, int Columns, int Threads>
class PlaneTile {
 public:
  static constexpr int cells = Rows * Columns;

  /// \param ring         the ring's first plane
  /// \param row, column  of the rectangle's first cell, which may lie outside the plane
  /// \param rows, columns  of the plane: cells beyond it are copies of some in it
  KOKKOS_FORCEINLINE_FUNCTION PlaneTile(T* ring, int rank, int row, int column, int rows,
                                        int columns, std::ptrdiff_t row_stride)
      : first_(ring + rank), has_last_(rank + (each - 1) * Threads < cells) {
    COIR_UNROLL
    for (int e = 0; e < each; ++e) {
      int const cell = rank + e * Threads, down = cell / Columns;
      int const k = column + (cell - down * Columns);
      // Threads that copy the same cell would wait for one another.
      offset_[e] =
          offset_of_cell<T>(row + down, k < columns ? k : k % columns, rows, columns, row_stride);
    }
  }

  /// Begins to copy the rectangle to the ring's plane `Slot`.
  template <int Slot>
  KOKKOS_FORCEINLINE_FUNCTION void copy(T const* plane) const {
    copy_cells<Slot>(plane, std::make_integer_sequence<int, each>());
  }

 private:
  static constexpr int each = (cells + Threads - 1) / Threads;

  template <int Slot, int... E>
  KOKKOS_FORCEINLINE_FUNCTION void copy_cells(T const* plane,
                                              std::integer_sequence<int, E...>) const {
    (((E + 1) * Threads <= cells || has_last_
          ? begin_copy<Slot * cells + E * Threads>(first_, behind(plane, offset_[E]))
          : void()),
     ...);
  }

  T* first_;
  bool has_last_;
  std::uint32_t offset_[each];
};

}  // namespace coir::poisson::detail
