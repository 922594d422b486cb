#pragma once

/// One grid of a multigrid hierarchy, and the arithmetic of one of its cells.
///
/// A grid's cells lie at 1, 2, ..., n along each axis, in units of its spacing, and its boundary at
/// 0 and at n + gap. On the finest grid gap = 1. A coarse grid keeps every second cell, so that its
/// last cell may be closer to the boundary, or farther from it: 1/2 <= gap < 3/2. Everything that
/// depends on the gap is in here.

#include <coir/core/kokkos.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace coir::poisson::detail {

/// The discrete operator at one cell, by finite volumes. The coefficient of a neighbour is the area
/// of the face between them; the diagonal is the sum over the faces of area over distance.
template <class T>
struct Stencil {
  T slabs;  // coupling to the neighbours along axis 0
  T rows;   // along axis 1 (3-D only)
  T along;  // along the last axis
  T diagonal;
};

/// Extents are those of a 3-D grid: n[0] slabs of n[1] rows of n[2] columns; in 2-D a slab is one
/// row.
template <class T, int Rank>
struct Level {
  static_assert(Rank == 2 || Rank == 3);

  int n[3];
  T width[3] = {1, 1, 1};  // of the last cell's volume: (1 + gap) / 2
  /// Linear extrapolation to one spacing beyond the last cell gives that cell's value times this: 1
  /// - 1 / gap.
  T ghost[3] = {0, 0, 0};
  std::ptrdiff_t u_slab = 0, u_row = 0, b_slab = 0, b_row = 0;  // strides
  T* u = nullptr;           // the unknown; cell (0, 0, 0) of its ring
  T const* b = nullptr;     // the source; cell (1, 1, 1)
  T* restricted = nullptr;  // the source below the finest grid, where the solver may write it
  T* second = nullptr;      // a field like u for sweeps of devices from one to the other, or none
  T* scratch = nullptr;  // for smoothers out of place: as many numbers as the source, without gaps

