#pragma once

/// Red-black sweeps of boxes on devices, in one pass over memory.

#include "box_tiles.hpp"
#include "grid_level.hpp"
#include "plane_ring.hpp"

#include <coir/core/kokkos.hpp>
#include <core/launch_alone.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace coir::poisson::detail {

/// A red-black sweep of a box from one field into another.
///
/// A team marches along the slabs. It relaxes the red cells of a slab, and then the black cells of
/// the slab before. Red cells at the edge of a tile are relaxed by both teams that need them. A
/// thread has four rows of a column, in turns with red and with black cells.
///
/// Teams that have a multiprocessor alone have tiles of whole rows, and load more planes ahead. Two
/// neighbouring ones of these march towards each other or apart, so that they find the planes that
/// both need in the cache.
///
/// \tparam Plain  whether all cells have the plain stencil, which takes fewer instructions
/// \tparam Alone  whether a team has a multiprocessor alone. Such teams need the plain stencil, and
///   rows of at most `Across` cells
template <class T, int Across, int Down, bool FromZero, bool Plain, bool Alone = false>
struct RedBlackColumns {
  static_assert(Plain || !Alone);
  static constexpr int threads = Across * Down;
  static constexpr int pairs = 2, rows = 2 * pairs;  // of a thread
  static constexpr int own_rows = rows * Down - 2, own_columns = Alone ? Across : Across - 2;
  /// Planes in shared memory: those of three slabs that are computed with, and others being loaded.
  /// Their number is even, so that the slabs of one all begin with the same colour.
  static constexpr int slots = Alone ? 8 : 4;
  static constexpr int columns_before = Alone ? 0 : 1;  // of a tile, the team's own
  static constexpr int width = Across + 2;  // of a tile with the neighbours of its red cells
  using UnknownTile = PlaneTile<T, rows * Down + 2, width, threads>;
  static constexpr int plane = UnknownTile::cells;
  static constexpr int scratch_bytes = slots * plane * static_cast<int>(sizeof(T));

  Level<T, 3> level;
  T* out;  // as large as u, with the same ring
  T omega;
  T step;  // omega / 6
  Tiling tiling;
  int turned;  // 1 if the slabs are in the opposite order and their number is even

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    T* const ring = static_cast<T*>(member.team_scratch(0).get_shmem(std::size_t{scratch_bytes}));
    auto const at = tiling.place(member.league_rank());
    int const rank = member.team_rank(), x = rank % Across, y = rank / Across;
    int const n0 = level.n[0], n1 = level.n[1], n2 = level.n[2];
    // A team that marches back has the slabs in the opposite order.
    bool const back = Alone && at.stretch % 2 != 0;
    int const begin = back ? n0 + 2 - at.slabs_end : at.slab;
    int const end = back ? n0 + 2 - at.slab : at.slabs_end;
    std::ptrdiff_t const u_slab = back ? -level.u_slab : level.u_slab;
    std::ptrdiff_t const b_slab = back ? -level.b_slab : level.b_slab;
    std::ptrdiff_t const first_slab = back ? (n0 + 1) * level.u_slab : 0;
    UnknownTile const unknown(ring, rank, at.row - 2, at.column - columns_before - 1, n1 + 2,
                              n2 + 2, level.u_row);

    // Planes beyond the box are copies of the last ones.
    int loaded = begin - 2;
    T const* u = level.u + (first_slab + (loaded < 0 ? 0 : loaded) * u_slab);
    auto const load = [&]<int Slot>(std::integral_constant<int, Slot>) {
      if (!FromZero && loaded <= end + 1) unknown.template copy<Slot>(u);
      end_of_copies();
      u += loaded >= 0 && loaded <= n0 ? u_slab : 0;
      ++loaded;
    };
    [&]<int... S>(std::integer_sequence<int, S...>) {
      (load(std::integral_constant<int, S>()), ...);
    }(std::make_integer_sequence<int, slots - 1>());

