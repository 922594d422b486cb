#pragma once

/// \file
/// Jacobi sweeps of boxes on devices.

#include "box_tiles.hpp"
#include "grid_level.hpp"
#include "plane_ring.hpp"

#include <coir/core/kokkos.hpp>

#include <cstddef>

namespace coir::poisson::detail {

/// A Jacobi sweep of a box. A team marches along the slabs; a thread has `Rows` cells of a slab, in
/// one column.
template <class T, int Across, int Down, int Rows>
struct JacobiColumns {
  static constexpr int threads = Across * Down, own_rows = Down * Rows;
  /// Planes in shared memory: those of two slabs that are computed with, and those being loaded.
  static constexpr int ahead = 3, slots = ahead + 1;
  static constexpr int width = Across + 2;  // of a tile with its neighbours
  using UnknownTile = PlaneTile<T, own_rows + 2, width, threads>;
  static constexpr int scratch_bytes = slots * UnknownTile::cells * static_cast<int>(sizeof(T));

  Level<T, 3> level;
  T* out;  // as large as u
  Tiling tiling;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    T* const planes = static_cast<T*>(member.team_scratch(0).get_shmem(std::size_t{scratch_bytes}));
    auto const at = tiling.place(member.league_rank());
    int const rank = member.team_rank(), x = rank % Across, y = rank / Across;
    int const j = at.row + y, k = at.column + x;
    UnknownTile const unknown(rank, at.row - 1, at.column - 1, level.n[1] + 2, level.n[2] + 2,
                              level.u_row);
    int const here = (y + 1) * width + (x + 1);

    int const begin = at.slab, end = at.slabs_end;
    T const* u = level.u + begin * level.u_slab;
    auto const load = [&](int i, int slot) {
      if (i <= end) unknown.copy(planes + slot * UnknownTile::cells, u);
      end_of_copies();
      u += level.u_slab;
    };
    COIR_UNROLL
    for (int s = 0; s < ahead; ++s) load(begin + s, s);

    bool inside[Rows];
    T below[Rows] = {}, source[Rows] = {}, next_source[Rows] = {};
    T const* b = level.b + ((begin - 1) * level.b_slab + (j - 1) * level.b_row + (k - 1));
    std::ptrdiff_t const first = begin * level.u_slab + j * level.u_row + k;
    COIR_UNROLL
    for (int r = 0; r < Rows; ++r) {
      inside[r] = k <= level.n[2] && j + r * Down <= level.n[1];
      if (inside[r]) below[r] = level.u[first - level.u_slab + r * Down * level.u_row];
      if (inside[r]) next_source[r] = b[r * Down * level.b_row];
    }
    // The slots of slabs i, i + 1, and of the slab that is loaded next.
    int now = 0, after = 1, next = slots - 1;
    T* updated = out + first;
    for (int i = begin; i < end; ++i) {
      wait_for_copies<ahead - 2>();
      member.team_barrier();
      load(i + ahead, next);
      b += level.b_slab;
      COIR_UNROLL
      for (int r = 0; r < Rows; ++r) {
        source[r] = next_source[r];
        if (inside[r] && i + 1 < end) next_source[r] = b[r * Down * level.b_row];
      }
      T const* const plane = planes + now * UnknownTile::cells + here;
      T const* const plane_above = planes + after * UnknownTile::cells + here;
      COIR_UNROLL
      for (int r = 0; r < Rows; ++r) {
        T const* const cell = plane + r * Down * width;
        T const above = plane_above[r * Down * width];
        T const value =
            ((((((below[r] + above) + cell[-width]) + cell[width]) + cell[-1]) + cell[1]) -
             source[r]) *
            (T(1) / T(6));
        if (inside[r]) updated[r * Down * level.u_row] = value;
        below[r] = cell[0];
      }
      updated += level.u_slab;
      now = after;
      after = next_slot<slots>(after);
      next = next_slot<slots>(next);
    }
  }
};

/// A Jacobi sweep from level.u to `out`.
template <class Exec, class T>
void jacobi_columns(Exec const& exec, Level<T, 3> const& level, T* out) {
  // By measurement on an H200.
  constexpr bool is_float = sizeof(T) == 4;
  constexpr int across = is_float ? 128 : 64, rows = is_float ? 2 : 4, at_a_time = is_float ? 4 : 3;
  using Sweep = JacobiColumns<T, across, 4, rows>;
  auto const tiling =
      Tiling::for_teams(level.n, Sweep::own_rows, across, teams_at_a_time(exec, at_a_time));
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Sweep::threads, at_a_time>>;
  Kokkos::parallel_for("coir::poisson::jacobi_columns/sweep",
                       Policy(exec, tiling.teams(), Sweep::threads)
                           .set_scratch_size(0, Kokkos::PerTeam(Sweep::scratch_bytes)),
                       Sweep{level, out, tiling});
}

}  // namespace coir::poisson::detail
