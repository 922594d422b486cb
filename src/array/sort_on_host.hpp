#pragma once

/// \file
/// Sorting of rows in host memory, and selection from them.
///
/// Keys of 32 and 64 bits are sorted by Highway's vqsort, where coir was built with it: each thread
/// sorts a part, and parts are merged. Other rows are sorted by the highest bits in which their
/// keys differ, about as many bits as tell the keys apart: by digits of 8 bits, the lowest first.
/// Runs of keys that are equal in these bits are sorted by comparisons afterwards. The result is
/// the only one that there can be, and so doesn't depend on the number of threads.

#include "lane_sort.hpp"
#include "vector_sort.hpp"

#include <core/lanes.hpp>

#include <coir/array/array.hpp>
#include <coir/array/detail/sort_rows.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace coir::detail {

/// Rows and runs below this length are sorted by comparisons, which is faster than by digits.
inline constexpr std::int64_t short_row = 512;

/// Calls work(0) to work(count - 1) here.
struct InThisThread {
  template <class Work>
  void operator()(std::int64_t count, Work const& work) const {
    for (std::int64_t i = 0; i < count; ++i) work(i);
  }
};

/// Whether words are sorted by vectors.
template <class Word>
inline constexpr bool sorts_by_vectors =
#ifdef COIR_HAS_HIGHWAY
    sizeof(Word) >= 4;
#else
    false;
#endif

/// Sorts words by comparisons.
template <class Word>
void sort_words(Word* begin, Word* end) {
#ifdef COIR_HAS_HIGHWAY
  constexpr std::int64_t worth_vectors = 64;
  if constexpr (sorts_by_vectors<Word>) {
    if (end - begin >= worth_vectors) {
      sort_by_vectors(begin, static_cast<std::size_t>(end - begin));
      return;
    }
  }
#endif
  std::sort(begin, end);
}

/// The bits in which any two of a row's keys differ.
template <class Key, class Run>
Key differing_bits(Key const* keys, std::int64_t columns, std::int64_t parts, Run const& run) {
  std::vector<Key> of_part(static_cast<std::size_t>(parts));
  run(parts, [&](std::int64_t part) {
    Key const first = keys[0];
    Key bits = 0;
    for (std::int64_t i = columns * part / parts; i < columns * (part + 1) / parts; ++i)
      bits = static_cast<Key>(bits | (keys[i] ^ first));
    of_part[static_cast<std::size_t>(part)] = bits;
  });
  return std::accumulate(of_part.begin(), of_part.end(), Key(0),
                         [](Key a, Key b) { return static_cast<Key>(a | b); });
}

/// The bits that a row is sorted by: `count` of them from bit `first` on. The bits below differ,
/// too, unless `are_all`.
struct SortingBits {
  int first, count;
  bool are_all;
};

template <class Key>
SortingBits sorting_bits(Key differing, std::int64_t columns) {
  int const highest = int(std::bit_width(differing)),
            enough = std::min(int(std::bit_width(static_cast<std::uint64_t>(columns))) + 6, 32),
            count = std::min((enough + 7) / 8 * 8, highest), first = highest - count;
  Key const below = static_cast<Key>((Key(1) << first) - 1);
  return {first, count, (differing & below) == 0};
}

/// A stable sort of words by their bits from `first` on, `count` of them. The row is cut into
/// parts, which run(parts, work) may give to as many threads. Each part counts its digits, from
/// which the places of its elements follow.
///
/// \param spare  memory of the row's length, which must not overlap it
template <class Word, class Run>
void radix_sort(Word* row, Word* spare, std::int64_t columns, int first, int count,
                std::int64_t parts, Run const& run) {
  using Counts = std::array<std::int64_t, 256>;
  auto const begin = [=](std::int64_t part) { return columns * part / parts; };
  auto const digits = static_cast<std::size_t>((count + 7) / 8),
             rows = static_cast<std::size_t>(parts);
  std::vector<Counts> counts(parts == 1 ? digits : rows);
  if (parts == 1)  // a single part counts all digits at once
    for (std::int64_t i = 0; i < columns; ++i)
      for (std::size_t d = 0; d < digits; ++d)
        ++counts[d][static_cast<std::size_t>(row[i] >> (first + 8 * int(d)) & 0xff)];
  Word *from = row, *to = spare;
  for (std::size_t d = 0; d < digits; ++d) {
    int const shift = first + 8 * static_cast<int>(d);
    auto const digit = [=](Word word) { return static_cast<std::size_t>(word >> shift & 0xff); };
    Counts* const mine = parts == 1 ? &counts[d] : counts.data();
    if (parts > 1)
      run(parts, [=](std::int64_t part) {
        Counts of_part{};
        for (std::int64_t i = begin(part); i < begin(part + 1); ++i) ++of_part[digit(from[i])];
        mine[part] = of_part;
      });
    std::int64_t before = 0, most = 0;
    for (std::size_t value = 0; value < 256; ++value) {
      std::int64_t const here = before;
      for (std::int64_t part = 0; part < parts; ++part)
        before += std::exchange(mine[part][value], before);
      most = std::max(most, before - here);
    }
    if (most == columns) continue;  // they all have the same digit
    run(parts, [=](std::int64_t part) {
      Counts place = mine[part];
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i) {
        Word const word = from[i];
        to[place[digit(word)]++] = word;
      }
    });
    std::swap(from, to);
  }
  if (from != row) std::copy_n(from, columns, row);
}

