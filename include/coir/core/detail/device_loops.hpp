#pragma once

/// \file
/// Loops over boxes on devices.

#include <coir/core/detail/divisor.hpp>
#include <coir/core/detail/rows.hpp>
#include <coir/core/kokkos.hpp>

#include <algorithm>
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
  Divisor by_length;  // valid only if is_narrow
  Divisor by_middle;  // valid only if is_narrow

  explicit DeviceRows(Rows<Rank, Index> const& rows)
      : Rows<Rank, Index>(rows),
        is_narrow(rows.count <= most && rows.length <= most && rows.middle <= most),
        by_length(is_narrow ? static_cast<std::int32_t>(rows.length) : 1),
        by_middle(is_narrow ? static_cast<std::int32_t>(rows.middle) : 1) {}

  /// The indices of a cell; 0 for axes that a box of this rank lacks.
  struct Place {
    Index i, j, column;
  };

  /// The cell at `column` of `row`. Numbers of rows may have 32 bits only if those of all rows fit.
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION Place place_in_row(Number row, Index column) const {
    auto const& lower = this->lower;
    if constexpr (Rank == 1) {
      return {0, 0, column};
    } else if constexpr (Rank == 2) {
      return {static_cast<Index>(lower[0] + row), 0, column};
    } else {
      Number const middle = static_cast<Number>(this->middle);
      Number plane;
      if (sizeof(Number) == 4 || is_narrow)
        plane = by_middle.quotient(static_cast<std::int32_t>(row));
      else
        plane = row / middle;
      return {static_cast<Index>(lower[0] + plane),
              static_cast<Index>(lower[1] + static_cast<Index>(row - plane * middle)), column};
    }
  }

  /// The cell with a number, counted row by row. Numbers of 32 bits, which are divided faster, are
  /// for boxes of fewer than 2^31 cells.
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION Place place(Number cell) const {
    if constexpr (Rank == 1) {
      return {0, 0, static_cast<Index>(this->first + static_cast<Index>(cell))};
    } else {
      Number const length = static_cast<Number>(this->length);
      Number row;
      if constexpr (sizeof(Number) == 4)
        row = by_length.quotient(cell);
      else
        row = cell / length;
      return place_in_row(
          row, static_cast<Index>(this->first + static_cast<Index>(cell - row * length)));
    }
  }

  /// Calls body with the indices of a cell, then with `values`.
  template <class Body, class... Values>
  KOKKOS_FORCEINLINE_FUNCTION static void call(Body const& body, Place const& at,
                                               Values&... values) {
    if constexpr (Rank == 1)
      body(at.column, values...);
    else if constexpr (Rank == 2)
      body(at.i, at.column, values...);
    else
      body(at.i, at.j, at.column, values...);
  }
};

/// The number of cells from which on a box is large: its threads take several cells.
inline constexpr std::int64_t cells_of_large_box = 1'000'000;

/// The number of cells of a large box that a device's thread takes: body.cells_per_thread, by
/// default four. In a StretchLoop it is at most four, or two in boxes of two and three indices
/// whose body doesn't take several. Take more if threads compute much before they can load, and
/// fewer if a cell has many bytes.
template <class Body>
inline constexpr int cells_per_thread = 4;
template <class Body>
  requires requires { Body::cells_per_thread; }
inline constexpr int cells_per_thread<Body> = Body::cells_per_thread;

/// The blocks of threads that a multiprocessor has room for: body.blocks_at_a_time, or 0 without
/// it.
template <class Body>
inline constexpr int blocks_at_a_time = 0;
template <class Body>
  requires requires { Body::blocks_at_a_time; }
inline constexpr int blocks_at_a_time<Body> = Body::blocks_at_a_time;

/// A body that takes several cells of a column at a time on devices.
template <class Body, int Rank, class Index>
concept TakesColumns =
    Rank == 2 && requires(Body const& body) { body.template column<2>(Index(0), Index(0)); };

/// A body that takes several cells of short rows at a time on devices, to load all of them before
/// it stores one: body.several(places).
template <class Body, int Rank, class Index>
concept TakesSeveral = requires(
    Body const& body, typename DeviceRows<Rank, Index>::Place const (&at)[2]) { body.several(at); };

