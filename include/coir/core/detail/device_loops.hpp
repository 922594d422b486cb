#pragma once

/// \file
/// Loops over boxes on devices.

#include <coir/core/detail/divisor.hpp>
#include <coir/core/detail/rows.hpp>
#include <coir/core/kokkos.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace coir::detail {

/// The rows of a box, for kernels.
template <int Rank, class Index>
struct DeviceRows : Rows<Rank, Index> {
  static constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  bool is_narrow;     // the number of rows, their length and the middle extent are below 2^31
  Divisor by_length;  // of use only if they are
  Divisor by_middle;  // as by_length

  explicit DeviceRows(Rows<Rank, Index> const& rows)
      : Rows<Rank, Index>(rows),
        is_narrow(rows.count <= most && rows.length <= most && rows.middle <= most),
        by_length(is_narrow ? static_cast<std::int32_t>(rows.length) : 1),
        by_middle(is_narrow ? static_cast<std::int32_t>(rows.middle) : 1) {}

  /// Calls body with the indices of the cell at `column` of `row`, then with `values`.
  template <class Body, class... Values>
  KOKKOS_FORCEINLINE_FUNCTION void call(Body const& body, std::int64_t row, Index column,
                                        Values&... values) const {
    auto const& lower = this->lower;
    if constexpr (Rank == 1) {
      body(column, values...);
    } else if constexpr (Rank == 2) {
      body(static_cast<Index>(lower[0] + row), column, values...);
    } else {
      std::int64_t const plane =
          is_narrow ? by_middle.quotient(static_cast<std::int32_t>(row)) : row / this->middle;
      body(static_cast<Index>(lower[0] + plane),
           static_cast<Index>(lower[1] + (row - plane * this->middle)), column, values...);
    }
  }

  /// Calls body with the indices of a cell, numbered row by row.
  template <class Number, class Body, class... Values>
  KOKKOS_FORCEINLINE_FUNCTION void call_cell(Body const& body, Number cell,
                                             Values&... values) const {
    if constexpr (Rank == 1) {
      call(body, 0, static_cast<Index>(this->first + static_cast<Index>(cell)), values...);
    } else {
      Number const length = static_cast<Number>(this->length);
      Number row;
      if constexpr (sizeof(Number) == 4)
        row = by_length.quotient(cell);
      else
        row = cell / length;
      call(body, row, static_cast<Index>(this->first + static_cast<Index>(cell - row * length)),
           values...);
    }
  }
};

/// One cell per thread: the fastest to launch. A cell's number has 32 bits while that is enough.
template <int Rank, class Index, class Number, class Body>
struct FlatLoop {
  DeviceRows<Rank, Index> rows;
  Body body;

  template <class... Values>
  KOKKOS_FUNCTION void operator()(Number cell, Values&... values) const {
    rows.call_cell(body, cell, values...);
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
  DeviceRows<Rank, Index> rows;
  Body body;
  Divisor by_blocks_across;
  int blocks_across;

  BlockLoop(Rows<Rank, Index> const& rows_, Body const& body_)
      : rows(rows_),
        body(body_),
        by_blocks_across(static_cast<std::int32_t>(across(rows_))),
        blocks_across(static_cast<int>(across(rows_))) {}

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
      int const block_row = by_blocks_across.quotient(member.league_rank());
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

/// Several cells per thread of a box of short rows: a team takes a stretch of cells, numbered row by row. With one cell per thread
/// a device takes longer to start the teams of a plain loop than to store their numbers.
template <int Rank, class Index, class Body>
struct StretchLoop {
  static constexpr int team = 128;
  static constexpr int cells = cells_per_thread<Body>;
  DeviceRows<Rank, Index> rows;
  Body body;
  std::int32_t count;  // of cells

  static std::int64_t stretches(std::int64_t count) {
    return (count + team * cells - 1) / (team * cells);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int32_t const begin = member.league_rank() * (team * cells) + member.team_rank();
    COIR_UNROLL
    for (int c = 0; c < cells; ++c)
      if (count - begin > c * team) rows.call_cell(body, begin + c * team);
  }
};

template <class Exec, int Rank, class Index, class Body>
void for_each_on_device(std::string_view label, Exec const& exec, Rows<Rank, Index> const& rows,
                        Body const& body) {
  constexpr std::int64_t worth_blocks = 1'000'000;  // cells; below, the launch counts most
  constexpr std::int64_t worth_team = 512;  // columns; else too many threads idle at the end
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  using Device = DeviceRows<Rank, Index>;
  using Blocks = BlockLoop<Rank, Index, Body>;
  std::int64_t const cells = rows.count * rows.length;
  if (cells >= worth_blocks && rows.length >= worth_team &&
      (Rank == 1 || rows.length <= most - Blocks::team) && Blocks::blocks(rows) <= most) {
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Blocks::team, 1>>;
    Kokkos::parallel_for(std::string(label),
                         Policy(exec, static_cast<int>(Blocks::blocks(rows)), Blocks::team),
                         Blocks(rows, body));
  } else if (Rank > 1 && cells >= worth_blocks && cells <= most) {
    using Stretches = StretchLoop<Rank, Index, Body>;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Stretches::team, 1>>;
    Kokkos::parallel_for(
        std::string(label),
        Policy(exec, static_cast<int>(Stretches::stretches(cells)), Stretches::team),
        Stretches{Device(rows), body, static_cast<std::int32_t>(cells)});
  } else if (cells <= most) {
    Kokkos::parallel_for(
        std::string(label),
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, static_cast<int>(cells)),
        FlatLoop<Rank, Index, int, Body>{Device(rows), body});
  } else {
    Kokkos::parallel_for(std::string(label),
                         Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, cells),
                         FlatLoop<Rank, Index, std::int64_t, Body>{Device(rows), body});
  }
}

