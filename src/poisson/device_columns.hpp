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
  /// \param slabs    of a stretch, about
  Tiling(int const (&n)[3], int rows, int columns, int slabs)
      : n0_(n[0]),
        rows_(rows),
        columns_(columns),
        across_((n[2] + columns - 1) / columns),
        tiles_(across_ * ((n[1] + rows - 1) / rows)) {
    // Stretches of the same length, as nearly as can be.
    int const stretches = (n[0] + slabs - 1) / slabs;
    stretch_ = (n[0] + stretches - 1) / stretches;
  }

  /// Stretches of 8 to 64 slabs, so that about as many teams have a place. Long ones suit sweeps
  /// that compute the cells at the ends of a stretch twice.
  static Tiling for_teams(int const (&n)[3], int rows, int columns, int teams) {
    std::int64_t const tiles = Tiling(n, rows, columns, n[0]).teams();
    auto const slabs = std::clamp<std::int64_t>(n[0] * tiles / teams, 8, 64);
    return Tiling(n, rows, columns, static_cast<int>(slabs));
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
    // What the next pass through the loop needs, as it is being loaded.
    T next[Count] = {}, next_source[Count] = {};
    auto const load = [&](int i, T const* cell, T const* from) {
      COIR_UNROLL
      for (int c = 0; c < Count; ++c)
        if (i + c < at.slabs_end) {
          next[c] = cell[(c + 1) * slab];
          next_source[c] = from[c * level.b_slab];
        }
    };
    if (Ahead) load(at.slab, u, b);
    for (int i = at.slab; i < at.slabs_end; i += Count) {
      if (!Ahead) load(i, u, b);
      COIR_UNROLL
      for (int c = 0; c < Count; ++c) {
        column[c + 2] = next[c];
        source[c] = next_source[c];
      }
      if (Ahead) load(i + Count, u + Count * slab, b + Count * level.b_slab);
      T value[Count] = {};
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
    March march(*this, tiling.place(member.league_rank()), shown, member.team_rank());
    // The rows change their parts from slab to slab, and the loop has both cases, so that no number
    // has to be moved.
    int i = march.at.slab - 1;
    for (; i < march.at.slabs_end; i += 2) {
      march.relax(i, march.first, march.second);
      member.team_barrier();
      march.relax(i + 1, march.second, march.first);
      member.team_barrier();
    }
    if (i == march.at.slabs_end) {
      march.relax(i, march.first, march.second);
      member.team_barrier();
    }
  }

 private:
  /// What a thread knows of one of its rows: its cells in three slabs around the one where red
  /// cells are relaxed, and their sources.
  struct Row {
    int j;
    std::ptrdiff_t cell, outer;  // from the thread's lower row: this row, and the one beyond it
    int reds_beyond;             // from this thread's red cell: that of the row beyond
    bool inside, own, at_end;
    T below = 0, here = 0, above = 0, source_below = 0, source = 0;
  };

  struct March {
    RedBlackColumns const& sweep;
    Tiling::Place at;
    int j, k;  // the lower row, and the column
    bool exist[2], inside[2], own[2];
    bool swapped;       // whether `first` is the thread's upper row
    Row first, second;  // the row with the red cell of the first slab, and the other
    T* reds;            // of this thread, of the slab
    T* reds_below;      // of the slab before
    T const* u;         // the lower row's cell of the slab
    T* stored;          // of the slab before
    T red_below = 0, red_farther_below = 0;
    T lower = 0, upper = 0, lower_source = 0, upper_source = 0;  // being loaded

    KOKKOS_FORCEINLINE_FUNCTION March(RedBlackColumns const& sweep_, Tiling::Place const& at_,
                                      T* shown, int rank)
        : sweep(sweep_), at(at_) {
      auto const& level = sweep.level;
      int const x = rank % Across, y = rank / Across, i = at.slab - 1;
      j = at.row - 1 + 2 * y;
      k = at.column - 1 + x;
      bool const own_column = x > 0 && x < Across - 1;
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        exist[r] = k <= level.n[2] + 1 && j + r <= level.n[1] + 1;
        inside[r] = k >= 1 && k <= level.n[2] && j + r >= 1 && j + r <= level.n[1];
        own[r] = inside[r] && own_column && (r == 0 ? y > 0 : y < Down - 1);
      }
      std::ptrdiff_t const cell = i * level.u_slab + j * level.u_row + k;
      u = level.u + cell;
      stored = sweep.out + (cell - level.u_slab);
      reds = shown + rank;
      reds_below = reds + threads;
      swapped = ((i + j + k + 1) & 1) != 0;
      set(first, swapped);
      set(second, !swapped);
      if (!FromZero) {
        if (i >= 1) first.below = exists(first) ? u[first.cell - level.u_slab] : T(0);
        if (i >= 1) second.below = exists(second) ? u[second.cell - level.u_slab] : T(0);
        first.here = exists(first) ? u[first.cell] : T(0);
        second.here = exists(second) ? u[second.cell] : T(0);
      }
      load(i);
    }

    KOKKOS_FORCEINLINE_FUNCTION bool exists(Row const& row) const {
      return row.cell != 0 ? exist[1] : exist[0];
    }

    KOKKOS_FORCEINLINE_FUNCTION void set(Row& row, bool upper) {
      auto const& level = sweep.level;
      row.j = j + (upper ? 1 : 0);
      row.cell = upper ? level.u_row : 0;
      row.outer = upper ? 2 * level.u_row : -level.u_row;
      row.reds_beyond = upper ? Across : -Across;
      row.inside = upper ? inside[1] : inside[0];
      row.own = upper ? own[1] : own[0];
      row.at_end = row.j == level.n[1] || k == level.n[2];
    }

    /// Relaxes the red cell of slab i, which is in `row`, then the black one of the slab before.
    KOKKOS_FORCEINLINE_FUNCTION void relax(int i, Row& row, Row& other) {
      auto const& level = sweep.level;
      // What the call before began to load.
      bool const is_upper = row.cell != 0;
      row.above = is_upper ? upper : lower;
      other.above = is_upper ? lower : upper;
      row.source = is_upper ? upper_source : lower_source;
      other.source = is_upper ? lower_source : upper_source;
      load(i + 1);

      T red = row.here;
      if (row.inside && i >= 1 && i <= level.n[0]) {
        T beyond = 0, along = 0;
        if (!FromZero) {
          beyond = u[row.outer];
          along = u[row.cell - 1] + u[row.cell + 1];
        }
        red = sweep.relaxed(row.at_end, i, row.j, k, row.here, row.source, row.below + row.above,
                            other.here + beyond, along);
      }
      *reds = red;

      if (i > at.slab) {
        T black = 0;
        if (row.own)
          black = sweep.relaxed(row.at_end, i - 1, row.j, k, row.below, row.source_below,
                                red_farther_below + red, red_below + reds_below[row.reds_beyond],
                                reds_below[-1] + reds_below[1]);
        if (own[0]) stored[0] = is_upper ? red_below : black;
        if (own[1]) stored[level.u_row] = is_upper ? black : red_below;
      }
      red_farther_below = red_below;
      red_below = red;
      T* const last = reds_below;
      reds_below = reds;
      reds = last;
      shift(row);
      shift(other);
      u += level.u_slab;
      stored += level.u_slab;
    }

    /// Begins to load what relax() needs of slab i and of the slab after it: nothing may use these
    /// numbers before the next call of relax(), or all threads would wait for memory here.
    KOKKOS_FORCEINLINE_FUNCTION void load(int i) {
      auto const& level = sweep.level;
      if (!FromZero && i <= level.n[0]) {
        T const* const cell = level.u_at(i + 1, j, k);
        if (exist[0]) lower = cell[0];
        if (exist[1]) upper = cell[level.u_row];
      }
      if (i >= 1 && i <= level.n[0]) {
        T const* const b = level.b + level.b_offset(i, j, k);
        if (inside[0]) lower_source = b[0];
        if (inside[1]) upper_source = b[level.b_row];
      }
    }

    KOKKOS_FORCEINLINE_FUNCTION static void shift(Row& row) {
      row.below = row.here;
      row.here = row.above;
      row.source_below = row.source;
    }
  };

  /// What Level::defect() leads to, from the sums of the neighbours along each axis.
  ///
  /// \param at_end  whether the cell is the last of its row or column
  KOKKOS_FORCEINLINE_FUNCTION T relaxed(bool at_end, int i, int j, int k, T here, T source, T slabs,
                                        T rows, T along) const {
    if (at_end || i == level.n[0]) {
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
  constexpr int across = 128, down = 8;
  using Sweep = JacobiColumns<T, across, down, sizeof(T) == 4 ? 2 : 1, false>;
  Tiling const tiling(level.n, down, across, 16);
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Sweep::threads, 2>>;
  Kokkos::parallel_for("coir::poisson::device_columns/jacobi",
                       Policy(exec, tiling.teams(), Sweep::threads), Sweep{level, out, tiling});
}

/// A red-black sweep from level.u, or from zero, to `out`, whose ring must be that of u.
template <bool FromZero, class Exec, class T>
void red_black_columns(Exec const& exec, Level<T, 3> const& level, T omega, T* out) {
  using Sweep = RedBlackColumns<T, 32, 8, FromZero>;
  auto const tiling = Tiling::for_teams(level.n, Sweep::own_rows, Sweep::own_columns,
                                        2 * teams_at_a_time(exec, Sweep::threads));
  constexpr int at_a_time =
      sizeof(T) == 4 ? 4 : 3;  // on a multiprocessor, by measurement on an H200
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Sweep::threads, at_a_time>>;
  Kokkos::parallel_for("coir::poisson::device_columns/red_black",
                       Policy(exec, tiling.teams(), Sweep::threads)
                           .set_scratch_size(0, Kokkos::PerTeam(Sweep::scratch_bytes)),
                       Sweep{level, out, omega, omega / 6, tiling});
}

}  // namespace coir::poisson::detail