/// Whether a cell may read the memory that its neighbours read, so that blocks may be faster than
/// stretches: true unless the body declares reads_no_neighbours.
template <class Body>
inline constexpr bool may_read_neighbours = true;
template <class Body>
  requires requires { Body::reads_no_neighbours; }
inline constexpr bool may_read_neighbours<Body> = !Body::reads_no_neighbours;

/// The loop over a box of long rows: a team covers a block of 128 columns and `cells` rows. It is
/// fast for grids beyond the cache, because a stencil reads the same cells for neighbouring rows,
/// and each thread waits for several loads at a time.
template <int Rank, class Index, class Body>
  requires(Rank > 1)
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
    return (rows.length + team - 1) / team;
  }
  static std::int64_t blocks(Rows<Rank, Index> const& rows) {
    return across(rows) * ((rows.count + cells - 1) / cells);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    int const block_row = by_blocks_across.quotient(member.league_rank());
    int const column =
        (member.league_rank() - block_row * blocks_across) * team + member.team_rank();
    if (column >= rows.length) return;
    std::int64_t const first_row = std::int64_t(block_row) * cells;
    if constexpr (TakesColumns<Body, Rank, Index>) {
      if (first_row + cells <= rows.count) {
        body.template column<cells>(static_cast<Index>(rows.lower[0] + first_row),
                                    static_cast<Index>(rows.first + column));
      } else {  // the last rows; not unrolled, for compile time
        COIR_NO_UNROLL
        for (std::int64_t row = first_row; row < rows.count; ++row)
          rows.call(body, rows.place_in_row(row, static_cast<Index>(rows.first + column)));
      }
    } else {
      COIR_UNROLL
      for (int c = 0; c < cells; ++c)
        if (first_row + c < rows.count)
          rows.call(body,
                    rows.place_in_row(first_row + c, static_cast<Index>(rows.first + column)));
    }
  }
};

/// The loop over any other box: neighbouring threads take neighbouring cells of a stretch, numbered
/// row by row. A thread has cells_for() cells: one of a small box, and mostly `cells` of a large
/// one, because starting a thread for each cell takes longer than storing a number. The box must be
/// is_countable().
template <int Rank, class Index, class Body>
struct StretchLoop {
  static constexpr int together = 128;  // threads that take a stretch
  static_assert((together & (together - 1)) == 0);
  // Two cells are best for stencils of short rows, four for boxes of one index
  // (docs/performance.md).
  static constexpr bool takes_several = TakesSeveral<Body, Rank, Index>;
  static constexpr int cells = std::min(Rank == 1 || takes_several ? 4 : 2, cells_per_thread<Body>);
  // Devices compute faster in 32 bits. Boxes of rank 1 may have more cells than these count.
  using Number = std::conditional_t<Rank == 1, std::int64_t, std::int32_t>;
  DeviceRows<Rank, Index> rows;
  Body body;
  std::int64_t count;  // of cells
  int each;            // cells of a thread: 1 or `cells`

  /// The number of cells of a thread.
  static int cells_for(Rows<Rank, Index> const& rows) {
    // Short rows without their border are faster with one cell a thread (docs/performance.md).
    bool const is_short_interior = Rank > 1 && rows.first != 0 && rows.length < 64;
    return rows.cells() < cells_of_large_box || is_short_interior ? 1 : cells;
  }

  /// The number of threads that have a cell.
  std::int64_t threads() const {
    std::int64_t const stretch = together * each;
    return count / stretch * together + std::min<std::int64_t>(count % stretch, together);
  }

  /// Whether 32 bits count the threads and, in boxes of rank 2 and 3, the cells.
  bool is_countable() const {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    // Kokkos counts threads in 32 bits, in whole blocks of at most 1024; `cell` ends at most
    // `together` beyond the last cell.
    return threads() <= most - 1023 && (Rank == 1 || count <= most - together);
  }