/// Reduces many cells by teams that all run at the same time. A thread loads several terms at a time, where a
/// RangePolicy loads one. These are folded separately before they join the others, so that fewer rounding
/// errors add up.
///
/// \tparam Number  counts cells; in boxes of several rows 32 bits must be enough, which divide faster
template <class Member, int team, int Rank, class Index, class Number, class Body, class Reducer>
struct TeamReduction {
  using value_type = typename Reducer::value_type;
  static constexpr int cells = 8;
  DeviceRows<Rank, Index> rows;
  Body body;
  Reducer reducer;
  std::int64_t count;

  KOKKOS_FUNCTION void operator()(Member const& member, value_type& value) const {
    constexpr std::int64_t block = team * cells;
    std::int64_t const stride = std::int64_t(member.league_size()) * block;
    std::int64_t begin = std::int64_t(member.league_rank()) * block + member.team_rank();
    for (; begin + block - team < count; begin += stride) {
      value_type some;
      reducer.init(some);
      COIR_UNROLL
      for (int c = 0; c < cells; ++c) fold(begin + c * team, some);
      reducer.join(value, some);
    }
    for (int c = 0; c < cells; ++c)
      if (begin + c * team < count) fold(begin + c * team, value);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void fold(std::int64_t cell, value_type& value) const {
    rows.call_cell(body, static_cast<Number>(cell), value);
  }
};

template <class Exec, int Rank, class Index, class Body, class Reducer>
void reduce_on_device(std::string_view label, Exec const& exec, Rows<Rank, Index> const& rows,
                      Body const& body, Reducer const& reducer) {
  constexpr std::int64_t worth_teams = 1'000'000;
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  using Device = DeviceRows<Rank, Index>;
  std::int64_t const cells = rows.count * rows.length;
  if (cells >= worth_teams && (Rank == 1 || cells <= most)) {
    constexpr int team = 512;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team, 1>>;
    using Number = std::conditional_t<Rank == 1, std::int64_t, std::int32_t>;
    using Reduction =
        TeamReduction<typename Policy::member_type, team, Rank, Index, Number, Body, Reducer>;
    // Half as many teams as the device can run: a single warp joins their results one after the other.
    std::int64_t const at_a_time = std::int64_t(exec.concurrency()) / (2 * team);
    std::int64_t const blocks = cells / (team * Reduction::cells);
    Kokkos::parallel_reduce(
        std::string(label),
        Policy(exec, static_cast<int>(std::clamp<std::int64_t>(blocks, 1, at_a_time)), team),
        Reduction{Device(rows), body, reducer, cells}, reducer);
  } else if (cells <= most) {
    Kokkos::parallel_reduce(
        std::string(label),
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<int>>(exec, 0, static_cast<int>(cells)),
        FlatLoop<Rank, Index, int, Body>{Device(rows), body}, reducer);
  } else {
    Kokkos::parallel_reduce(
        std::string(label),
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, cells),
        FlatLoop<Rank, Index, std::int64_t, Body>{Device(rows), body}, reducer);
  }
}

}  // namespace coir::detail
