#pragma once

/// \file
/// Planes of a tile in a team's shared memory: a team that marches along the slabs of a box loads
/// planes ahead, so that its threads don't wait for memory.

#include <coir/core/kokkos.hpp>

#include <cstddef>
#include <cstdint>

namespace coir::poisson::detail {

/// Begins to copy a number into shared memory. On GPUs that can't copy without registers it is
/// there at once.
///
/// \see CUDA C++ Programming Guide, sec. "Asynchronous Data Copies"
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void begin_copy(T* shared, T const* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(from), "n"(sizeof(T))
               : "memory");
#else
  *shared = *from;
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

/// A rectangle of a plane, of which each thread of a team copies some cells.
template <class T, int Rows, int Columns, int Threads>
class PlaneTile {
 public:
  static constexpr int cells = Rows * Columns;

  /// \param row, column  of the rectangle's first cell, which may lie outside the plane
  /// \param rows, columns  of the plane: cells beyond it are copies of those at its edge
  KOKKOS_FORCEINLINE_FUNCTION PlaneTile(int rank, int row, int column, int rows, int columns,
                                        std::ptrdiff_t row_stride)
      : rank_(rank) {
    COIR_UNROLL
    for (int e = 0; e < each; ++e) {
      int const cell = rank + e * Threads, down = cell / Columns;
      int const j = row + down, k = column + (cell - down * Columns);
      offset_[e] = clamped(j, rows) * row_stride + clamped(k, columns);
    }
  }

  /// Begins to copy the rectangle.
  KOKKOS_FORCEINLINE_FUNCTION void copy(T* shared, T const* plane) const {
    COIR_UNROLL
    for (int e = 0; e < each; ++e)
      if ((e + 1) * Threads <= cells || rank_ + e * Threads < cells)
        begin_copy(shared + (rank_ + e * Threads), plane + offset_[e]);
  }

 private:
  static constexpr int each = (cells + Threads - 1) / Threads;

  KOKKOS_FORCEINLINE_FUNCTION static int clamped(int i, int count) {
    return i < 0 ? 0 : i < count ? i : count - 1;
  }

  int rank_;
  std::ptrdiff_t offset_[each];
};

/// The slot after another one of a ring of planes.
template <int Slots>
KOKKOS_FORCEINLINE_FUNCTION int next_slot(int slot) {
  return slot == Slots - 1 ? 0 : slot + 1;
}

}  // namespace coir::poisson::detail
