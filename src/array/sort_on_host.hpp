#pragma once

/// \file
/// Sorting of rows in host memory.

#include <coir/array/array.hpp>
#include <coir/array/detail/sort_rows.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace coir::detail {

/// Rows below this length are sorted by comparisons, which is faster than by digits.
inline constexpr std::int64_t short_row = 512;

/// Keys, and if there are any the indices that move with them.
template <class Key>
struct Keyed {
  Key* keys;
  std::int64_t* indices;

  Keyed at(std::int64_t offset) const {
    return {keys + offset, indices ? indices + offset : nullptr};
  }
};

template <class Key>
void sort_short_row(Keyed<Key> row, std::int64_t columns) {
  if (!row.indices) {
    std::sort(row.keys, row.keys + columns);
    return;
  }
  // (key, index) pairs are all different, so that there is one order.
  std::array<std::pair<Key, std::int64_t>, short_row> pairs;
  for (std::int64_t i = 0; i < columns; ++i) pairs[i] = {row.keys[i], i};
  std::sort(pairs.begin(), pairs.begin() + columns);
  for (std::int64_t i = 0; i < columns; ++i) row.indices[i] = pairs[i].second;
}

/// A stable sort of one row by digits of 8 bits, the lowest first. The row is cut into parts, which
/// run(parts, work) may give to as many threads. Each part counts its digits, from which the places
/// of its elements follow. The result doesn't depend on the number of parts.
///
/// \param spare  memory of the row's length, which must not overlap it
template <class Key, class Run>
void radix_sort(Keyed<Key> row, Keyed<Key> spare, std::int64_t columns, std::int64_t parts,
                Run const& run) {
  using Counts = std::array<std::int64_t, 256>;
  std::vector<Counts> counts(static_cast<std::size_t>(parts));
  Keyed<Key> from = row, to = spare;
  for (unsigned shift = 0; shift < 8 * sizeof(Key); shift += 8) {
    auto const begin = [=](std::int64_t part) { return columns * part / parts; };
    auto const digit = [=](Key key) { return static_cast<std::size_t>(key >> shift & 0xff); };
    run(parts, [&, from](std::int64_t part) {
      Counts mine{};
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) ++mine[digit(from.keys[i])];
      counts[static_cast<std::size_t>(part)] = mine;
    });
    std::int64_t before = 0, most = 0;
    for (std::size_t d = 0; d < 256; ++d) {
      std::int64_t const here = before;
      for (auto& count : counts) before += std::exchange(count[d], before);
      most = std::max(most, before - here);
    }
    if (most == columns) continue;  // they all have the same digit
    run(parts, [&, from, to](std::int64_t part) {
      Counts place = counts[static_cast<std::size_t>(part)];
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) {
        Key const key = from.keys[i];
        std::int64_t const target = place[digit(key)]++;
        to.keys[target] = key;
        if (from.indices) to.indices[target] = from.indices[i];
      }
    });
    std::swap(from, to);
  }
  if (from.keys == row.keys) return;
  std::copy_n(from.keys, columns, row.keys);
  if (row.indices) std::copy_n(from.indices, columns, row.indices);
}

template <class Exec, class Key>
void sort_on_host(Exec const& exec, Keyed<Key> data, std::int64_t rows, std::int64_t columns) {
  exec.fence();
  auto const run = [&](std::int64_t count, auto const& work) {
    for_each_task("coir::array::sort_on_host", exec, count, work);
  };
  std::int64_t const threads = exec.concurrency();
  bool const indexed = data.indices != nullptr;
  auto const number = [=](Keyed<Key> row) {
    if (indexed) std::iota(row.indices, row.indices + columns, std::int64_t(0));
  };
  if (columns < short_row) {
    std::int64_t const tasks = std::clamp<std::int64_t>(rows * columns / 2048, 1, threads);
    run(tasks, [=](std::int64_t task) {
      for (std::int64_t r = rows * task / tasks; r < rows * (task + 1) / tasks; ++r)
        sort_short_row(data.at(r * columns), columns);
    });
    return;
  }
  using Space = Kokkos::HostSpace;
  // With many rows each thread sorts whole rows. With few rows all threads share each one.
  bool const alone = rows >= threads;
  std::int64_t const spares = alone ? std::min(rows, threads) : 1;
  Array<Key, 1, Space> spare_keys(Shape<1>{spares * columns});
  Array<std::int64_t, 1, Space> spare_indices(Shape<1>{indexed ? spares * columns : 0});
  Keyed<Key> const spare{spare_keys.data(), indexed ? spare_indices.data() : nullptr};
  if (alone) {
    auto const in_this_thread = [](std::int64_t count, auto const& work) {
      for (std::int64_t i = 0; i < count; ++i) work(i);
    };
    run(spares, [=](std::int64_t task) {
      for (std::int64_t r = rows * task / spares; r < rows * (task + 1) / spares; ++r) {
        number(data.at(r * columns));
        radix_sort(data.at(r * columns), spare.at(task * columns), columns, 1, in_this_thread);
      }
    });
  } else {
    std::int64_t const parts = std::clamp<std::int64_t>(columns / 4096, 1, threads);
    for (std::int64_t r = 0; r < rows; ++r) {
      number(data.at(r * columns));
      radix_sort(data.at(r * columns), spare, columns, parts, run);
    }
  }
}

}  // namespace coir::detail