  /// \param thread  below threads(): its first cell is visited without a test
  // Kept short: instructions around the body count in small boxes.
  KOKKOS_FUNCTION void operator()(std::int32_t thread) const {
    if constexpr (cells == 1) {
      rows.call(body, rows.place(static_cast<Number>(thread)));
    } else {
      Number cell = thread + static_cast<Number>(thread & -together) * (each - 1);
      int left = each;
      if constexpr (takes_several) {
        if (left == cells && cell + (cells - 1) * together < static_cast<Number>(count)) {
          typename DeviceRows<Rank, Index>::Place at[cells];
          COIR_UNROLL
          for (int c = 0; c < cells; ++c) at[c] = rows.place(cell + c * together);
          body.several(at);
          return;
        }
      }
      // Not unrolled: a cell is loaded only after the previous one is stored, and more registers
      // would let fewer threads run at a time.
      COIR_NO_UNROLL
      do {
        rows.call(body, rows.place(cell));
        cell += together;
      } while (--left > 0 && cell < static_cast<Number>(count));
    }
  }
};

template <class Exec, int Rank, class Index, class Body>
void for_each_on_device(std::string_view label, Exec const& exec, Rows<Rank, Index> const& rows,
                        Body const& body) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  std::int64_t const cells = rows.cells();
  // Two kernels serve all boxes, because each one takes compile time.
  if constexpr (Rank > 1) {
    constexpr std::int64_t worth_team = 512;  // columns; else too many threads idle at the end
    if constexpr (may_read_neighbours<Body>) {
      using Blocks = BlockLoop<Rank, Index, Body>;
      // In a block of a single row each thread would have one cell.
      if (cells >= cells_of_large_box && rows.count > 1 && rows.length >= worth_team &&
          rows.length <= most - Blocks::team && Blocks::blocks(rows) < most) {
        constexpr int room = TakesColumns<Body, Rank, Index> ? blocks_at_a_time<Body> : 0;
        using Policy =
            Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Blocks::team, std::max(1, room)>,
                               PassedWithLaunch<Blocks>>;
        Kokkos::parallel_for(std::string(label),
                             Policy(exec, static_cast<int>(Blocks::blocks(rows)), Blocks::team),
                             Blocks(rows, body));
        return;
      }
    }
  }
  using Stretches = StretchLoop<Rank, Index, Body>;
  Stretches const loop{DeviceRows<Rank, Index>(rows), body, cells, Stretches::cells_for(rows)};
  if (!loop.is_countable()) {
    auto const [one, other] = rows.halves();
    for_each_on_device(label, exec, one, body);
    for_each_on_device(label, exec, other, body);
    return;
  }
  constexpr int room = TakesColumns<Body, Rank, Index> ? 0 : blocks_at_a_time<Body>;
  using Bounds = Kokkos::LaunchBounds<Stretches::together, room>;
  using Policy = std::conditional_t<
      (room > 0),
      Kokkos::RangePolicy<Exec, Bounds, Kokkos::IndexType<std::int32_t>,
                          PassedWithLaunch<Stretches>>,
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int32_t>, PassedWithLaunch<Stretches>>>;
  Kokkos::parallel_for(std::string(label),
                       Policy(exec, 0, static_cast<std::int32_t>(loop.threads())), loop);
}

/// Reduces cells by at most half as many threads as a device runs at the same time. In a small box
/// a thread folds one cell after the other. In a large one it loads several terms at a time, and
/// folds them separately before it joins them with the others, so that fewer rounding errors add
/// up.
template <int Rank, class Index, class Body, class Reducer>
struct StretchReduction {
  using value_type = typename Reducer::value_type;
  static constexpr int together = 256;  // threads that take a stretch of a large box
  static_assert((together & (together - 1)) == 0);
  static constexpr int cells = 8;  // of a thread in such a stretch
  DeviceRows<Rank, Index> rows;
  Body body;
  Reducer reducer;
  std::int64_t count;    // of cells
  std::int32_t threads;  // of a large box a multiple of `together`
  bool several;          // terms at a time

  /// The number of threads that have a cell, or a stretch of a large box; at most half as many as a
  /// device runs at the same time, because the last block joins the results of all others.
  ///
  /// \param concurrency  threads that a device runs at the same time
  static std::int32_t threads_for(std::int64_t count, std::int64_t concurrency) {
    constexpr std::int64_t stretch = std::int64_t(together) * cells;
    std::int64_t const blocks =
        std::clamp<std::int64_t>(concurrency / (2 * together), 1, most_blocks_to_reduce);
    std::int64_t const useful =
        count < cells_of_large_box ? count : (count + stretch - 1) / stretch * together;
    return static_cast<std::int32_t>(std::min(useful, blocks * together));
  }