  KOKKOS_FORCEINLINE_FUNCTION T* u_at(int i, int j, int k) const {
    return u + (i * u_slab + (Rank == 3 ? j * u_row : 0) + k);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::ptrdiff_t b_offset(int i, int j, int k) const {
    return (i - 1) * b_slab + (Rank == 3 ? (j - 1) * b_row : 0) + (k - 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION T* scratch_at(int i, int j, int k) const {
    return scratch + ((i - 1) * std::ptrdiff_t(n[1]) + (j - 1)) * n[2] + (k - 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION T width_at(int axis, int i) const {
    return i == n[axis] ? width[axis] : T(1);
  }
  // 1 / (distance to the cell before) + 1 / (distance to the cell after, or to the boundary)
  KOKKOS_FORCEINLINE_FUNCTION T stiffness_at(int axis, int i) const {
    return i == n[axis] ? T(2) - ghost[axis] : T(2);
  }

  KOKKOS_FORCEINLINE_FUNCTION Stencil<T> stencil(int i, int j, int k) const {
    T const slab_width = width_at(0, i);
    T const column_width = width_at(2, k);
    if constexpr (Rank == 2)
      return {column_width, T(0), slab_width,
              column_width * stiffness_at(0, i) + slab_width * stiffness_at(2, k)};
    T const row_width = width_at(1, j);
    T const slabs = row_width * column_width;
    T const rows = slab_width * column_width;
    T const along = slab_width * row_width;
    return {slabs, rows, along,
            slabs * stiffness_at(0, i) + rows * stiffness_at(1, j) + along * stiffness_at(2, k)};
  }

  /// L u - b at a cell; `cell` points at its u. Away from the boundary every width is 1. The ring
  /// of a coarse grid is zero, so that the distance to it matters for the diagonal alone.
  KOKKOS_FORCEINLINE_FUNCTION T defect(T const* cell, T source, Stencil<T> const& s) const {
    T sum = s.along * (cell[-1] + cell[1]) + s.slabs * (cell[-u_slab] + cell[u_slab]);
    if constexpr (Rank == 3) sum += s.rows * (cell[-u_row] + cell[u_row]);
    return (sum - source) - s.diagonal * cell[0];
  }

  /// Whether a cell has the stencil of an unbounded grid: it isn't the last along any axis.
  KOKKOS_FORCEINLINE_FUNCTION bool has_plain_stencil(int i, int j, int k) const {
    return i != n[0] && (Rank == 2 || j != n[1]) && k != n[2];
  }

  /// Whether the boundary is one spacing from the last cell along each axis, as on the finest grid.
  bool has_unit_gaps() const {
    for (int d = 0; d < 3; ++d)
      if (width[d] != T(1) || ghost[d] != T(0)) return false;
    return true;
  }

  /// defect() at a cell with the plain stencil.
  KOKKOS_FORCEINLINE_FUNCTION T plain_defect(T const* cell, T source) const {
    T sum = (cell[-1] + cell[1]) + (cell[-u_slab] + cell[u_slab]);
    if constexpr (Rank == 3) sum += cell[-u_row] + cell[u_row];
    return (sum - source) - T(2 * Rank) * cell[0];
  }

  /// The residual at a cell of the finest grid for u = 0 inside with the caller's boundary values.
  /// Relative residuals divide by its norm.
  KOKKOS_FORCEINLINE_FUNCTION T source_with_ring(int i, int j, int k) const {
    T const* const cell = u_at(i, j, k);
    T r = b[b_offset(i, j, k)];
    if (i == 1) r -= cell[-u_slab];
    if (i == n[0]) r -= cell[u_slab];
    if (Rank == 3 && j == 1) r -= cell[-u_row];
    if (Rank == 3 && j == n[1]) r -= cell[u_row];
    if (k == 1) r -= cell[-1];
    if (k == n[2]) r -= cell[1];
    return r;
  }

  std::int64_t cells() const { return std::int64_t(n[0]) * n[1] * n[2]; }
};

/// A source and an unknown as a grid, whatever their strides.
template <class T, int Rank, class B, class U>
Level<T, Rank> finest_level(B const& b, U const& u) {
  Level<T, Rank> level;
  level.n[0] = static_cast<int>(b.extent(0));
  level.n[1] = Rank == 3 ? static_cast<int>(b.extent(1)) : 1;
  level.n[2] = static_cast<int>(b.extent(Rank - 1));
  level.u_slab = static_cast<std::ptrdiff_t>(u.stride(0));
  level.b_slab = static_cast<std::ptrdiff_t>(b.stride(0));
  if constexpr (Rank == 3) {
    level.u_row = static_cast<std::ptrdiff_t>(u.stride(1));
    level.b_row = static_cast<std::ptrdiff_t>(b.stride(1));
  }
  level.u = u.data();
  level.b = b.data();
  return level;
}

/// The coarse cells that a fine cell lies between along an axis, `index` and `index + 1`, and the
/// weights of their values. The second may be in the ring.
template <class T>
struct Between {
  int index;
  T lower, upper;
};

/// \param i      the fine cell
/// \param n      number of coarse cells
/// \param ghost  of the coarse grid, along this axis
template <class T>
KOKKOS_FORCEINLINE_FUNCTION Between<T> between(int i, int n, T ghost) {
  int const index = i / 2;
  bool const midway = i % 2 != 0;
  if (index > n) return {n, ghost, T(0)};
  if (index == n && midway) return {n, (T(1) + ghost) / 2, T(0)};
  return midway ? Between<T>{index, T(0.5), T(0.5)} : Between<T>{index, T(1), T(0)};
}

/// The weight of the fine cell 2 I + offset in the coarse cell I, for -1 <= offset <= 2: the
/// transpose of between().
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T share(int offset, bool is_last, T ghost) {
  if (offset == 0) return T(1);
  if (offset == -1 || !is_last) return T(0.5);
  return offset == 1 ? (T(1) + ghost) / 2 : ghost;
}

/// A cell's colour: the parity of the sum of its indices. The first cell has colour 0.
KOKKOS_FORCEINLINE_FUNCTION int colour_of(int i, int j, int k) { return (i + j + k + 1) & 1; }

/// The first column of a row that has a colour: 1 or 2.
KOKKOS_FORCEINLINE_FUNCTION int first_column(int i, int j, int colour) {
  return 1 + ((i + j + colour) & 1);
}

/// How to smooth on a level: by red-black relaxation, or damped Jacobi.
template <class T>
struct Smoothing {
  bool red_black;
  T omega;
  int sweeps;
};

/// Restriction adds fine residuals with weights whose sum is 2^Rank. The coarse right side, in
/// units of the spacing squared, is four times their mean.
template <class T, int Rank>
inline constexpr T restriction_scale = Rank == 2 ? T(1) : T(0.5);

}  // namespace coir::poisson::detail
