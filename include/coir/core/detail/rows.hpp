#pragma once

/// \file
/// A box seen as rows along its last index, and how hosts and devices walk them.

#include <coir/core/kokkos.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

// Iterations of for_each are independent by contract; told so, the compiler needs no alias checks.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define COIR_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define COIR_INDEPENDENT_ITERATIONS
#endif

namespace coir::detail {

/// The rows of a box: `count` of them, each of `length` consecutive last indices from `first`.
template <int Rank, class Index>
struct Rows {
  Index first;
  std::int64_t length;
  std::int64_t count = 1;
  Index lower[2] = {0, 0};  // of the leading indices
  Index middle = 1;         // rank 3: extent of the middle index

  template <class Box>
  explicit Rows(Box const& box)
      : first(box.lower[Rank - 1]), length(box.extent(Rank - 1)) {
    for (int d = 0; d + 1 < Rank; ++d) {
      lower[d] = box.lower[d];
      count *= box.extent(d);
    }
    if constexpr (Rank == 3) middle = box.extent(1);
  }

  /// Calls body with the indices of the cell at `column` of `row`, then with `values`.
  template <class Body, class... Values>
  KOKKOS_FORCEINLINE_FUNCTION void call(Body const& body, std::int64_t row, Index column,
                                        Values&... values) const {
    if constexpr (Rank == 1)
      body(column, values...);
    else if constexpr (Rank == 2)
      body(static_cast<Index>(lower[0] + row), column, values...);
    else
      body(static_cast<Index>(lower[0] + row / middle), static_cast<Index>(lower[1] + row % middle),
           column, values...);
  }

  /// The same with the row's indices worked out once, before an inner loop: row_of(...)(column).
  template <class Body>
  auto bind(Body const& body, std::int64_t row) const {
    if constexpr (Rank == 1)
      return [&body](Index column, auto&... values) { body(column, values...); };
    else if constexpr (Rank == 2)
      return [&body, i = static_cast<Index>(lower[0] + row)](Index column, auto&... values) {
        body(i, column, values...);
      };
    else
      return [&body, i = static_cast<Index>(lower[0] + row / middle),
              j = static_cast<Index>(lower[1] + row % middle)](Index column, auto&... values) {
        body(i, j, column, values...);
      };
  }
};

/// Runs item(0) to item(count - 1) on the threads of a host execution space.
///
/// With one thread and no tool listening this is a plain loop: a launch through Kokkos costs more
/// than a row that sits in the L1 cache.
template <class Exec, class Item>
void run_on_host(std::string const& label, Exec const& exec, std::int64_t count, Item const& item) {
  if (exec.concurrency() == 1 && !tool_is_loaded()) {
    for (std::int64_t i = 0; i < count; ++i) item(i);
    return;
  }
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(label, Policy(exec, 0, count), item);
}

template <class Exec, int Rank, class Index, class Body>
void for_each_on_host(std::string const& label, Exec const& exec, Rows<Rank, Index> const& rows,
                      Body const& body) {
  // Few long rows are cut into segments, so that every thread gets some.
  std::int64_t const wanted = 4 * static_cast<std::int64_t>(exec.concurrency());
  std::int64_t segments = 1;
  if (exec.concurrency() > 1 && rows.count < wanted)
    segments = std::clamp<std::int64_t>(rows.length / 1024, 1, (wanted + rows.count - 1) / rows.count);
  std::int64_t const segment = (rows.length + segments - 1) / segments;

  run_on_host(label, exec, rows.count * segments, [=](std::int64_t item) {
    std::int64_t const begin = item % segments * segment;
    Index const last =
        rows.first + static_cast<Index>(std::min(begin + segment, rows.length));
    auto const cell = rows.bind(body, item / segments);
    COIR_INDEPENDENT_ITERATIONS
    for (Index column = rows.first + static_cast<Index>(begin); column < last; ++column)
      cell(column);
  });
}

template <class Exec, int Rank, class Index, class Body, class Reducer>
void reduce_on_host(std::string const& label, Exec const& exec, Rows<Rank, Index> const& rows,
                    Body const& body, Reducer const& reducer) {
  using Value = typename Reducer::value_type;
  constexpr int lanes = 32;              // independent partial results: they vectorise
  constexpr std::int64_t segment = 4096;  // cells folded at a time
  constexpr std::int64_t max_groups = 256;

  std::int64_t const segments = (rows.length + segment - 1) / segment;
  std::int64_t const items = rows.count * segments;
  std::int64_t const groups = std::min(items, max_groups);

  Value partial[max_groups];
  run_on_host(label, exec, groups, [=, &rows, &body, &reducer, partial = &partial[0]](std::int64_t group) {
    Value sum;
    reducer.init(sum);
    for (std::int64_t item = items * group / groups; item < items * (group + 1) / groups; ++item) {
      std::int64_t const begin = item % segments * segment;
      Index column = rows.first + static_cast<Index>(begin);
      Index const last = rows.first + static_cast<Index>(std::min(begin + segment, rows.length));
      auto const cell = rows.bind(body, item / segments);
      if (last - column >= 2 * lanes) {
        Value lane[lanes];
        for (int l = 0; l < lanes; ++l) reducer.init(lane[l]);
        for (; column + lanes <= last; column += lanes) {
          COIR_INDEPENDENT_ITERATIONS
          for (int l = 0; l < lanes; ++l) cell(static_cast<Index>(column + l), lane[l]);
        }
        for (int width = lanes / 2; width > 0; width /= 2)
          for (int l = 0; l < width; ++l) reducer.join(lane[l], lane[l + width]);
        reducer.join(sum, lane[0]);
      }
      Value rest;
      reducer.init(rest);
      for (; column < last; ++column) cell(column, rest);
      reducer.join(sum, rest);
    }
    partial[group] = sum;
  });

  Value total;
  reducer.init(total);
  for (std::int64_t group = 0; group < groups; ++group) reducer.join(total, partial[group]);
  reducer.reference() = total;
}

/// The functor of device kernels: by team and row, or by flat index.
template <int Rank, class Index, class Body>
struct DeviceLoop {
  Rows<Rank, Index> rows;
  Body body;

