// The loops of devices, whose functors hosts can call, too: every cell once, in boxes of any size.

#include <coir/core/detail/device_loops.hpp>
#include <coir/core/loops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using coir::Box;
using coir::detail::BlockLoop;
using coir::detail::DeviceRows;
using coir::detail::Rows;
using coir::detail::StretchLoop;
using coir::detail::StretchReduction;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

/// A thread of a team, as Kokkos gives it to a functor.
struct Member {
  int league, rank;
  KOKKOS_FUNCTION int league_rank() const { return league; }
  KOKKOS_FUNCTION int team_rank() const { return rank; }
};

template <class Loop>
void run_teams(Loop const& loop, std::int64_t first, std::int64_t end) {
  for (std::int64_t league = first; league < end; ++league)
    for (int rank = 0; rank < Loop::team; ++rank) loop(Member{static_cast<int>(league), rank});
}

/// Counts the visits of the cells [first, first + count) of a box, numbered row by row; those of
/// all others together.
struct Visit {
  int* visits;  // count + 1
  std::int64_t lower[3], extent[3], first, count;

  KOKKOS_FUNCTION void at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    i -= lower[0];
    j -= lower[1];
    k -= lower[2];
    bool const inside =
        i >= 0 && i < extent[0] && j >= 0 && j < extent[1] && k >= 0 && k < extent[2];
    std::int64_t const cell = (i * extent[1] + j) * extent[2] + k - first;
    ++visits[inside && cell >= 0 && cell < count ? cell : count];
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { at(0, 0, i); }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const { at(0, i, j); }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    at(i, j, k);
  }
};

/// How often `loop`, which is given a body, visits each of the cells [first, end) of a box, and in
/// the end any other.
template <int Rank, class Index, class Loop>
std::vector<int> visits(Box<Rank, Index> const& box, std::int64_t first, std::int64_t end,
                        Loop const& loop) {
  std::vector<int> counts(static_cast<std::size_t>(end - first) + 1);
  Visit body{counts.data(), {0, 0, 0}, {1, 1, 1}, first, end - first};
  for (int d = 0; d < Rank; ++d) {
    body.lower[3 - Rank + d] = box.lower[static_cast<std::size_t>(d)];
    body.extent[3 - Rank + d] = box.extent(d);
  }
  loop(body);
  return counts;
}

std::vector<int> once(std::int64_t cells) {
  std::vector<int> counts(static_cast<std::size_t>(cells) + 1, 1);
  counts.back() = 0;
  return counts;
}

/// Visits of a loop whose threads have one cell each, of any box.
struct VisitOne : Visit {
  static constexpr int cells_per_thread = 1;
};

static_assert(StretchLoop<1, int, Visit>::cells == 4);
static_assert(StretchLoop<2, int, Visit>::cells == 2);
static_assert(StretchLoop<3, int, Visit>::cells == 2);
static_assert(StretchLoop<1, int, VisitOne>::cells == 1);

struct VisitTwo : Visit {
  static constexpr int cells_per_thread = 2;
};
static_assert(StretchLoop<1, int, VisitTwo>::cells == 2);

/// Takes several cells at a time where a thread has them.
template <int Rank>
struct VisitSeveral : Visit {
  template <int Count, class Place>
  KOKKOS_FUNCTION void several(Place const (&places)[Count]) const {
    for (Place const& place : places)
      at(Rank == 3 ? place.i : 0, Rank == 3 ? place.j : place.i, place.column);
  }
};
static_assert(StretchLoop<2, int, VisitSeveral<2>>::cells == 4);

template <class Loop>
void run_threads(Loop const& loop, std::int64_t first = 0) {
  for (std::int64_t thread = first; thread < loop.threads(); ++thread)
    loop(static_cast<std::int32_t>(thread));
}

