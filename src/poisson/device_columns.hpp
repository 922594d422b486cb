#pragma once

/// \file
/// Sweeps over boxes on devices: threads march along the first axis, so that a cell is loaded once
/// for itself and its neighbours.

#include "grid_level.hpp"

#include <coir/core/kokkos.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace coir::poisson::detail {

/// Whether a box has enough cells, rows and columns for the teams of this file. Launches take most
/// of the time on smaller boxes, and many threads would have no cell in thinner ones.
inline bool fills_columns(int const (&n)[3]) {
  return std::int64_t(n[0]) * n[1] * n[2] >= 1'000'000 && n[0] >= 8 && n[1] >= 16 && n[2] >= 32;
}

/// A box cut among the teams of a kernel: into stretches of slabs, and these into tiles of rows and
/// columns. Neighbouring teams have neighbouring tiles of the same slabs, which they find in the
/// cache.
class Tiling {
 public:
  /// A team's first cell along each axis, and the end of its slabs. The first cell of the box is
  /// (1, 1, 1).
  struct Place {
    int slab, slabs_end, row, column;
  };

  /// \param n        the box: slabs, rows, columns
  /// \param rows     of a tile
  /// \param columns  of a tile
  /// \param teams    about as many are given a place, by stretches of 8 to 64 slabs
  Tiling(int const (&n)[3], int rows, int columns, int teams)
      : n0_(n[0]),
        rows_(rows),
        columns_(columns),
        across_((n[2] + columns - 1) / columns),
        tiles_(across_ * ((n[1] + rows - 1) / rows)),
        stretch_(std::clamp(static_cast<int>(std::int64_t(n[0]) * tiles_ / teams), 8, 64)) {
    // Stretches of the same length, as nearly as can be.
    int const stretches = (n[0] + stretch_ - 1) / stretch_;
    stretch_ = (n[0] + stretches - 1) / stretches;
  }

  KOKKOS_FORCEINLINE_FUNCTION int teams() const {
    return tiles_ * ((n0_ + stretch_ - 1) / stretch_);
  }

  KOKKOS_FORCEINLINE_FUNCTION Place place(int team) const {
    int const stretch = team / tiles_;
    int const tile = team - stretch * tiles_;
    int const down = tile / across_;
    int const slab = 1 + stretch * stretch_;
    int const end = slab + stretch_ < n0_ + 1 ? slab + stretch_ : n0_ + 1;
    return {slab, end, 1 + down * rows_, 1 + (tile - down * across_) * columns_};
  }

 private:
  int n0_, rows_, columns_, across_, tiles_, stretch_;
};

/// A Jacobi sweep of a box. A thread takes `Count` slabs of a column at a time.
template <class T, int Across, int Down, int Count, bool Ahead>
struct JacobiColumns {
  static constexpr int threads = Across * Down;
  Level<T, 3> level;
  T* out;  // as large as u
  Tiling tiling;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const at = tiling.place(member.league_rank());
    int const j = at.row + member.team_rank() / Across;
    int const k = at.column + member.team_rank() % Across;
    if (j > level.n[1] || k > level.n[2]) return;
    std::ptrdiff_t const slab = level.u_slab, row = level.u_row;
    T const* u = level.u_at(at.slab, j, k);
    T const* b = level.b + level.b_offset(at.slab, j, k);
    T* updated = out + (u - level.u);