    // The first of the thread's rows, and its column. `first` are its rows whose cells of slab
    // begin - 1 are red, `second` the others.
    int const j = at.row - 1 + rows * y, k = at.column - columns_before + x;
    int const parity = (begin + j + k + (turned ^ (back && n0 % 2 == 0 ? 1 : 0))) & 1;
    unsigned inside = 0, own = 0;  // bits by row
    COIR_UNROLL
    for (int r = 0; r < rows; ++r) {
      int const of_tile = rows * y + r;
      bool const in = k >= 1 && k <= n2 && j + r >= 1 && j + r <= n1;
      inside |= (in ? 1u : 0u) << r;
      bool const of_columns = Alone || (x > 0 && x < Across - 1);
      own |= (in && of_columns && of_tile > 0 && of_tile < rows * Down - 1 ? 1u : 0u) << r;
    }
    Rows const first(parity, j, inside), second(1 - parity, j, inside);
    T* const thread_cell = ring + (rows * y + 1) * width + (x + 1);
    Half red_below = {}, red_farther_below = {}, black_here = {}, black_below = {};
    if constexpr (!FromZero) {
      wait_for_copies<slots - 4>();
      member.team_barrier();
      black_here = cells(thread_cell + plane, second);
      black_below = cells(thread_cell, first);
    }

    // The sources of the next slab, and those of the black cells of the slab before. Neighbouring
    // threads have neighbouring cells of a row in each load and store.
    T const* b = level.b + (back ? (n0 - 1) * level.b_slab : 0) +
                 ((begin > 1 ? begin - 2 : 0) * b_slab - level.b_row - 1);
    SourceLines const lines(rank, at.row - 2, level);
    auto const u_cell = static_cast<std::uint32_t>((j * level.u_row + k) * sizeof(T));
    auto const b_cell = static_cast<std::uint32_t>((j * level.b_row + k) * sizeof(T));
    // A team that is alone has registers for the offset of each row.
    std::uint32_t source_of[rows], stored_to[rows];
    COIR_UNROLL
    for (int r = 0; r < rows; ++r) {
      source_of[r] = static_cast<std::uint32_t>(((j + r) * level.b_row + k) * sizeof(T));
      stored_to[r] = static_cast<std::uint32_t>(((j + r) * level.u_row + k) * sizeof(T));
    }
    All sources = {};
    Half source_below = {};
    auto const load_sources = [&] {
      COIR_UNROLL
      for (int r = 0; r < rows; ++r)
        if (inside & (1u << r))
          sources[r] = Alone ? *behind(b, source_of[r]) : *behind(b + r * level.b_row, b_cell);
    };
    load_sources();
    T* stored = out + (first_slab + (begin - 2) * u_slab);

