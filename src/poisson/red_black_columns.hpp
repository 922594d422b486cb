#pragma once

/// \file
/// Red-black sweeps of boxes on devices, in one pass over memory.

#include "box_tiles.hpp"
#include "grid_level.hpp"
#include "plane_ring.hpp"

#include <coir/core/kokkos.hpp>

#include <cstddef>
#include <type_traits>

namespace coir::poisson::detail {

/// A red-black sweep of a box from one field into another.
///
/// A team marches along the slabs. It relaxes the red cells of a slab, and then the black cells of
/// the slab before. Red cells at the edge of a tile are relaxed by both teams that need them. A
/// thread has two rows of a column: one of its cells in a slab is red, the other is black.
///
/// \tparam Plain  whether all cells have the plain stencil, which takes fewer instructions
template <class T, int Across, int Down, bool FromZero, bool Plain>
struct RedBlackColumns {
  static constexpr int threads = Across * Down;
  static constexpr int own_rows = 2 * Down - 2, own_columns = Across - 2;
  /// Planes in shared memory: those of three slabs that are computed with, and those being loaded.
  static constexpr int ahead = 3, slots = ahead + 2;
  static constexpr int width = Across + 2;  // of a tile with the neighbours of its red cells
  using UnknownTile = PlaneTile<T, 2 * Down + 2, width, threads>;
  static constexpr int plane = UnknownTile::cells;
  static constexpr int scratch_bytes = slots * plane * static_cast<int>(sizeof(T));

  Level<T, 3> level;
  T* out;  // as large as u, with the same ring
  T omega;
  T step;  // omega / 6
  Tiling tiling;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    T* const planes = static_cast<T*>(member.team_scratch(0).get_shmem(std::size_t{scratch_bytes}));
    auto const at = tiling.place(member.league_rank());
    int const rank = member.team_rank(), x = rank % Across, y = rank / Across;
    // The thread's lower row and its column.
    int const j = at.row - 1 + 2 * y, k = at.column - 1 + x;
    int const n0 = level.n[0], n1 = level.n[1], n2 = level.n[2];
    int const begin = at.slab, end = at.slabs_end;
    UnknownTile const unknown(rank, at.row - 2, at.column - 2, n1 + 2, n2 + 2, level.u_row);

    // Planes beyond the box are copies of the last ones.
    int loaded = begin - 2;
    T const* u = level.u + (loaded < 0 ? 0 : loaded) * level.u_slab;
    auto const load = [&](T* to) {
      if (!FromZero) unknown.copy(to, u);
      end_of_copies();
      u += loaded >= 0 && loaded <= n0 ? level.u_slab : 0;
      ++loaded;
    };
    COIR_UNROLL
    for (int s = 0; s <= ahead; ++s) load(planes + s * plane);

    // The thread's rows: the one whose cell of slab begin - 1 is red, and the other.
    bool const upper = (begin + j + k) % 2 != 0;
    Row const first(*this, upper, j, k, x, y), second(*this, !upper, j, k, x, y);
    T* const last_plane = planes + (slots - 1) * plane;
    // Of slabs i - 1, i and i + 1, and of the slab that is loaded next.
    T *before = planes, *now = planes + plane, *after = planes + 2 * plane, *next = last_plane;
    T red_below = 0, red_farther_below = 0;
    T* stored = out + ((begin - 2) * level.u_slab + j * level.u_row + k);
    wait_for_copies<ahead - 2>();
    member.team_barrier();
    // Black cells of slabs i and i - 1, in the row of the red cell of slab i - 1 and in the other.
    T black_here = FromZero ? T(0) : now[second.cell];
    T black_below = FromZero ? T(0) : before[first.cell];

    // The sources of slab i, and that of the black cell of slab i - 1.
    T source_first = 0, source_second = 0, source_below = 0;
    T const* b = level.b + (begin - 1) * level.b_slab;
    if (begin > 1) {
      source_first = first.inside ? b[first.source - level.b_slab] : T(0);
      source_second = second.inside ? b[second.source - level.b_slab] : T(0);
    }

