#pragma once

/// Interpolation of corrections in boxes on devices: a coarse cell is loaded once for two slabs.

#include "box_tiles.hpp"
#include "grid_level.hpp"

namespace coir::poisson::detail {

/// What Interpolate does. A thread marches along a column of the fine grid.
template <class T, int Across, int Down>
struct InterpolateColumns {
  static constexpr int threads = Across * Down;
  Level<T, 3> coarse, fine;
  Tiling tiling;  // of the fine grid
  bool set;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const at = tiling.place(member.league_rank());
    int const j = at.row + member.team_rank() / Across;
    int const k = at.column + member.team_rank() % Across;
    if (j > fine.n[1] || k > fine.n[2]) return;
    Between<T> const row = between(j, coarse.n[1], coarse.ghost[1]);
    Between<T> const column = between(k, coarse.n[2], coarse.ghost[2]);
    // The coarse numbers of a slab, interpolated to the fine column.
    auto const in_slab = [&](int I) {
      T const* const c = coarse.u_at(I, row.index, column.index);
      T const* const d = c + coarse.u_row;
      return row.lower * (column.lower * c[0] + column.upper * c[1]) +
             row.upper * (column.lower * d[0] + column.upper * d[1]);
    };
    int index = between(at.slab, coarse.n[0], coarse.ghost[0]).index;
    T lower = in_slab(index), upper = in_slab(index + 1);
    T* u = fine.u_at(at.slab, j, k);
    // All that several cells need is loaded before the first is stored.
    constexpr int count = 4;
    for (int begin = at.slab; begin < at.slabs_end; begin += count) {
      T old[count] = {}, correction[count] = {};
      COIR_UNROLL
      for (int c = 0; c < count; ++c)
        if (!set && begin + c < at.slabs_end) old[c] = u[c * fine.u_slab];
      COIR_UNROLL
      for (int c = 0; c < count; ++c) {
        if (begin + c >= at.slabs_end) break;
        Between<T> const slab = between(begin + c, coarse.n[0], coarse.ghost[0]);
        if (slab.index != index) {
          index = slab.index;
          lower = upper;
          upper = in_slab(index + 1);
        }
        correction[c] = slab.lower * lower + slab.upper * upper;
      }
      COIR_UNROLL
      for (int c = 0; c < count; ++c)
        if (begin + c < at.slabs_end) u[c * fine.u_slab] = old[c] + correction[c];
      u += count * fine.u_slab;
    }
  }
};

/// Adds the interpolated coarse u to the fine one, or sets it.
template <class Exec, class T>
void interpolate_columns(Exec const& exec, Level<T, 3> const& coarse, Level<T, 3> const& fine,
                         bool set) {
  using Step = InterpolateColumns<T, 32, 8>;
  Tiling const tiling(fine.n, 8, 32, 16);
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Step::threads, 4>>;
  Kokkos::parallel_for("coir::poisson::interpolate_columns/interpolate",
                       Policy(exec, tiling.teams(), Step::threads),
                       Step{coarse, fine, tiling, set});
}

}  // namespace coir::poisson::detail
