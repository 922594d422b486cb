#pragma once

/// Blocked Jacobi sweeps on devices: tiles in team scratch memory.

#include "second_field.hpp"

#include <coir/core/replay.hpp>
#include <coir/poisson/detail/callers_grid.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace coir::poisson::detail {

/// How a tile is cut among the threads of a team.
///
/// A thread holds a patch of Rows x Columns cells and their sources in registers; a team is Down x
/// Across threads. The outer Depth cells of a tile belong to its neighbours and are loaded, too.
/// Each of Depth sweeps leaves one more layer of them, from the edge inwards, without correct
/// values.
template <class T, int Across, int Columns, int Down, int Rows, int Depth>
struct TileShape {
  static constexpr int across = Across;
  static constexpr int patch_columns = Columns;
  static constexpr int patch_rows = Rows;
  static constexpr int depth = Depth;
  static constexpr int threads = Across * Down;
  static constexpr int columns = Across * Columns;
  static constexpr int rows = Down * Rows;
  static constexpr int inner_columns = columns - 2 * Depth;
  static constexpr int inner_rows = rows - 2 * Depth;
  /// Cells that a thread shares with its neighbours: the first and last column of its patch, and
  /// the rest of its first and last row.
  static constexpr int shown = Columns == 1 ? Rows : 2 * Rows + 2 * (Columns - 2);
  static constexpr int scratch_bytes = 2 * shown * threads * static_cast<int>(sizeof(T));
  static_assert(inner_columns > 0 && inner_rows > 0);
  // Kokkos gives a team 48 KiB, and uses a double for each thread and two more of it itself.
  static_assert(scratch_bytes + 8 * (threads + 2) <= 48 * 1024);
};

template <class Exec, class T, class Shape>
struct JacobiTile {
  static constexpr int rows = Shape::patch_rows;
  static constexpr int columns = Shape::patch_columns;
  static constexpr int threads = Shape::threads;

  RowMajorView<Exec, T const, 2> in;
  RowMajorView<Exec, T const, 2> b;
  RowMajorView<Exec, T, 2> out;
  int tiles_across;
  int sweeps;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    int const x = member.team_rank() % Shape::across;
    int const y = member.team_rank() / Shape::across;
    int const tile_row = member.league_rank() / tiles_across;
    int const tile_column = member.league_rank() - tile_row * tiles_across;
    int const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1));
    int const top = tile_row * Shape::inner_rows - Shape::depth;
    int const left = tile_column * Shape::inner_columns - Shape::depth;
    int const first_row = top + y * rows;
    int const first_column = left + x * columns;

    T u[rows][columns], source[rows][columns];
    COIR_UNROLL
    for (int r = 0; r < rows; ++r) {
      int const row = first_row + r;
      COIR_UNROLL
      for (int c = 0; c < columns; ++c) {
        int const column = first_column + c;
        bool const known = row >= -1 && row <= m && column >= -1 && column <= n;
        bool const inside = row >= 0 && row < m && column >= 0 && column < n;
        u[r][c] = known ? in(row + 1, column + 1) : T(0);
        source[r][c] = inside ? b(row, column) : T(0);
      }
    }

    int const scratch_bytes = Shape::scratch_bytes;
    T* const scratch = static_cast<T*>(member.team_scratch(0).get_shmem(scratch_bytes));
    bool const whole =
        top >= 0 && left >= 0 && top + Shape::rows <= m && left + Shape::columns <= n;
    // Two copies in turn: a thread may write its next cells while others still read the last ones.
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      T* const shown = scratch + (sweep % 2) * (Shape::shown * threads);
      show(u, shown + member.team_rank());
      member.team_barrier();
      if (whole)
        update<false>(u, source, shown, x, y, first_row, first_column);
      else
        update<true>(u, source, shown, x, y, first_row, first_column);
    }

    COIR_UNROLL
    for (int r = 0; r < rows; ++r) {
      int const row = first_row + r;
      bool const own =
          row >= top + Shape::depth && row < top + Shape::rows - Shape::depth && row < m;
      COIR_UNROLL
      for (int c = 0; c < columns; ++c) {
        int const column = first_column + c;
        if (own && column >= left + Shape::depth && column < left + Shape::columns - Shape::depth &&
            column < n)
          out(row + 1, column + 1) = u[r][c];
      }
    }
  }

 private:
  /// The place of a cell at the edge of a patch among the thread's shared cells: the first column
  /// is first, then the last column, then the inner cells of the first row and of the last row.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int place(int r, int c) {
    if (c == 0) return r;
    if (c == columns - 1) return rows + r;
    return 2 * rows + (r == 0 ? 0 : columns - 2) + c - 1;
  }

  KOKKOS_FORCEINLINE_FUNCTION static void show(T const (&u)[rows][columns], T* own) {
    COIR_UNROLL
    for (int r = 0; r < rows; ++r) {
      own[place(r, 0) * threads] = u[r][0];
      if (columns > 1) own[place(r, columns - 1) * threads] = u[r][columns - 1];
    }
    COIR_UNROLL
    for (int c = 1; c < columns - 1; ++c) {
      own[place(0, c) * threads] = u[0][c];
      own[place(rows - 1, c) * threads] = u[rows - 1][c];
    }
  }

  /// One sweep of a patch. At the edge of a tile a thread reads its own cells in place of a
  /// neighbour's.
  template <bool Masked>
  KOKKOS_FORCEINLINE_FUNCTION void update(T (&u)[rows][columns], T const (&source)[rows][columns],
                                          T const* shown, int x, int y, int first_row,
                                          int first_column) const {
    T const* const own = shown + y * Shape::across + x;
    T const* const west = own - (x > 0 ? 1 : 0);
    T const* const east = own + (x < Shape::across - 1 ? 1 : 0);
    T const* const north = own - (y > 0 ? Shape::across : 0);
    T const* const south = own + (y < threads / Shape::across - 1 ? Shape::across : 0);
    // Unsigned, so that one comparison finds indices below zero, too.
    unsigned const m = static_cast<unsigned>(b.extent(0)), n = static_cast<unsigned>(b.extent(1));
    T above[columns], below_patch[columns];
    COIR_UNROLL
    for (int c = 0; c < columns; ++c) {
      above[c] = north[place(rows - 1, c) * threads];
      below_patch[c] = south[place(0, c) * threads];
    }
    COIR_UNROLL
    for (int r = 0; r < rows; ++r) {
      T before = west[place(r, columns - 1) * threads];
      T const behind_patch = east[place(r, 0) * threads];
      bool const row_inside = static_cast<unsigned>(first_row + r) < m;
      COIR_UNROLL
      for (int c = 0; c < columns; ++c) {
        T const old = u[r][c];
        T const below = r + 1 < rows ? u[r + 1 < rows ? r + 1 : r][c] : below_patch[c];
        T const behind = c + 1 < columns ? u[r][c + 1 < columns ? c + 1 : c] : behind_patch;
        T const next = ((((above[c] + below) + before) + behind) - source[r][c]) * T(0.25);
        bool const inside = !Masked || (row_inside && static_cast<unsigned>(first_column + c) < n);
        u[r][c] = inside ? next : old;
        above[c] = old;
        before = old;
      }
    }
  }
};