  template <class Member>
    requires requires(Member const& member) { member.league_rank(); }
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int64_t const row = member.league_rank();
    Index const length = static_cast<Index>(rows.length);
    for (Index column = member.team_rank(); column < length; column += member.team_size())
      rows.call(body, row, static_cast<Index>(rows.first + column));
  }

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    rows.call(body, cell / rows.length, static_cast<Index>(rows.first + cell % rows.length));
  }

  template <class Value>
  KOKKOS_FUNCTION void operator()(std::int64_t cell, Value& value) const {
    rows.call(body, cell / rows.length, static_cast<Index>(rows.first + cell % rows.length), value);
  }
};

template <class Exec, int Rank, class Index, class Body>
void for_each_on_device(std::string const& label, Exec const& exec, Rows<Rank, Index> const& rows,
                        Body const& body) {
  DeviceLoop<Rank, Index, Body> const loop{rows, body};
  constexpr std::int64_t shortest_team_row = 96;
  constexpr std::int64_t most_teams = 2'000'000'000;
  if (Rank > 1 && rows.length >= shortest_team_row && rows.count <= most_teams) {
    int const team = rows.length > 512 ? 256 : 128;
    Kokkos::parallel_for(
        label, Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(rows.count), team), loop);
  } else {
    using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(label, Policy(exec, 0, rows.count * rows.length), loop);
  }
}

template <class Exec, int Rank, class Index, class Body, class Reducer>
void reduce_on_device(std::string const& label, Exec const& exec, Rows<Rank, Index> const& rows,
                      Body const& body, Reducer const& reducer) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  DeviceLoop<Rank, Index, Body> const loop{rows, body};
  Kokkos::parallel_reduce(label, Policy(exec, 0, rows.count * rows.length), loop, reducer);
}

}  // namespace coir::detail