template <int Rank, class Index>
void expect_each_cell_once(Box<Rank, Index> const& box) {
  Rows<Rank, Index> const rows(box);
  DeviceRows<Rank, Index> const on_device(rows);
  std::int64_t const cells = rows.cells();
  SCOPED_TRACE(std::to_string(rows.count) + " rows of " + std::to_string(rows.length));
  for (int const each : {1, 2, 4, 8}) {
    auto const in_stretches = visits(box, 0, cells, [&](Visit const& body) {
      run_threads(StretchLoop<Rank, Index, Visit>{on_device, body, cells, each});
    });
    EXPECT_EQ(in_stretches, once(cells)) << each;
  }
  auto const by_one = visits(box, 0, cells, [&](Visit const& body) {
    run_threads(StretchLoop<Rank, Index, VisitOne>{on_device, {body}, cells, 1});
  });
  EXPECT_EQ(by_one, once(cells));
  auto const by_two = visits(box, 0, cells, [&](Visit const& body) {
    run_threads(StretchLoop<Rank, Index, VisitTwo>{on_device, {body}, cells, 2});
  });
  EXPECT_EQ(by_two, once(cells));
  for (int const each : {1, 4}) {
    auto const by_several = visits(box, 0, cells, [&](Visit const& body) {
      run_threads(StretchLoop<Rank, Index, VisitSeveral<Rank>>{on_device, {body}, cells, each});
    });
    EXPECT_EQ(by_several, once(cells)) << each;
  }
  if constexpr (Rank > 1) {
    auto const in_blocks = visits(box, 0, cells, [&](Visit const& body) {
      using Blocks = BlockLoop<Rank, Index, Visit>;
      run_teams(Blocks(rows, body), 0, Blocks::blocks(rows));
    });
    EXPECT_EQ(in_blocks, once(cells));
  }
}

/// The number of the cell that a loop visits as the `number`-th: the same.
template <class Number, class Index>
std::int64_t number_of(Box<3, Index> const& box, Number number) {
  DeviceRows<3, Index> const rows{Rows<3, Index>(box)};
  std::int64_t const around = 2, first = std::int64_t(number) - around;
  auto const counts = visits(box, first, first + 2 * around + 1,
                             [&](Visit const& body) { rows.call(body, rows.place(number)); });
  for (std::size_t n = 0; n + 1 < counts.size(); ++n)
    if (counts[n] == 1) return first + static_cast<std::int64_t>(n);
  return -1;
}

/// Counts the visits of cells, as Visit, and how many there are.
struct VisitTerm {
  Visit visit;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const { visit(i), ++sum; }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t& sum) const {
    visit(i, j), ++sum;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j, std::int64_t k,
                                  std::int64_t& sum) const {
    visit(i, j, k), ++sum;
  }
};

template <int Rank, class Index = int>
using Reduction = StretchReduction<Rank, Index, VisitTerm, Kokkos::Sum<std::int64_t>>;

/// Expects the threads [first, threads) of a reduction to fold each of the cells [cell, end) of a
/// box once, and `others` more.
template <int Rank, class Index>
void expect_terms(Box<Rank, Index> const& box, std::int64_t first, std::int64_t threads,
                  bool several, std::int64_t cell = 0, std::int64_t others = 0) {
  Rows<Rank, Index> const rows(box);
  std::int64_t const cells = rows.cells();
  SCOPED_TRACE(std::to_string(rows.count) + " rows of " + std::to_string(rows.length) + " by " +
               std::to_string(threads) + (several ? " threads, several" : " threads, one"));
  std::int64_t sum = 0, unused = 0;
  auto const counts = visits(box, cell, cells, [&](Visit const& visit) {
    Reduction<Rank, Index> const reduction{DeviceRows<Rank, Index>(rows),      {visit},
                                           Kokkos::Sum<std::int64_t>(unused),  cells,
                                           static_cast<std::int32_t>(threads), several};
    for (std::int64_t thread = first; thread < threads; ++thread)
      reduction(static_cast<std::int32_t>(thread), sum);
  });
  auto expected = once(cells - cell);
  expected.back() = static_cast<int>(others);
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(sum, cells - cell + others);
}

}  // namespace

TEST(DeviceLoops, VisitEachCellOnce) {
  for (std::int64_t const length : {1, 2, 127, 128, 129, 512, 513, 1031})
    expect_each_cell_once(Box<1, std::int64_t>{{-3}, {length - 3}});
  for (int const rows : {1, 3, 4, 5, 13})
    for (int const length : {1, 7, 127, 128, 131, 300})
      expect_each_cell_once(Box<2>{{2, -5}, {2 + rows, length - 5}});
  for (int const planes : {1, 2, 5})
    for (int const rows : {1, 3, 8})
      for (int const length : {1, 31, 140})
        expect_each_cell_once(Box<3>{{-1, 4, 9}, {planes - 1, 4 + rows, 9 + length}});
}