    // Relaxes the red cell of slab i, which is in `row`, then the black one of the slab before.
    auto const relax = [&](int i, Row const& row, Row const& other, T& source_here,
                           T& source_of_other) {
      wait_for_copies<ahead - 2>();
      member.team_barrier();
      load(next);
      T const source = source_here, source_after = source_of_other;
      if (i < n0) {
        if (row.inside) source_here = b[row.source];
        if (other.inside) source_of_other = b[other.source];
      }
      b += level.b_slab;
      T* const cell = now + row.cell;
      T const* const below = before + row.cell;
      T const black_above = FromZero ? T(0) : after[row.cell];
      T red = FromZero ? T(0) : *cell;
      T rows = 0, along = 0;
      if (!FromZero) {
        rows = black_here + now[row.beyond];
        along = cell[-1] + cell[1];
      }
      T const new_red = relaxed(row, i, k, red, source, black_below + black_above, rows, along);
      if (row.inside && i >= 1 && i <= n0) red = new_red;
      *cell = red;
      if (i > begin) {
        T const black = relaxed(row, i - 1, k, black_below, source_below, red_farther_below + red,
                                red_below + before[row.beyond], below[-1] + below[1]);
        if (row.own) stored[row.offset] = black;
        if (other.own) stored[other.offset] = red_below;
      }
      red_farther_below = red_below;
      red_below = red;
      source_below = source_after;
      black_below = black_here;
      black_here = black_above;
      stored += level.u_slab;
      before = now;
      now = after;
      after = after == last_plane ? planes : after + plane;
      next = next == last_plane ? planes : next + plane;
    };
    // The rows take turns.
    int i = begin - 1;
    for (; i < end; i += 2) {
      relax(i, first, second, source_first, source_second);
      relax(i + 1, second, first, source_second, source_first);
    }
    if (i == end) relax(i, first, second, source_first, source_second);
  }

 private:
  /// Where one of a thread's rows lies.
  struct Row {
    int j;             // of the box
    int cell, beyond;  // in a plane: the cell, and the one in the row that the thread doesn't have
    std::ptrdiff_t offset, source;  // from the thread's lower row; from the first cell of a slab
    bool inside, own;

    KOKKOS_FORCEINLINE_FUNCTION Row(RedBlackColumns const& sweep, bool upper, int lower, int k,
                                    int x, int y)
        : j(lower + (upper ? 1 : 0)),
          cell((2 * y + (upper ? 2 : 1)) * width + (x + 1)),
          beyond(cell + (upper ? width : -width)),
          offset(upper ? sweep.level.u_row : 0),
          source((j - 1) * sweep.level.b_row + (k - 1)),
          inside(k >= 1 && k <= sweep.level.n[2] && j >= 1 && j <= sweep.level.n[1]),
          own(inside && x > 0 && x < Across - 1 && (upper ? y < Down - 1 : y > 0)) {}
  };

  /// What Level::defect() leads to, from the sums of the neighbours along each axis.
  KOKKOS_FORCEINLINE_FUNCTION T relaxed(Row const& row, int i, int k, T here, T source, T slabs,
                                        T rows, T along) const {
    if (!Plain && !level.has_plain_stencil(i, row.j, k)) {
      Stencil<T> const s = level.stencil(i, row.j, k);
      T const sum = (s.along * along + s.slabs * slabs) + s.rows * rows;
      return here + omega / s.diagonal * ((sum - source) - s.diagonal * here);
    }
    return here + step * ((((along + slabs) + rows) - source) - T(6) * here);
  }
};

/// A red-black sweep from level.u, or from zero, to `out`, whose ring must be that of u.
template <bool FromZero, class Exec, class T>
void red_black_columns(Exec const& exec, Level<T, 3> const& level, T omega, T* out) {
  auto const sweep = [&]<bool Plain>(std::bool_constant<Plain>) {
    using Sweep = RedBlackColumns<T, 32, 8, FromZero, Plain>;
    constexpr int at_a_time = sizeof(T) == 4 ? 5 : 4;  // by measurement on an H200
    auto const tiling = Tiling::for_teams(level.n, Sweep::own_rows, Sweep::own_columns,
                                          teams_at_a_time(exec, at_a_time));
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Sweep::threads, at_a_time>>;
    Kokkos::parallel_for("coir::poisson::red_black_columns/sweep",
                         Policy(exec, tiling.teams(), Sweep::threads)
                             .set_scratch_size(0, Kokkos::PerTeam(Sweep::scratch_bytes)),
                         Sweep{level, out, omega, omega / 6, tiling});
  };
  if (level.has_unit_gaps())
    sweep(std::true_type());
  else
    sweep(std::false_type());
}

}  // namespace coir::poisson::detail