    T column[Count + 2], source[Count];
    column[0] = u[-slab];
    column[1] = u[0];
    COIR_UNROLL
    for (int c = 0; c < Count; ++c)
      if (Ahead && at.slab + c < at.slabs_end) {
        column[c + 2] = u[(c + 1) * slab];
        source[c] = b[c * level.b_slab];
      }
    for (int i = at.slab; i < at.slabs_end; i += Count) {
      T next[Count], next_source[Count], value[Count];
      COIR_UNROLL
      for (int c = 0; c < Count; ++c) {
        if (!Ahead && i + c < at.slabs_end) {
          column[c + 2] = u[(c + 1) * slab];
          source[c] = b[c * level.b_slab];
        }
        if (Ahead && i + Count + c < at.slabs_end) {
          next[c] = u[(Count + c + 1) * slab];
          next_source[c] = b[(Count + c) * level.b_slab];
        }
      }
      COIR_UNROLL
      for (int c = 0; c < Count; ++c)
        if (i + c < at.slabs_end) {
          T const* const cell = u + c * slab;
          value[c] =
              ((((((column[c] + column[c + 2]) + cell[-row]) + cell[row]) + cell[-1]) + cell[1]) -
               source[c]) *
              (T(1) / T(6));
        }
      COIR_UNROLL
      for (int c = 0; c < Count; ++c)
        if (i + c < at.slabs_end) updated[c * slab] = value[c];
      column[0] = column[Count];
      column[1] = column[Count + 1];
      COIR_UNROLL
      for (int c = 0; c < Count; ++c)
        if (Ahead) {
          column[c + 2] = next[c];
          source[c] = next_source[c];
        }
      u += Count * slab;
      updated += Count * slab;
      b += Count * level.b_slab;
    }
  }
};

/// A red-black sweep of a box from one field into another, in one pass over memory.
///
/// A thread has two rows of a column: one of its cells in a slab is red, the other is black. While
/// it marches it relaxes the red cell of a slab and then the black cell of the slab before, which
/// is in the same row. Red cells at the edge of a tile are relaxed by both teams that need them.
/// All threads of a team see each other's last red cells.
template <class T, int Across, int Down, bool FromZero>
struct RedBlackColumns {
  static constexpr int threads = Across * Down;
  static constexpr int own_rows = 2 * Down - 2, own_columns = Across - 2;
  static constexpr int scratch_bytes = 2 * threads * static_cast<int>(sizeof(T));
  Level<T, 3> level;
  T* out;  // as large as u, with the same ring
  T omega;
  T step;  // omega / 6
  Tiling tiling;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    T* const shown = static_cast<T*>(member.team_scratch(0).get_shmem(2 * threads * sizeof(T)));
    int const rank = member.team_rank();
    int const x = rank % Across, y = rank / Across;
    auto const at = tiling.place(member.league_rank());
    int const n0 = level.n[0], n1 = level.n[1], n2 = level.n[2];
    // Threads outside the box read its ring and store nothing.
    int const first = at.row - 1 + 2 * y;
    int const rows[2] = {first <= n1 ? first : n1 + 1, first < n1 ? first + 1 : n1 + 1};
    int const k = at.column - 1 + x <= n2 ? at.column - 1 + x : n2 + 1;
    bool const inside_column = k >= 1 && k <= n2;
    bool const inside[2] = {inside_column && rows[0] >= 1 && rows[0] <= n1,
                            inside_column && rows[1] >= 1 && rows[1] <= n1};
    bool const own_column = x > 0 && x < Across - 1;
    bool const own[2] = {inside[0] && own_column && y > 0, inside[1] && own_column && y < Down - 1};

    auto const clamped = [n0](int i) { return i < 0 ? 0 : i > n0 + 1 ? n0 + 1 : i; };
    T below[2], here[2], above[2], source_below[2] = {0, 0}, source[2];
    T red_below = 0, red_farther_below = 0;
    int const begin = at.slab - 1;
    COIR_UNROLL
    for (int r = 0; r < 2; ++r) {
      below[r] = old(clamped(begin - 1), rows[r], k);
      here[r] = old(begin, rows[r], k);
      above[r] = old(begin + 1, rows[r], k);
      source[r] = begin >= 1 && inside[r] ? level.b[level.b_offset(begin, rows[r], k)] : T(0);
    }
    for (int i = begin; i <= at.slabs_end; ++i) {
      // Loaded now for the next slab.
      T next[2], next_source[2] = {0, 0};
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        next[r] = old(clamped(i + 2), rows[r], k);
        if (i + 1 <= n0 && inside[r]) next_source[r] = level.b[level.b_offset(i + 1, rows[r], k)];
      }

