#pragma once

/// Jacobi sweeps of boxes on devices.

#include "box_tiles.hpp"
#include "grid_level.hpp"
#include "plane_ring.hpp"

#include <coir/core/kokkos.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace coir::poisson::detail {

/// A Jacobi sweep of a box. A team marches along the slabs; a thread has four cells of a slab, in
/// one column.
template <class T, int Across, int Down>
struct JacobiColumns {
  static constexpr int threads = Across * Down;
  static constexpr int rows = 4;  // of a thread
  static constexpr int own_rows = Down * rows, own_columns = Across;
  /// Planes in shared memory: those of two slabs that are computed with, and one being loaded.
  static constexpr int slots = 3;
  static constexpr int width = Across + 2;  // of a tile with its neighbours
  using UnknownTile = PlaneTile<T, own_rows + 2, width, threads>;
  static constexpr int plane = UnknownTile::cells;
  static constexpr int scratch_bytes = slots * plane * static_cast<int>(sizeof(T));

  Level<T, 3> level;
  T* out;  // as large as u
  Tiling tiling;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    T* const ring = static_cast<T*>(member.team_scratch(0).get_shmem(std::size_t{scratch_bytes}));
    auto const at = tiling.place(member.league_rank());
    int const rank = member.team_rank(), x = rank % Across, y = rank / Across;
    int const n1 = level.n[1], n2 = level.n[2];
    int const begin = at.slab, end = at.slabs_end;
    UnknownTile const unknown(ring, rank, at.row - 1, at.column - 1, n1 + 2, n2 + 2, level.u_row);

    T const* u = level.u + begin * level.u_slab;
    int loaded = begin;
    auto const load = [&]<int Slot>(std::integral_constant<int, Slot>) {
      if (loaded <= end) unknown.template copy<Slot>(u);
      end_of_copies();
      u += level.u_slab;
      ++loaded;
    };
    [&]<int... S>(std::integer_sequence<int, S...>) {
      (load(std::integral_constant<int, S>()), ...);
    }(std::make_integer_sequence<int, slots - 1>());

    int const j = at.row + y, k = at.column + x;
    bool inside[rows];
    std::uint32_t stored[rows], source_of[rows];
    T below[rows], next_source[rows];
    T const* b = level.b + (begin - 1) * level.b_slab;
    COIR_UNROLL
    for (int r = 0; r < rows; ++r) {
      int const row = j + r * Down;
      inside[r] = k <= n2 && row <= n1;
      stored[r] = offset_of_cell<T>(row, k, n1 + 2, n2 + 2, level.u_row);
      source_of[r] = offset_of_cell<T>(row - 1, k - 1, n1, n2, level.b_row);
      below[r] = *behind(level.u + (begin - 1) * level.u_slab, stored[r]);
      next_source[r] = *behind(b, source_of[r]);
    }
    T const* const thread_cell = ring + (y + 1) * width + (x + 1);
    T* updated = out + begin * level.u_slab;

    int i = begin;
    auto const relax = [&]<int Slot>(std::integral_constant<int, Slot>) {
      T const* const now = thread_cell + Slot * plane;
      T const* const after = thread_cell + (Slot + 1) % slots * plane;
      wait_for_copies<slots - 3>();
      member.team_barrier();
      load(std::integral_constant<int, (Slot + slots - 1) % slots>());
      b += i + 1 < end ? level.b_slab : 0;
      T source[rows];
      COIR_UNROLL
      for (int r = 0; r < rows; ++r) {
        source[r] = next_source[r];
        next_source[r] = *behind(b, source_of[r]);
      }
      COIR_UNROLL
      for (int r = 0; r < rows; ++r) {
        T const* const cell = now + r * Down * width;
        T const value =
            ((((((below[r] + after[r * Down * width]) + cell[-width]) + cell[width]) + cell[-1]) +
              cell[1]) -
             source[r]) *
            (T(1) / T(6));
        if (inside[r]) *behind(updated, stored[r]) = value;
        below[r] = cell[0];
      }
      updated += level.u_slab;
      return ++i < end;
    };
    [&]<int... S>(std::integer_sequence<int, S...>) {
      while ((relax(std::integral_constant<int, S>()) && ...)) {
      }
    }(std::make_integer_sequence<int, slots>());
  }
};

/// A Jacobi sweep from level.u to `out`.
template <class Exec, class T>
void jacobi_columns(Exec const& exec, Level<T, 3> level, T* out) {
  turn_slabs(level, out);
  auto const sweep = [&]<class Sweep>(std::type_identity<Sweep>) {
    march("coir::poisson::jacobi_columns/sweep", exec,
          Sweep{level, out, tiling_for<Sweep>(exec, level.n)});
  };
  constexpr int down = sizeof(T) == 4 ? 2 : 1;
  using Wide = JacobiColumns<T, 256, down>;
  using Narrow = JacobiColumns<T, 64, 4 * down>;
  if (time_of<Wide>(exec, level.n) <= time_of<Narrow>(exec, level.n))
    sweep(std::type_identity<Wide>());
  else
    sweep(std::type_identity<Narrow>());
}

}  // namespace coir::poisson::detail