// Boxes of nearly 2^31 cells: the last threads count to their end and no further.
TEST(DeviceLoops, VisitTheLastCellsThatAnIntCounts) {
  int const all = static_cast<int>(most);
  Box<2> const boxes[] = {{{0, 0}, {2'147'483, 1000}},
                          {{0, 0}, {all - StretchLoop<2, int, Visit>::together, 1}},
                          {{0, 0}, {1, all - BlockLoop<2, int, Visit>::team}}};
  for (auto const& box : boxes) {
    Rows<2, int> const rows(box);
    SCOPED_TRACE(std::to_string(rows.count) + " rows of " + std::to_string(rows.length));
    std::int64_t const cells = rows.cells();
    using Stretches = StretchLoop<2, int, Visit>;
    auto const in_stretches = [&](std::int64_t from, int each, auto const& run) {
      return visits(box, from, cells, [&](Visit const& body) {
        Stretches const loop{DeviceRows<2, int>(rows), body, cells, each};
        EXPECT_EQ(loop.is_countable(), each > 1 || cells <= most - 1023);
        run(loop);
      });
    };
    for (int const each : {1, Stretches::cells}) {
      std::int64_t const stretch = Stretches::together * each,
                         from = (cells - 1) / stretch * stretch;
      auto const last =
          in_stretches(from, each, [&](Stretches const& loop) { run_threads(loop, from / each); });
      EXPECT_EQ(last, once(cells - from)) << each;
    }
    using Blocks = BlockLoop<2, int, Visit>;
    std::int64_t const blocks = Blocks::blocks(rows),
                       columns = (rows.length - 1) % Blocks::team + 1,
                       last_rows = (rows.count - 1) % Blocks::cells + 1;
    auto const in_blocks = visits(box, cells - columns, cells, [&](Visit const& body) {
      run_teams(Blocks(rows, body), blocks - 1, blocks);
    });
    auto expected = once(columns);  // of the last row
    expected.back() = static_cast<int>((last_rows - 1) * columns);
    EXPECT_EQ(in_blocks, expected);
  }
}

// A row of more cells than 32 bits count, of the most threads.
TEST(DeviceLoops, VisitTheLastCellsOfALongRow) {
  std::int64_t const threads = most - 1023, cells = 4 * threads - 3;
  Box<1, std::int64_t> const box{{0}, {cells}};
  using Stretches = StretchLoop<1, std::int64_t, Visit>;
  std::int64_t const from = (cells - 1) / (4 * Stretches::together) * (4 * Stretches::together);
  auto const last = visits(box, from, cells, [&](Visit const& body) {
    Stretches const loop{DeviceRows<1, std::int64_t>(Rows<1, std::int64_t>(box)), body, cells, 4};
    ASSERT_TRUE(loop.is_countable());
    run_threads(loop, from / 4);
  });
  EXPECT_EQ(last, once(cells - from));
}

struct VisitWithFewRegisters : Visit {
  static constexpr int blocks_at_a_time = 8;
};
static_assert(coir::detail::blocks_at_a_time<Visit> == 0);
static_assert(coir::detail::blocks_at_a_time<VisitWithFewRegisters> == 8);

// 32 bits count threads, and the cells of several rows; larger boxes are cut.
TEST(DeviceLoops, AreCountableUpToAnInt) {
  auto const is_countable = []<int Rank>(Box<Rank> const& box, std::int64_t cells, int each) {
    StretchLoop<Rank, int, Visit> const loop{DeviceRows<Rank, int>(Rows<Rank, int>(box)), Visit{},
                                             cells, each};
    return loop.is_countable();
  };
  Box<1> const row{{0}, {1}};
  Box<2> const rows{{0, 0}, {1, 1}};
  std::int64_t const last = most - 1023;  // a whole number of stretches
  EXPECT_TRUE(is_countable(row, last, 1));
  EXPECT_FALSE(is_countable(row, last + 1, 1));
  EXPECT_TRUE(is_countable(row, 4 * last, 4));
  EXPECT_FALSE(is_countable(row, 4 * last + 1, 4));
  EXPECT_TRUE(is_countable(rows, last, 1));
  EXPECT_FALSE(is_countable(rows, last + 1, 1));
  constexpr int together = StretchLoop<2, int, Visit>::together;
  EXPECT_TRUE(is_countable(rows, most - together, 2));
  EXPECT_FALSE(is_countable(rows, most - together + 1, 2));
}