  KOKKOS_FUNCTION void operator()(std::int32_t thread, value_type& value) const {
    std::int64_t begin = thread, step = threads;
    if (several) {
      begin += std::int64_t(thread & -together) * (cells - 1);
      step *= cells;
      if (Rank == 1 || count > DeviceRows<Rank, Index>::most)
        begin = fold_stretches<std::int64_t>(begin, step, value);
      else
        begin = fold_stretches<std::int32_t>(begin, step, value);
      step = together;  // through the last stretch, which isn't whole
    }
    for (; begin < count; begin += step)
      rows.call(body,
                Rank == 1 || count > DeviceRows<Rank, Index>::most
                    ? rows.place(begin)
                    : rows.place(static_cast<std::int32_t>(begin)),
                value);
  }

 private:
  /// Folds a thread's cells of all whole stretches. Its first cell of the first stretch is `begin`,
  /// and each stretch lies `step` cells behind the one before.
  ///
  /// \tparam Number  counts cells
  /// \return  the thread's first cell of the stretch that isn't whole
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t fold_stretches(std::int64_t begin, std::int64_t step,
                                                          value_type& value) const {
    for (; begin + (cells - 1) * together < count; begin += step) {
      value_type some;
      reducer.init(some);
      fold_stretch(static_cast<Number>(begin), some);
      reducer.join(value, some);
    }
    return begin;
  }

  /// Folds a thread's cells of a stretch. Divides once, and then counts rows and columns on.
  KOKKOS_FORCEINLINE_FUNCTION void fold_stretch(std::int64_t begin, value_type& value) const {
    std::int64_t const length = rows.length;
    std::int64_t row = Rank == 1 ? 0 : begin / length, column = begin - row * length;
    std::int32_t const down =
        Rank > 1 && length <= together ? together / static_cast<std::int32_t>(length) : 0;
    std::int64_t const across = together - down * length;
    COIR_UNROLL
    for (int c = 0; c < cells; ++c) {
      rows.call(body, rows.place_in_row(row, static_cast<Index>(rows.first + column)), value);
      row += down;
      column += across;
      if (Rank > 1 && column >= length) {
        column -= length;
        ++row;
      }
    }
  }

  /// Folds a thread's cells of a stretch, with cells counted in 32 bits. Finds each cell's place by
  /// multiplications alone, so that none waits for the place of the cell before.
  KOKKOS_FORCEINLINE_FUNCTION void fold_stretch(std::int32_t begin, value_type& value) const {
    COIR_UNROLL
    for (int c = 0; c < cells; ++c) rows.call(body, rows.place(begin + c * together), value);
  }
};

template <class Exec, int Rank, class Index, class Body, class Reducer>
void reduce_on_device(std::string_view label, Exec const& exec, Rows<Rank, Index> const& rows,
                      Body const& body, Reducer const& reducer) {
  using Reduction = StretchReduction<Rank, Index, Body, Reducer>;
  constexpr std::size_t bytes = sizeof(typename Reduction::value_type);
  static_assert(
      bytes >= least_bytes_to_reduce,
      "Kokkos 3.4 reduces values of one or two bytes wrongly on GPUs: take a newer one, or "
      "values of four bytes");
  static_assert(bytes <= 4 || bytes % 4 == 0,
                "Kokkos reduces values of more than four bytes on GPUs in parts of four: pad them");
  // Four blocks of 256 threads on a multiprocessor leave 64 registers for a thread. Without the
  // bound compilers take more, and blocks wait for each other. Large values need more registers.
  constexpr int blocks = bytes <= 32 ? 4 : 1;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::LaunchBounds<Reduction::together, blocks>,
                                     Kokkos::IndexType<std::int32_t>>;
  std::int64_t const cells = rows.cells();
  std::int32_t const threads = Reduction::threads_for(cells, exec.concurrency());
  Kokkos::parallel_reduce(std::string(label), Policy(exec, 0, threads),
                          Reduction{DeviceRows<Rank, Index>(rows), body, reducer, cells, threads,
                                    cells >= cells_of_large_box},
                          reducer);
}

}  // namespace coir::detail