template <class Exec, class T, class Shape>
void jacobi_tiles(Exec const& exec, RowMajorView<Exec, T const, 2> const& b,
                  RowMajorView<Exec, T, 2> const& in, RowMajorView<Exec, T, 2> const& out,
                  int sweeps) {
  int const across =
      (static_cast<int>(b.extent(1)) + Shape::inner_columns - 1) / Shape::inner_columns;
  int const down = (static_cast<int>(b.extent(0)) + Shape::inner_rows - 1) / Shape::inner_rows;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Shape::threads, 1>>;
  Kokkos::parallel_for("coir::poisson::jacobi_tiles/tiles",
                       Policy(exec, across * down, Shape::threads)
                           .set_scratch_size(0, Kokkos::PerTeam(Shape::scratch_bytes)),
                       JacobiTile<Exec, T, Shape>{in, b, out, across, sweeps});
}

/// Blocked sweeps on a device.
template <class Exec, class T>
class TiledJacobi {
  // On small grids launches take most of the time, so that there is one deep tile for each
  // multiprocessor. On large grids the overlap of tiles must be a small part of the work. Shapes
  // and depths were measured on an H200.
  static constexpr bool single = sizeof(T) == 4;
  using Small =
      std::conditional_t<single, TileShape<T, 16, 4, 8, 8, 16>, TileShape<T, 16, 4, 8, 6, 12>>;
  using Large =
      std::conditional_t<single, TileShape<T, 16, 6, 8, 8, 8>, TileShape<T, 16, 4, 8, 8, 8>>;

 public:
  TiledJacobi(Exec const& exec, RowMajorView<Exec, T const, 2> const& b,
              RowMajorView<Exec, T, 2> const& u, bool shared = false)
      : exec_(exec), b_(b), fields_(exec, u, "Jacobi's method", shared) {}

  void advance(std::int64_t sweeps) {
    if (b_.extent(0) == 0 || b_.extent(1) == 0) return;
    bool const small = static_cast<std::int64_t>(b_.extent(0) * b_.extent(1)) < 400'000;
    if (small)
      advance<Small>(sweeps);
    else
      advance<Large>(sweeps);
  }

  RowMajorView<Exec, T, 2> current() const { return fields_.current(); }
  void finish() { fields_.finish(); }

 private:
  template <class Shape>
  void advance(std::int64_t sweeps) {
    constexpr int recorded = 128;  // launches, an even number
    constexpr std::int64_t in_recording = std::int64_t(recorded) * Shape::depth;
    if (sweeps >= in_recording) {
      auto& replay = replays_[fields_.parity()];
      if (!replay) {
        replay = std::make_unique<Replay<Exec>>(
            exec_, [b = b_, from = fields_.current(), to = fields_.other()](Exec const& exec) {
              for (int pair = 0; pair < recorded / 2; ++pair) {
                jacobi_tiles<Exec, T, Shape>(exec, b, from, to, Shape::depth);
                jacobi_tiles<Exec, T, Shape>(exec, b, to, from, Shape::depth);
              }
            });
      }
      exec_.fence();  // a recording does not wait for what exec_ was given since it was made
      for (; sweeps >= in_recording; sweeps -= in_recording) replay->submit();
      replay->wait();
    }
    while (sweeps > 0) {
      int const depth = static_cast<int>(std::min<std::int64_t>(Shape::depth, sweeps));
      jacobi_tiles<Exec, T, Shape>(exec_, b_, fields_.current(), fields_.other(), depth);
      fields_.swap();
      sweeps -= depth;
    }
  }

  Exec exec_;
  RowMajorView<Exec, T const, 2> b_;
  TwoFields<Exec, T, 2> fields_;
  std::unique_ptr<Replay<Exec>> replays_[2];
};

}  // namespace coir::poisson::detail