TEST(DeviceLoops, GiveAThreadSeveralCellsOfLargeBoxes) {
  auto const cells_for = []<int Rank>(Box<Rank> const& box) {
    return StretchLoop<Rank, int, Visit>::cells_for(Rows<Rank, int>(box));
  };
  EXPECT_EQ(cells_for(Box<1>{{1}, {1'000'000}}), 1);
  EXPECT_EQ(cells_for(Box<1>{{1}, {1'000'001}}), 4);
  EXPECT_EQ(cells_for(Box<2>{{0, 0}, {333'333, 3}}), 1);
  EXPECT_EQ(cells_for(Box<2>{{0, 0}, {333'334, 3}}), 2);
  // Rows without their border, short ones and longer ones.
  EXPECT_EQ(cells_for(Box<2>{{1, 1}, {100'001, 64}}), 1);
  EXPECT_EQ(cells_for(Box<2>{{1, 1}, {100'001, 65}}), 2);
  EXPECT_EQ(cells_for(Box<3>{{1, 1, -1}, {1001, 1001, 62}}), 1);
  EXPECT_EQ(cells_for(Box<3>{{1, 1, 0}, {1001, 1001, 63}}), 2);
  EXPECT_EQ((StretchLoop<2, int, VisitOne>::cells_for(Rows<2, int>(Box<2>{{0, 0}, {1000, 1000}}))),
            1);
}

TEST(DeviceLoops, CountBeyondAnInt) {
  // More rows than 32 bits count, more cells, and longer rows.
  Box<3, std::int64_t> const boxes[] = {{{5, -7, 1}, {5 + 4099, -7 + 524'287, 1 + 3}},
                                        {{5, -7, 1}, {5 + 1025, -7 + 1023, 1 + 4093}},
                                        {{0, 0, 0}, {1, 3, most + 5}}};
  for (auto const& box : boxes) {
    ASSERT_GT(box.size(), most);
    for (std::int64_t const number : {std::int64_t(2), most - 1, most, most + 1, most + 2, most + 5,
                                      box.size() / 2, box.size() - 3})
      EXPECT_EQ(number_of(box, number), number);
  }
  Box<3> const largest{{1, 2, 3}, {1 + 1291, 2 + 1289, 3 + 1290}};
  ASSERT_LE(largest.size(), most);
  for (std::int64_t const number : {std::int64_t(2), largest.size() / 2, largest.size() - 3})
    EXPECT_EQ(number_of(largest, static_cast<std::int32_t>(number)), number);
}

// The parts of a box have all of its cells between them, in order.
template <int Rank, class Index>
void expect_parts(Box<Rank, Index> const& box) {
  std::int64_t const cells = box.size();
  auto const cut = Rows<Rank, Index>(box).halves();
  Rows<Rank, Index> const parts[] = {cut.first, cut.second};
  SCOPED_TRACE(std::to_string(cells));
  EXPECT_EQ(parts[0].cells() + parts[1].cells(), cells);
  std::int64_t first = 0;
  for (auto const& part : parts) {
    ASSERT_GT(part.cells(), 0);
    // The first and the last cell of a part are where they are in the box.
    DeviceRows<Rank, Index> const rows(part);
    for (std::int64_t const cell : {std::int64_t(0), part.cells() - 1}) {
      auto const counts = visits(box, first + cell, first + cell + 1,
                                 [&](Visit const& body) { rows.call(body, rows.place(cell)); });
      EXPECT_EQ(counts, once(1)) << cell;
    }
    first += part.cells();
  }
}

TEST(DeviceLoops, CutLargeBoxes) {
  expect_parts(Box<1>{{-3}, {2}});
  expect_parts(Box<1, std::int64_t>{{-3}, {4 * most + 5}});
  expect_parts(Box<2>{{2, -5}, {4, -2}});
  expect_parts(Box<2>{{2, -5}, {3, -3}});
  expect_parts(Box<2>{{-7, 3}, {-7 + 2'000'000'001, 6}});
  expect_parts(Box<3>{{1, 2, 3}, {4, 7, 9}});
  expect_parts(Box<3>{{1, 2, 3}, {2, 7, 9}});
  expect_parts(Box<3>{{1, 2, 3}, {2, 3, 9}});
  expect_parts(Box<3, std::int64_t>{{5, -7, 1}, {5 + 4099, -7 + 524'287, 1 + 3}});
  expect_parts(Box<3, std::int64_t>{{0, 0, 0}, {1, 3, most + 5}});
}

TEST(DeviceLoops, ReduceEachCellOnce) {
  constexpr int together = Reduction<1>::together;
  auto const expect_all = [&](std::int64_t threads, bool several) {
    for (int const columns :
         {1, 63, together - 1, together, together + 1, 8 * together - 1, 8 * together, 10'007}) {
      expect_terms(Box<1>{{-3}, {columns - 3}}, 0, threads, several);
      expect_terms(Box<2>{{2, -5}, {13, columns - 5}}, 0, threads, several);
      expect_terms(Box<3>{{-1, 4, 9}, {3, 7, 9 + columns}}, 0, threads, several);
    }
  };
  for (int const threads : {1, 2, together - 1, together, 1031}) expect_all(threads, false);
  for (int const stretches : {1, 2, 7}) expect_all(stretches * together, true);
}

// Small boxes and large ones, by as many threads as devices of any size have room for.
TEST(DeviceLoops, ReduceByThreadsThatRunAtTheSameTime) {
  constexpr std::int64_t together = Reduction<2>::together,
                         large = coir::detail::cells_of_large_box;
  // 528 blocks on an H100, or 256 before Kokkos 4.6
  constexpr std::int64_t threads =
      std::min<std::int64_t>(528, coir::most_blocks_to_reduce) * together;
  EXPECT_EQ(Reduction<2>::threads_for(1, 270'336), 1);
  EXPECT_EQ(Reduction<2>::threads_for(1000, 270'336), 1000);
  EXPECT_EQ(Reduction<2>::threads_for(large - 1, 270'336), threads);
  EXPECT_EQ(Reduction<2>::threads_for(large, 270'336),
            std::min((large + 2047) / 2048 * together, threads));
  EXPECT_EQ(Reduction<2>::threads_for(std::int64_t(1) << 40, 270'336), threads);
  for (std::int64_t const concurrency : {1, 255, 513, 3000, 270'336}) {
    std::int64_t const most_threads = std::max(together, concurrency / 2 / together * together);
    for (int const rows : {1, 271, 3701}) {
      Box<2> const box{{0, 0}, {rows, 277}};
      std::int64_t const threads = Reduction<2>::threads_for(box.size(), concurrency);
      EXPECT_LE(threads, std::min(most_threads, box.size()));
      expect_terms(box, 0, threads, box.size() >= large);
    }
  }
}

// Beyond 2^31 cells, of rows shorter than a stretch and longer: the last threads of so many that
// each has two stretches at most.
TEST(DeviceLoops, ReduceTheLastCellsOfLargeBoxes) {
  constexpr std::int64_t together = Reduction<3>::together,
                         stretch = together * Reduction<3>::cells;
  Box<3, std::int64_t> const boxes[] = {{{0, 0, 0}, {1'000'000'007, 3, 1}},
                                        {{0, 0, 0}, {250'000'007, 3, 3}},
                                        {{0, 0, 0}, {10'000'019, 3, 131}},
                                        {{0, 0, 0}, {2'000'003, 3, 523}},
                                        {{0, 0, 0}, {1, 3, 1'000'000'007}}};
  for (auto const& box : boxes) {
    ASSERT_GT(box.size(), most);
    std::int64_t const stretches = (box.size() + stretch - 1) / stretch, half = (stretches + 1) / 2;
    // The last three stretches of the second half, or two of them, and three of the first one,
    // which aren't looked at.
    std::int64_t const behind = stretches - half - (half - 3);
    expect_terms(box, (half - 3) * together, half * together, true, (stretches - behind) * stretch,
                 3 * stretch);
  }
}
