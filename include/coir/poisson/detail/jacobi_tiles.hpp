#pragma once

/// \file
/// Blocked Jacobi sweeps on devices: tiles in team scratch memory.

#include <coir/core/replay.hpp>
#include <coir/poisson/detail/field.hpp>
#include <coir/poisson/detail/jacobi_wavefront.hpp>
#include <coir/poisson/detail/second_field.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace coir::poisson::detail {

/// A tile is `Strips * Rows` rows by `Columns` columns: a thread holds a strip of Rows cells of one
/// column and its sources in registers, and shows it to its neighbours in scratch memory. The outer
/// `depth` cells of a tile belong to other tiles and serve `depth` sweeps, going stale from the edge.
template <class T, int Columns_, int Strips_, int Rows_, int Depth_>
struct TileShape {
  static constexpr int columns = Columns_;
  static constexpr int strips = Strips_;
  static constexpr int rows = Strips_ * Rows_;
  static constexpr int strip_rows = Rows_;
  static constexpr int depth = Depth_;
  static constexpr int threads = Columns_ * Strips_;
  static constexpr int inner_columns = Columns_ - 2 * Depth_;
  static constexpr int inner_rows = rows - 2 * Depth_;
  static constexpr int scratch_bytes = 2 * rows * Columns_ * static_cast<int>(sizeof(T));
  static_assert(inner_columns > 0 && inner_rows > 0);
  static_assert(scratch_bytes <= 47 * 1024, "Kokkos gives a team no more scratch memory everywhere");
};

template <class Exec, class T, class Shape>
struct JacobiTile {
  Field<Exec, T const, 2> in;
  Field<Exec, T const, 2> b;
  Field<Exec, T, 2> out;
  int tiles_across;
  int sweeps;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    constexpr int columns = Shape::columns, strip = Shape::strip_rows;
    constexpr int cells = Shape::rows * columns;
    int const x = member.team_rank() % columns;
    int const y = member.team_rank() / columns;
    int const tile_row = member.league_rank() / tiles_across;
    int const tile_column = member.league_rank() - tile_row * tiles_across;
    int const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1));
    int const column = tile_column * Shape::inner_columns - Shape::depth + x;
    int const first_row = tile_row * Shape::inner_rows - Shape::depth + y * strip;

    T u[strip], source[strip];
    bool inside[strip];
    bool const column_inside = column >= 0 && column < n;
    bool const column_known = column >= -1 && column <= n;
    for (int r = 0; r < strip; ++r) {
      int const row = first_row + r;
      inside[r] = column_inside && row >= 0 && row < m;
      u[r] = column_known && row >= -1 && row <= m ? in(row + 1, column + 1) : T(0);
      source[r] = inside[r] ? b(row, column) : T(0);
    }

    int const scratch_bytes = Shape::scratch_bytes;
    T* const scratch = static_cast<T*>(member.team_scratch(0).get_shmem(scratch_bytes));
    int const here = y * strip * columns + x;
    int const to_west = x > 0 ? -1 : 0;
    int const to_east = x < columns - 1 ? 1 : 0;
    int const to_north = y > 0 ? -columns : 0;
    int const to_south = y < Shape::strips - 1 ? strip * columns : (strip - 1) * columns;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      // Two copies in turn: a thread may write the next one while others still read this one.
      T* const shown = scratch + (sweep % 2) * cells + here;
      for (int r = 0; r < strip; ++r) shown[r * columns] = u[r];
      member.team_barrier();
      T north = shown[to_north];
      T const south = shown[to_south];
      for (int r = 0; r < strip; ++r) {
        T const old = u[r];
        T const next = r + 1 < strip ? u[r + 1] : south;
        T const sum = ((north + next) + shown[r * columns + to_west]) + shown[r * columns + to_east];
        u[r] = inside[r] ? (sum - source[r]) * T(0.25) : old;
        north = old;
      }
    }

    if (x < Shape::depth || x >= columns - Shape::depth) return;
    for (int r = 0; r < strip; ++r) {
      int const in_tile = y * strip + r;
      if (inside[r] && in_tile >= Shape::depth && in_tile < Shape::rows - Shape::depth)
        out(first_row + r + 1, column + 1) = u[r];
    }
  }
};

template <class Exec, class T, class Shape>
void jacobi_tiles(Exec const& exec, Field<Exec, T const, 2> const& b, Field<Exec, T, 2> const& in,
                  Field<Exec, T, 2> const& out, int sweeps) {
  int const across = (static_cast<int>(b.extent(1)) + Shape::inner_columns - 1) / Shape::inner_columns;
  int const down = (static_cast<int>(b.extent(0)) + Shape::inner_rows - 1) / Shape::inner_rows;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Shape::threads, 1>>;
  Kokkos::parallel_for(
      "coir::poisson::jacobi/tiles",
      Policy(exec, across * down, Shape::threads)
          .set_scratch_size(0, Kokkos::PerTeam(Shape::scratch_bytes)),
      JacobiTile<Exec, T, Shape>{in, b, out, across, sweeps});
}

/// Blocked sweeps on a device.
template <class Exec, class T>
class TiledJacobi {
  // Small grids: one tile a multiprocessor, deep, because a launch costs most. Large grids: little of
  // a tile is work done twice. (Shapes and depths by measurement on an H200.)
  static constexpr bool single = sizeof(T) == 4;
  using Small = std::conditional_t<single, TileShape<T, 64, 11, 4, 12>, TileShape<T, 64, 10, 4, 8>>;
  using Large = std::conditional_t<single, TileShape<T, 128, 2, 20, 6>, TileShape<T, 64, 4, 11, 6>>;

 public:
  TiledJacobi(Exec const& exec, Field<Exec, T const, 2> const& b, Field<Exec, T, 2> const& u)
      : exec_(exec), b_(b), fields_(exec, u) {}

  void advance(std::int64_t sweeps) {
    if (b_.extent(0) == 0 || b_.extent(1) == 0) return;
    bool const small = static_cast<std::int64_t>(b_.extent(0) * b_.extent(1)) < 400'000;
    if (small)
      advance<Small>(sweeps);
    else
      advance<Large>(sweeps);
  }

  Field<Exec, T, 2> current() const { return fields_.current(); }
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
  Field<Exec, T const, 2> b_;
  TwoFields<Exec, T, 2> fields_;
  std::unique_ptr<Replay<Exec>> replays_[2];
};

/// The blocked scheme of an execution space. (Two specialisations, because a type that
/// std::conditional_t does not choose must not be instantiated either.)
template <class Exec, class T, bool OnHost = runs_on_host<Exec>>
struct BlockedJacobiOf {
  using type = WavefrontJacobi<Exec, T>;
};
template <class Exec, class T>
struct BlockedJacobiOf<Exec, T, false> {
  using type = TiledJacobi<Exec, T>;
};
template <class Exec, class T>
using BlockedJacobi = typename BlockedJacobiOf<Exec, T>::type;

/// Whether blocking pays: with several sweeps, on a grid of more than a few tiles of vectors.
template <class Exec, class B>
bool blocked_fits(Exec const&, B const& b, std::int64_t sweeps) {
  return sweeps >= 4 && b.extent(0) >= 8 && b.extent(1) >= 8;
}

}  // namespace coir::poisson::detail