      bool const second = ((i + first + k + 1) & 1) != 0;  // whether the red cell is in row 1
      int const row = second ? rows[1] : rows[0];
      T red = second ? here[1] : here[0];
      if (i >= 1 && i <= n0 && (second ? inside[1] : inside[0])) {
        T const outer = old(i, second ? row + 1 : row - 1, k);
        red =
            relaxed(i, row, k, red, second ? source[1] : source[0],
                    (second ? below[1] : below[0]) + (second ? above[1] : above[0]),
                    (second ? here[0] : here[1]) + outer, old(i, row, k - 1) + old(i, row, k + 1));
      }
      shown[(i & 1) * threads + rank] = red;

      if (i > at.slab) {
        T* const stored = out + (i - 1) * level.u_slab + k;
        if (second ? own[1] : own[0]) {
          T const* const reds = shown + ((i - 1) & 1) * threads + rank;
          T const black =
              relaxed(i - 1, row, k, second ? below[1] : below[0],
                      second ? source_below[1] : source_below[0], red_farther_below + red,
                      red_below + reds[second ? Across : -Across], reds[-1] + reds[1]);
          stored[row * level.u_row] = black;
        }
        if (second ? own[0] : own[1])
          stored[(second ? rows[0] : rows[1]) * level.u_row] = red_below;
      }
      member.team_barrier();

      red_farther_below = red_below;
      red_below = red;
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        below[r] = here[r];
        here[r] = above[r];
        above[r] = next[r];
        source_below[r] = source[r];
        source[r] = next_source[r];
      }
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T old(int i, int j, int k) const {
    return FromZero ? T(0) : *level.u_at(i, j, k);
  }

  /// What Level::defect() leads to, from the sums of the neighbours along each axis.
  KOKKOS_FORCEINLINE_FUNCTION T relaxed(int i, int j, int k, T here, T source, T slabs, T rows,
                                        T along) const {
    if (i == level.n[0] || j == level.n[1] || k == level.n[2]) {
      Stencil<T> const s = level.stencil(i, j, k);
      T const sum = (s.along * along + s.slabs * slabs) + s.rows * rows;
      return here + omega / s.diagonal * ((sum - source) - s.diagonal * here);
    }
    return here + step * ((((along + slabs) + rows) - source) - T(6) * here);
  }
};

/// The number of teams of `threads` that a device runs at the same time, if registers allow it.
template <class Exec>
int teams_at_a_time(Exec const& exec, int threads) {
  return std::max(1, static_cast<int>(exec.concurrency()) / threads);
}

/// A Jacobi sweep from level.u to `out`.
template <class Exec, class T>
void jacobi_columns(Exec const& exec, Level<T, 3> const& level, T* out) {
  using Sweep = JacobiColumns<T, 32, 8, sizeof(T) == 4 ? 4 : 2, false>;
  Tiling const tiling(level.n, 8, 32, 2 * teams_at_a_time(exec, Sweep::threads));
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Sweep::threads, 4>>;
  Kokkos::parallel_for("coir::poisson::device_columns/jacobi",
                       Policy(exec, tiling.teams(), Sweep::threads), Sweep{level, out, tiling});
}

/// A red-black sweep from level.u, or from zero, to `out`, whose ring must be that of u.
template <bool FromZero, class Exec, class T>
void red_black_columns(Exec const& exec, Level<T, 3> const& level, T omega, T* out) {
  using Sweep = RedBlackColumns<T, 32, 8, FromZero>;
  Tiling const tiling(level.n, Sweep::own_rows, Sweep::own_columns,
                      2 * teams_at_a_time(exec, Sweep::threads));
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Sweep::threads, 3>>;
  Kokkos::parallel_for("coir::poisson::device_columns/red_black",
                       Policy(exec, tiling.teams(), Sweep::threads)
                           .set_scratch_size(0, Kokkos::PerTeam(Sweep::scratch_bytes)),
                       Sweep{level, out, omega, omega / 6, tiling});
}

}  // namespace coir::poisson::detail