    // Relaxes the red cells of slab i, which are in `rows`, then the black ones of the slab before.
    int i = begin - 1;
    auto const relax = [&]<int Slot>(std::integral_constant<int, Slot>, Rows const& these,
                                     Rows const& others) {
      T* const before = thread_cell + Slot * plane;
      T* const now = thread_cell + (Slot + 1) % slots * plane;
      T* const after = thread_cell + (Slot + 2) % slots * plane;
      wait_for_copies<slots - 4>();
      member.team_barrier();
      load(std::integral_constant<int, (Slot + slots - 1) % slots>());
      Half const source = these.of(sources), source_after = others.of(sources);
      b += i >= 1 && i < n0 ? b_slab : 0;
      if (Alone && i >= 1 && i + slabs_fetched < n0 && i + slabs_fetched <= end)
        lines.fetch(b + (slabs_fetched * b_slab + level.b_row + 1));
      load_sources();

      Half const black_above = FromZero ? Half{} : cells(after, these);
      Half red = FromZero ? Half{} : cells(now, these);
      Half const across = FromZero ? Half{} : these.sums(black_here, now);
      unsigned const relaxes = i >= 1 && i <= n0 ? these.inside : 0;
      COIR_UNROLL
      for (int r = 0; r < pairs; ++r) {
        T* const cell = now + these.cell + r * 2 * width;
        T const along = FromZero ? T(0) : cell[-1] + cell[1];
        T const updated = relaxed(these.j + 2 * r, i, k, red[r], source[r],
                                  black_below[r] + black_above[r], across[r], along);
        if (relaxes & (1u << 2 * r)) red[r] = updated;
        *cell = red[r];
      }
      if (i > begin) {
        Half const across_below = these.sums(red_below, before);
        Half black;
        COIR_UNROLL
        for (int r = 0; r < pairs; ++r) {
          T const* const below = before + these.cell + r * 2 * width;
          black[r] = relaxed(these.j + 2 * r, i - 1, k, black_below[r], source_below[r],
                             red_farther_below[r] + red[r], across_below[r], below[-1] + below[1]);
        }
        COIR_UNROLL
        for (int r = 0; r < rows; ++r) {
          T const value = these.odd == (r % 2 != 0) ? black[r / 2] : red_below[r / 2];
          T* const cell =
              Alone ? behind(stored, stored_to[r]) : behind(stored + r * level.u_row, u_cell);
          if (own & (1u << r)) *cell = value;
        }
      }
      red_farther_below = red_below;
      red_below = red;
      source_below = source_after;
      black_below = black_here;
      black_here = black_above;
      stored += u_slab;
      return ++i <= end;
    };
    auto const advance = [&]<int Slot>(std::integral_constant<int, Slot> slot) {
      // The rows take turns.
      return Slot % 2 == 0 ? relax(slot, first, second) : relax(slot, second, first);
    };
    [&]<int... S>(std::integer_sequence<int, S...>) {
      while ((advance(std::integral_constant<int, S>()) && ...)) {
      }
    }(std::make_integer_sequence<int, slots>());
  }

 private:
  /// Values in a thread's rows, and in every second one of them.
  using All = Kokkos::Array<T, rows>;
  using Half = Kokkos::Array<T, pairs>;

  /// The slabs of the source that are fetched into the cache before they are loaded.
  static constexpr int slabs_fetched = 2;

  /// A line of the cache in the source's rows of a tile of whole rows, for some threads.
  struct SourceLines {
    static constexpr int cells = 128 / static_cast<int>(sizeof(T));
    static constexpr int of_row = Across / cells + 1, of_tile = of_row * rows * Down;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::uint32_t offset = none;

    /// \param row  of the source: the tile's first, which may lie outside
    KOKKOS_FORCEINLINE_FUNCTION SourceLines(int rank, int row, Level<T, 3> const& level) {
      if (Alone && rank < of_tile)
        offset = offset_of_cell<T>(row + rank / of_row, rank % of_row * cells, level.n[1],
                                   level.n[2], level.b_row);
    }
    KOKKOS_FORCEINLINE_FUNCTION void fetch(T const* plane) const {
      if (offset != none) fetch_line(behind(plane, offset));
    }
  };

  /// Every second one of a thread's rows: the first and the third, or the second and the fourth.
  struct Rows {
    bool odd;
    int j;           // of the box
    int cell, edge;  // from the thread's first cell of a plane: the first of these, and the cell in
                     // the neighbouring row that the thread doesn't have
    unsigned inside;  // the box: bits

    KOKKOS_FORCEINLINE_FUNCTION Rows(int parity, int j0, unsigned all_inside)
        : odd(parity != 0),
          j(j0 + parity),
          cell(parity * width),
          edge(parity * ((rows + 1) * width) - width),
          inside(all_inside >> parity) {}

    KOKKOS_FORCEINLINE_FUNCTION Half of(All const& values) const {
      Half half;
      COIR_UNROLL
      for (int r = 0; r < pairs; ++r) half[r] = odd ? values[2 * r + 1] : values[2 * r];
      return half;
    }

    /// The sums of the cells in the neighbouring rows, of which `others` are the thread's.
    KOKKOS_FORCEINLINE_FUNCTION Half sums(Half const& others, T const* thread_cell) const {
      T const beside = thread_cell[edge];
      Half sum;
      COIR_UNROLL
      for (int r = 0; r < pairs; ++r) {
        T const above = r + 1 < pairs ? others[r + 1] : beside;
        T const below = r > 0 ? others[r - 1] : beside;
        sum[r] = others[r] + (odd ? above : below);
      }
      return sum;
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION static Half cells(T const* thread_cell, Rows const& of) {
    Half half;
    COIR_UNROLL
    for (int r = 0; r < pairs; ++r) half[r] = thread_cell[of.cell + 2 * r * width];
    return half;
  }

  /// What Level::defect() leads to, from the sums of the neighbours along each axis.
  KOKKOS_FORCEINLINE_FUNCTION T relaxed(int j, int i, int k, T here, T source, T slabs, T across,
                                        T along) const {
    if (!Plain && !level.has_plain_stencil(i, j, k)) {
      Stencil<T> const s = level.stencil(i, j, k);
      T const sum = (s.along * along + s.slabs * slabs) + s.rows * across;
      return here + omega / s.diagonal * ((sum - source) - s.diagonal * here);
    }
    return here + step * ((((along + slabs) + across) - source) - T(6) * here);
  }
};

/// Sweeps by teams that have a multiprocessor alone, if rows are long enough for their threads.
///
/// \return false if it didn't
template <class Sweep, class Exec, class T>
bool sweep_alone(Exec const& exec, Level<T, 3> const& level, T omega, T* out, int turned) {
  if (level.n[2] > Sweep::own_columns || 4 * level.n[2] < 3 * Sweep::own_columns) return false;
  auto const tiling =
      Tiling::for_teams(level.n, Sweep::own_rows, Sweep::own_columns, teams_at_a_time(exec, 1));
  return launch_alone(exec, tiling.teams(), Sweep{level, out, omega, omega / 6, tiling, turned});
}

/// A red-black sweep from level.u, or from zero, to `out`, whose ring must be that of u.
template <bool FromZero, class Exec, class T>
void red_black_columns(Exec const& exec, Level<T, 3> level, T omega, T* out) {
  bool const plain = level.has_unit_gaps();
  int const turned = plain && turn_slabs(level, out) && level.n[0] % 2 == 0 ? 1 : 0;
  if constexpr (devices_have_cuda && sizeof(T) == 4 && !FromZero) {
    using OfShortRows = RedBlackColumns<T, 128, 6, false, true, true>;
    using OfLongRows = RedBlackColumns<T, 256, 3, false, true, true>;
    if (plain && (sweep_alone<OfLongRows>(exec, level, omega, out, turned) ||
                  sweep_alone<OfShortRows>(exec, level, omega, out, turned)))
      return;
  }
  auto const sweep = [&]<class Sweep>(std::type_identity<Sweep>) {
    march("coir::poisson::red_black_columns/sweep", exec,
          Sweep{level, out, omega, omega / 6, tiling_for<Sweep>(exec, level.n), turned});
  };
  auto const choose = [&]<bool Plain>(std::bool_constant<Plain>) {
    using Narrow = RedBlackColumns<T, 66, sizeof(T) == 4 ? 8 : 4, FromZero, Plain>;
    if constexpr (sizeof(T) == 4) {
      using Wide = RedBlackColumns<T, 258, 2, FromZero, Plain>;
      // Of wide tiles a slab takes less time.
      if (5 * time_of<Wide>(exec, level.n) <= 6 * time_of<Narrow>(exec, level.n))
        return sweep(std::type_identity<Wide>());
    }
    sweep(std::type_identity<Narrow>());
  };
  if (plain)
    choose(std::true_type());
  else
    choose(std::false_type());
}

}  // namespace coir::poisson::detail