/// Calls sort(begin, end) for each run of several elements for which same(i), that element i
/// belongs to the run of the element before, is true.
template <class Run, class Same, class Sort>
void for_runs(std::int64_t columns, std::int64_t parts, Run const& run, Same const& same,
              Sort const& sort) {
  std::vector<std::int64_t> starts;  // of parts, which have whole runs
  for (std::int64_t part = 0; part <= parts; ++part) {
    std::int64_t i = columns * part / parts;
    while (i > 0 && i < columns && same(i)) ++i;
    starts.push_back(i);
  }
  run(parts, [=, starts = starts.data()](std::int64_t part) {
    for (std::int64_t i = starts[part]; i < starts[part + 1];) {
      std::int64_t const begin = i++;
      while (i < starts[part + 1] && same(i)) ++i;
      if (i - begin > 1) sort(begin, i);
    }
  });
}

/// How many of the first `count` words of two sorted rows, merged, are of the left one.
template <class Word>
std::int64_t words_of_left(Word const* left, std::int64_t lefts, Word const* right,
                           std::int64_t rights, std::int64_t count) {
  std::int64_t low = std::max<std::int64_t>(count - rights, 0), high = std::min(count, lefts);
  while (low < high) {
    std::int64_t const middle = low + (high - low) / 2;
    if (right[count - middle - 1] < left[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Merges two sorted rows, without a branch for each word.
template <class Word>
void merge_words(Word const* left, Word const* left_end, Word const* right, Word const* right_end,
                 Word* to) {
  while (left != left_end && right != right_end) {
    Word const a = *left, b = *right;
    bool const takes_right = b < a;
    *to++ = takes_right ? b : a;
    right += takes_right ? 1 : 0;
    left += takes_right ? 0 : 1;
  }
  std::copy(right, right_end, std::copy(left, left_end, to));
}

/// Sorts words: each part alone, and then pairs of neighbours are merged, of which each thread
/// writes a share.
template <class Word, class Run>
void sort_and_merge(Word* words, Word* spare, std::int64_t columns, std::int64_t parts,
                    Run const& run) {
  auto const begin = [=](std::int64_t part) { return columns * std::min(part, parts) / parts; };
  run(parts, [=](std::int64_t part) { sort_words(words + begin(part), words + begin(part + 1)); });
  Word *from = words, *to = spare;
  for (std::int64_t width = 1; width < parts; width *= 2, std::swap(from, to))
    run(parts, [=](std::int64_t part) {
      std::int64_t const first = part / (2 * width) * (2 * width), start = begin(first),
                         middle = begin(first + width), end = begin(first + 2 * width);
      Word const *const left = from + start, *const right = from + middle;
      auto const lefts_of = [=](std::int64_t count) {
        return words_of_left(left, middle - start, right, end - middle, count);
      };
      std::int64_t const count = begin(part) - start, until = begin(part + 1) - start;
      std::int64_t const lefts = lefts_of(count), lefts_until = lefts_of(until);
      merge_words(left + lefts, left + lefts_until, right + (count - lefts),
                  right + (until - lefts_until), to + start + count);
    });
  if (from != words)
    run(parts, [=](std::int64_t part) {
      std::copy(spare + begin(part), spare + begin(part + 1), words + begin(part));
    });
}

/// Sorts a row of keys.
template <class Key, class Run>
void sort_row(Key* keys, Key* spare, std::int64_t columns, std::int64_t parts, Run const& run) {
  if (sorts_by_vectors<Key> || columns < short_row) {
    sort_and_merge(keys, spare, columns, parts, run);
    return;
  }
  auto const bits = sorting_bits(differing_bits(keys, columns, parts, run), columns);
  radix_sort(keys, spare, columns, bits.first, bits.count, parts, run);
  if (bits.are_all) return;
  for_runs(
      columns, parts, run,
      [=](std::int64_t i) { return ((keys[i] ^ keys[i - 1]) >> bits.first) == 0; },
      [=](std::int64_t begin, std::int64_t end) {
        sort_row(keys + begin, spare + begin, end - begin, 1, InThisThread{});
      });
}

/// order[i] = the column of the i-th smallest key. Sorts words of 32 bits of a key and its column,
/// in the memory of `order`.
template <class Key, class Run>
void argsort_row(Key const* keys, std::int64_t* order, std::uint64_t* spare, std::int64_t columns,
                 std::int64_t parts, Run const& run) {
  constexpr std::uint64_t column_bits = 0xffffffff;
  if (columns > static_cast<std::int64_t>(column_bits)) {
    std::iota(order, order + columns, std::int64_t(0));
    std::stable_sort(order, order + columns,
                     [=](std::int64_t a, std::int64_t b) { return keys[a] < keys[b]; });
    return;
  }
  auto const bits = sorting_bits(differing_bits(keys, columns, parts, run), columns);
  auto* const words = reinterpret_cast<std::uint64_t*>(order);
  run(parts, [=](std::int64_t part) {
    for (std::int64_t i = columns * part / parts; i < columns * (part + 1) / parts; ++i)
      words[i] = std::uint64_t(keys[i]) >> bits.first << 32 | static_cast<std::uint64_t>(i);
  });
  // A radix sort by two digits is faster than vectors sort words of 64 bits.
  bool const by_two_digits = bits.count <= 16 && parts == 1;
  if (columns < short_row || (sorts_by_vectors<std::uint64_t> && !by_two_digits))
    sort_and_merge(words, spare, columns, parts, run);
  else
    radix_sort(words, spare, columns, 32, bits.count, parts, run);
  auto const key = [=](std::uint64_t word) { return keys[word & column_bits]; };
  if (!bits.are_all)
    for_runs(
        columns, parts, run, [=](std::int64_t i) { return (words[i] ^ words[i - 1]) >> 32 == 0; },
        [=](std::int64_t begin, std::int64_t end) {
          std::int64_t const length = end - begin;
          if (length < short_row) {
            std::sort(words + begin, words + end, [=](std::uint64_t a, std::uint64_t b) {
              return key(a) != key(b) ? key(a) < key(b) : a < b;
            });
            return;
          }
          auto const size = static_cast<std::size_t>(length);
          std::vector<Key> of_run(size);
          std::vector<std::int64_t> order_of_run(size);
          std::vector<std::uint64_t> ordered(size);
          std::transform(words + begin, words + end, of_run.begin(), key);
          argsort_row(of_run.data(), order_of_run.data(), ordered.data(), length, 1,
                      InThisThread{});
          std::transform(order_of_run.begin(), order_of_run.end(), ordered.begin(),
                         [=](std::int64_t i) { return words[begin + i]; });
          std::copy(ordered.begin(), ordered.end(), words + begin);
        });
  run(parts, [=](std::int64_t part) {
    for (std::int64_t i = columns * part / parts; i < columns * (part + 1) / parts; ++i)
      words[i] &= column_bits;
  });
}

/// A key that is looked for: its place in the sorted row, and where it goes.
template <class Key>
struct Wanted {
  std::int64_t rank;
  Key* to;
};

struct Ignore {
  void operator()(std::vector<std::int64_t> const&) const {}
};

/// Finds keys by their places in the sorted row, by digits of 11 bits, the highest first: of the
/// keys only those are looked at again that have a digit in common with a wanted one.
///
/// \param bits    the lowest bits, in which alone keys differ
/// \param numbers(counts of digits)  called once with those of the whole row
/// \param wanted  in ascending order of ranks
template <class Key, class Run, class Numbers>
void select_by_digits(Key const* keys, std::int64_t columns, int bits, std::int64_t parts,
                      Run const& run, Numbers const& numbers, std::vector<Wanted<Key>>& wanted) {
  int const width = std::min(bits, 11), shift = bits - width;
  auto const size = std::size_t(1) << width;
  auto const digit = [=](Key key) { return static_cast<std::size_t>(key >> shift) & (size - 1); };
  auto const begin = [=](std::int64_t part) { return columns * part / parts; };
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(parts));
  run(parts, [&](std::int64_t part) {
    std::vector<std::int64_t> mine(size);
    for (std::int64_t i = begin(part); i < begin(part + 1); ++i) ++mine[digit(keys[i])];
    counts[static_cast<std::size_t>(part)] = std::move(mine);
  });
  std::vector<std::int64_t> all(size);
  for (auto const& mine : counts)
    for (std::size_t d = 0; d < size; ++d) all[d] += mine[d];
  numbers(all);

  // The wanted keys of each digit, whose ranks become those among the keys of that digit.
  auto next = wanted.begin();
  std::int64_t before = 0;
  for (std::size_t d = 0; d < size && next != wanted.end(); before += all[d++]) {
    auto const first = next;
    for (; next != wanted.end() && next->rank < before + all[d]; ++next) next->rank -= before;
    if (first == next) continue;
    std::vector<Wanted<Key>> here(first, next);
    std::vector<Key> same(static_cast<std::size_t>(all[d]));
    std::vector<Key*> places{same.data()};
    for (auto const& mine : counts) places.push_back(places.back() + mine[d]);
    run(parts, [&](std::int64_t part) {
      Key* to = places[static_cast<std::size_t>(part)];
      for (std::int64_t i = begin(part); i < begin(part + 1); ++i)
        if (digit(keys[i]) == d) *to++ = keys[i];
    });
    if (all[d] < short_row || shift == 0) {
      if (shift > 0) sort_words(same.data(), same.data() + all[d]);
      for (auto const& one : here) *one.to = same[static_cast<std::size_t>(one.rank)];
    } else {
      select_by_digits(same.data(), all[d], shift, parts, run, Ignore{}, here);
    }
  }
}

/// See select_rows(), for a row. Overwrites the keys.
template <class Key, class Run>
void select_in_row(Key* keys, std::int64_t columns, Quantiles const& quantiles, Key* found,
                   std::int64_t* numbers, std::int64_t parts, Run const& run) {
  constexpr Key nan = std::numeric_limits<Key>::max();
  auto const count = static_cast<std::size_t>(quantiles.count);
  std::vector<Wanted<Key>> wanted(2 * count);
  auto const set_wanted = [&] {
    for (std::size_t k = 0; k < count; ++k) {
      std::int64_t const before = rank_below(quantiles.shares[k], *numbers);
      wanted[2 * k] = {before, found + 2 * k};
      wanted[2 * k + 1] = {std::min(before + 1, std::max<std::int64_t>(*numbers - 1, 0)),
                           found + 2 * k + 1};
    }
  };
  if (columns <= 128) {
    sort_words(keys, keys + columns);
    *numbers = quantiles.may_be_nan ? std::lower_bound(keys, keys + columns, nan) - keys : columns;
    set_wanted();
    if (columns > 0)
      for (auto const& one : wanted) *one.to = keys[one.rank];
    return;
  }
  select_by_digits(
      keys, columns, 8 * int(sizeof(Key)), parts, run,
      [&](std::vector<std::int64_t> const& of_digit) {
        // The highest digit is that of NaN, and of infinity and the largest numbers, too.
        *numbers = columns;
        if (quantiles.may_be_nan && of_digit.back() > 0)
          *numbers -= std::count(keys, keys + columns, nan);
        set_wanted();
        std::sort(wanted.begin(), wanted.end(),
                  [](auto const& a, auto const& b) { return a.rank < b.rank; });
      },
      wanted);
}

/// Calls work(row, parts, run) for each row: whole rows by each thread if there are many, else each
/// row in parts by all threads.
template <class Exec, class Work>
void for_rows(Exec const& exec, std::int64_t rows, std::int64_t columns, Work const& work) {
  exec.fence();
  auto const run = [&](std::int64_t count, auto const& each) {
    for_each_task("coir::array::sort_on_host", exec, count, each);
  };
  constexpr std::int64_t worth_a_part = sorts_by_vectors<std::uint32_t> ? 1 << 14 : 4096;
  std::int64_t const threads = exec.concurrency();
  std::int64_t const parts = std::clamp<std::int64_t>(columns / worth_a_part, 1, threads);
  if (rows < threads && parts > 1) {
    for (std::int64_t r = 0; r < rows; ++r) work(std::int64_t(0), r, parts, run);
    return;
  }
  // A few rows that aren't short have the memory of one task: see spare_rows().
  std::int64_t const most = rows < threads && columns >= short_row ? 1 : std::min(rows, threads),
                     tasks = std::clamp<std::int64_t>(rows * columns / 2048, 1, most);
  run(tasks, [=](std::int64_t task) {
    for (std::int64_t r = rows * task / tasks; r < rows * (task + 1) / tasks; ++r)
      work(task, r, std::int64_t(1), InThisThread{});
  });
}

/// Memory beside rows that threads sort: none for short ones.
template <class Word, class Exec>
Array<Word, 1, Kokkos::HostSpace> spare_rows(Exec const& exec, std::int64_t rows,
                                             std::int64_t columns) {
  std::int64_t const threads = exec.concurrency(), spares = rows >= threads ? threads : 1;
  return Array<Word, 1, Kokkos::HostSpace>(Shape<1>{columns < short_row ? 0 : spares * columns});
}

/// Whether rows of words are sorted in lanes: many short ones.
template <class Word>
bool suits_lane_sort(std::int64_t rows, std::int64_t columns) {
  if constexpr (sizeof(Word) >= 4) {
    // Longer rows only where they fill vectors of 64 bytes: the steps don't depend on the lanes.
    constexpr std::int64_t few = 4, short_columns = 48, bytes = 64, lanes = bytes / sizeof(Word);
    bool const is_worth = columns <= short_columns
                              ? rows >= few
                              : rows >= lanes && simd::lanes_of_vector<Word>() == lanes;
    return columns > 1 && columns <= longest_lane_sort && is_worth;
  } else {
    return false;
  }
}

/// Sorts short rows: threads share them.
template <class Exec, class Word>
void sort_short_rows(Exec const& exec, Word* words, std::int64_t rows, std::int64_t columns) {
  if constexpr (sizeof(Word) >= 4) {
    std::int64_t const shares = threads_worth_starting(exec, rows * columns, rows);
    for_each_task("coir::array::sort_on_host/short", exec, shares, [=](std::int64_t share) {
      std::int64_t const begin = rows * share / shares, end = rows * (share + 1) / shares;
      sort_in_lanes(words + begin * columns, end - begin, columns);
    });
  }
}

template <class Exec, class Key>
void sort_on_host(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns) {
  if (suits_lane_sort<Key>(rows, columns)) return sort_short_rows(exec, keys, rows, columns);
  auto spare = spare_rows<Key>(exec, rows, columns);
  for_rows(exec, rows, columns,
           [=, spare = spare.data()](std::int64_t task, std::int64_t r, std::int64_t parts,
                                     auto const& run) {
             sort_row(keys + r * columns, spare + task * columns, columns, parts, run);
           });
}

template <class Exec, class Key>
void argsort_on_host(Exec const& exec, Key const* keys, std::int64_t* order, std::int64_t rows,
                     std::int64_t columns) {
  if (sizeof(Key) <= 4 && suits_lane_sort<std::uint64_t>(rows, columns)) {
    // Words of a key and its column, which tells equal keys apart.
    auto* const words = reinterpret_cast<std::uint64_t*>(order);
    std::int64_t const shares = threads_worth_starting(exec, rows * columns, rows);
    for_each_task("coir::array::sort_on_host/order", exec, shares, [=](std::int64_t share) {
      std::int64_t const begin = rows * share / shares, end = rows * (share + 1) / shares;
      for (std::int64_t r = begin; r < end; ++r)
        for (std::int64_t c = 0; c < columns; ++c)
          words[r * columns + c] =
              std::uint64_t(keys[r * columns + c]) << 32 | static_cast<std::uint64_t>(c);
      sort_in_lanes(words + begin * columns, end - begin, columns);
      for (std::int64_t i = begin * columns; i < end * columns; ++i) words[i] &= 0xffffffff;
    });
    return;
  }
  auto spare = spare_rows<std::uint64_t>(exec, rows, columns);
  for_rows(exec, rows, columns,
           [=, spare = spare.data()](std::int64_t task, std::int64_t r, std::int64_t parts,
                                     auto const& run) {
             argsort_row(keys + r * columns, order + r * columns, spare + task * columns, columns,
                         parts, run);
           });
}

template <class Exec, class Key>
void select_on_host(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns,
                    Quantiles const& quantiles, Key* found, std::int64_t* numbers) {
  for_rows(exec, rows, columns,
           [=](std::int64_t, std::int64_t r, std::int64_t parts, auto const& run) {
             select_in_row(keys + r * columns, columns, quantiles, found + 2 * r * quantiles.count,
                           numbers + r, parts, run);
           });
}

}  // namespace coir::detail
