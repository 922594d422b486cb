#pragma once

/// \file
/// Loops over boxes on devices.

#include <coir/core/detail/rows.hpp>
#include <coir/core/kokkos.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace coir::detail {

/// One cell per thread, numbered row by row: the fastest to launch. The number is divided by the row's
/// length, so it has 32 bits while that is enough.
template <int Rank, class Index, class Number, class Body>
struct FlatLoop {
  Rows<Rank, Index> rows;
  Body body;

  template <class... Values>
  KOKKOS_FUNCTION void operator()(Number cell, Values&... values) const {
    if constexpr (Rank == 1) {
      rows.call(body, 0, static_cast<Index>(rows.first + static_cast<Index>(cell)), values...);
    } else {
      Number const length = static_cast<Number>(rows.length);
      Number const row = cell / length;
      rows.call(body, row, static_cast<Index>(rows.first + static_cast<Index>(cell - row * length)),
                values...);
    }
  }
};

/// How many cells of a large box a device's thread takes: four, or what the body says in cells_per_thread.
/// More pay off where threads compute much before they can load, fewer where a cell has many bytes.
template <class Body>
inline constexpr int cells_per_thread = 4;
template <class Body>
  requires requires { Body::cells_per_thread; }
inline constexpr int cells_per_thread<Body> = Body::cells_per_thread;

/// A body that takes several cells of a column at a time on devices.
template <class Body, int Rank, class Index>
concept TakesColumns =
    Rank == 2 && requires(Body const& body) { body.template column<2>(Index(0), Index(0)); };

/// Several cells per thread: a team covers a block of 128 columns and `cells` rows, or a stretch of a box of
/// rank 1. A stencil reads the same cells for neighbouring rows, and each thread waits for several loads at a
/// time: the fastest for grids beyond the cache.
template <int Rank, class Index, class Body>
struct BlockLoop {
  static constexpr int team = 128;
  static constexpr int cells = cells_per_thread<Body>;
  Rows<Rank, Index> rows;
  Body body;
  int blocks_across;

  static std::int64_t across(Rows<Rank, Index> const& rows) {
    constexpr int columns = Rank == 1 ? team * cells : team;
    return (rows.length + columns - 1) / columns;
  }
  static std::int64_t blocks(Rows<Rank, Index> const& rows) {
    return across(rows) * (Rank == 1 ? 1 : (rows.count + cells - 1) / cells);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    if constexpr (Rank == 1) {
      std::int64_t const begin = std::int64_t(member.league_rank()) * (team * cells);
      COIR_UNROLL
      for (int c = 0; c < cells; ++c) {
        std::int64_t const column = begin + c * team + member.team_rank();
        if (column < rows.length) rows.call(body, 0, static_cast<Index>(rows.first + column));
      }
    } else {
      int const block_row = member.league_rank() / blocks_across;
      int const column =
          (member.league_rank() - block_row * blocks_across) * team + member.team_rank();
      if (column >= rows.length) return;
      if constexpr (TakesColumns<Body, Rank, Index>) {
        std::int64_t const row = std::int64_t(block_row) * cells;
        if (row + cells <= rows.count) {
          body.template column<cells>(static_cast<Index>(rows.lower[0] + row),
                                      static_cast<Index>(rows.first + column));
          return;
        }
      }
      COIR_UNROLL
      for (int c = 0; c < cells; ++c) {
        std::int64_t const row = std::int64_t(block_row) * cells + c;
        if (row < rows.count) rows.call(body, row, static_cast<Index>(rows.first + column));
      }
    }
  }
};

template <class Exec, int Rank, class Index, class Body>
void for_each_on_device(std::string_view label, Exec const& exec, Rows<Rank, Index> const& rows,
                        Body const& body) {
  constexpr std::int64_t worth_blocks = 1'000'000;  // cells; below, the launch counts most
  constexpr std::int64_t worth_team = 512;  // columns; else too many threads idle at the end
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  using Blocks = BlockLoop<Rank, Index, Body>;
  std::int64_t const cells = rows.count * rows.length;
  if (cells >= worth_blocks && rows.length >= worth_team &&
      (Rank == 1 || rows.length <= most - Blocks::team) && Blocks::blocks(rows) <= most) {
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Blocks::team, 1>>;
    Kokkos::parallel_for(std::string(label),
                         Policy(exec, static_cast<int>(Blocks::blocks(rows)), Blocks::team),
                         Blocks{rows, body, static_cast<int>(Blocks::across(rows))});
  } else if (cells <= most) {
    Kokkos::parallel_for(
        std::string(label),
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, static_cast<int>(cells)),
        FlatLoop<Rank, Index, int, Body>{rows, body});
  } else {
    Kokkos::parallel_for(std::string(label),
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, cells),
                         FlatLoop<Rank, Index, std::int64_t, Body>{rows, body});
  }
}

/// Reduces a long row by teams that all run at the same time. A thread loads several terms at a time, where a
/// RangePolicy loads one. These are folded separately before they join the others, so that fewer rounding
/// errors add up.
template <class Member, int team, int Rank, class Index, class Body, class Reducer>
struct RowReduction {
  using value_type = typename Reducer::value_type;
  static constexpr int cells = 8;
  Rows<Rank, Index> rows;
  Body body;
  Reducer reducer;

  KOKKOS_FUNCTION void operator()(Member const& member, value_type& value) const {
    constexpr std::int64_t block = team * cells;
    std::int64_t const stride = std::int64_t(member.league_size()) * block;
    std::int64_t begin = std::int64_t(member.league_rank()) * block + member.team_rank();
    for (; begin + block - team < rows.length; begin += stride) {
      value_type some;
      reducer.init(some);
      COIR_UNROLL
      for (int c = 0; c < cells; ++c) fold(begin + c * team, some);
      reducer.join(value, some);
    }
    for (int c = 0; c < cells; ++c)
      if (begin + c * team < rows.length) fold(begin + c * team, value);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void fold(std::int64_t column, value_type& value) const {
    rows.call(body, 0, static_cast<Index>(rows.first + column), value);
  }
};

template <class Exec, int Rank, class Index, class Body, class Reducer>
void reduce_on_device(std::string_view label, Exec const& exec, Rows<Rank, Index> const& rows,
                      Body const& body, Reducer const& reducer) {
  constexpr std::int64_t worth_teams = 1'000'000;
  std::int64_t const cells = rows.count * rows.length;
  if (rows.count == 1 && cells >= worth_teams) {
    constexpr int team = 512;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team, 1>>;
    using Reduction = RowReduction<typename Policy::member_type, team, Rank, Index, Body, Reducer>;
    // Half as many teams as the device can run: a single warp joins their results one after the other.
    std::int64_t const at_a_time = std::int64_t(exec.concurrency()) / (2 * team);
    std::int64_t const blocks = cells / (team * Reduction::cells);
    Kokkos::parallel_reduce(
        std::string(label),
        Policy(exec, static_cast<int>(std::clamp<std::int64_t>(blocks, 1, at_a_time)), team),
        Reduction{rows, body, reducer}, reducer);
  } else if (cells <= std::numeric_limits<int>::max()) {
    Kokkos::parallel_reduce(
        std::string(label),
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, static_cast<int>(cells)),
        FlatLoop<Rank, Index, int, Body>{rows, body}, reducer);
  } else {
    Kokkos::parallel_reduce(
        std::string(label),
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, cells),
        FlatLoop<Rank, Index, std::int64_t, Body>{rows, body}, reducer);
  }
}

}  // namespace coir::detail
