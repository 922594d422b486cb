#pragma once

/// \file
/// Counts how many values fall into each bin, or adds up their weights: the kernels of
/// histogram.hpp.

#include <coir/array/array.hpp>
#include <coir/array/axis_reductions.hpp>
#include <coir/array/detail/compare.hpp>
#include <coir/array/detail/kernels/add_in_order.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/tasks.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::detail {

/// Bins of equal width between the first and the last edge, as in NumPy: the last bin is closed,
/// and values outside, and NaN, are in no bin (-1).
template <class T, class Edge>
struct EqualBins {
  Edge const* edges;  // bins + 1 of them, all different
  std::int64_t bins;
  Edge low, high;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(T const& element) const {
    Edge const value = static_cast<Edge>(element);
    if (!(value >= low && value <= high)) return -1;
    // From 0 to 1, because bins / (high - low) may be infinite.
    Edge const share = (value - low) / (high - low);
    auto bin = static_cast<std::int64_t>(share * static_cast<Edge>(bins));
    if (bin >= bins) bin = bins - 1;
    // Rounding may have led to a neighbour: the edges decide.
    while (bin > 0 && value < edges[bin]) --bin;
    while (bin < bins - 1 && value >= edges[bin + 1]) ++bin;
    return bin;
  }
};

/// Bins between any edges.
template <class T, class Edge>
struct EdgeBins {
  Edge const* edges;
  std::int64_t bins;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(T const& value) const {
    if (!(GreaterEqual{}(value, edges[0]) && LessEqual{}(value, edges[bins]))) return -1;
    std::int64_t first = 0, count = bins;  // the last bin whose lower edge is not above the value
    while (count > 1) {
      std::int64_t const half = count / 2;
      bool const above = LessEqual{}(edges[first + half], value);
      first = above ? first + half : first;
      count = above ? count - half : half;
    }
    return first;
  }
};

/// Integers are their own bins.
template <class T>
struct OwnBin {
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(T value) const {
    return static_cast<std::int64_t>(value);
  }
};

/// On devices several counters for each bin, so that threads seldom wait for each other.
template <class T, class Bin>
struct CountBody {
  T const* data;
  std::int64_t* counts;  // [bins, copies]
  std::int64_t copies;
  Bin bin;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const b = bin(data[i]);
    if (b >= 0) Kokkos::atomic_add(&counts[b * copies + i % copies], std::int64_t(1));
  }
};

struct SumCopies {
  std::int64_t const* counts;
  std::int64_t copies;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t bin) const {
    std::int64_t sum = 0;
    for (std::int64_t c = 0; c < copies; ++c) sum += counts[bin * copies + c];
    return sum;
  }
};

/// counts[b] = how many of data[0 ... size) have bin b.
template <class Space, class T, class Bin>
Array<std::int64_t, 1, Space> count_bins(T const* data, std::int64_t size, std::int64_t bins,
                                         Bin const& bin) {
  using Exec = typename Space::execution_space;
  Exec const exec = immediate<Exec>("histogram()");
  bool const host = runs_on_host<Exec>;
  // On hosts each thread has its own counters.
  std::int64_t const tasks =
      threads_worth_starting(exec, size, size / std::max<std::int64_t>(bins, 1));
  std::int64_t const copies =
      host ? tasks : std::clamp<std::int64_t>((std::int64_t(1) << 20) / (bins + 1), 1, 1024);
  Array<std::int64_t, 1, Space> counters(Shape<1>{bins * copies});
  counters = 0;
  if constexpr (runs_on_host<Exec>) {
    for_each_task("coir::array::count_bins/histogram", exec, tasks,
                  [=, numbers = counters.data()](std::int64_t task) {
                    std::int64_t* const mine = numbers + task * bins;
                    Bin const find = bin;  // a copy that no counter overwrites
                    T const* const end = data + size * (task + 1) / tasks;
                    for (T const* element = data + size * task / tasks; element < end; ++element) {
                      std::int64_t const b = find(*element);
                      if (b >= 0) ++mine[b];
                    }
                  });
    for (std::int64_t task = 1; task < tasks; ++task)
      for (std::int64_t b = 0; b < bins; ++b)
        counters.data()[b] += counters.data()[task * bins + b];
    return Array<std::int64_t, 1, Space>(counters(range(0, bins)));
  } else {
    for_each("coir::array::count_bins/histogram", exec, box<1, std::int64_t>({size}),
             CountBody<T, Bin>{data, counters.data(), copies, bin});
    return Array<std::int64_t, 1, Space>(
        IndexMap<SumCopies, 1>(Shape<1>{bins}, SumCopies{counters.data(), copies}));
  }
}

/// On devices: the sums of a thread's elements in each bin. Threads have sums of their own, so that
/// the order of additions doesn't depend on the order of threads.
template <class T, class W, class Sum, class Bin>
struct AddBody {
  T const* data;
  W const* weights;
  Sum* sums;  // [bins, threads]
  std::int64_t size, threads;
  Bin bin;
  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    for (std::int64_t i = thread; i < size; i += threads) {
      std::int64_t const b = bin(data[i]);
      if (b < 0) continue;
      Sum& sum = sums[b * threads + thread];
      sum = wrapping_sum(sum, stored<Sum>(weights[i]));
    }
  }
};

/// sums[b] = the sum of weights[i] over the data[i] of bin b. On devices up to 32768 bins take at
/// most 2^25 sums of memory. With more bins the elements are sorted by their bins: see
/// add_in_order().
template <class Space, class T, class W, class Bin>
auto add_to_bins(T const* data, W const* weights, std::int64_t size, std::int64_t bins,
                 Bin const& bin) {
  using Exec = typename Space::execution_space;
  using Sum = typename SumCarriedOf<W, false>::type;  // float in double, on hosts, too
  using Result = carried_t<W>;
  Exec const exec = immediate<Exec>("histogram()");
  std::int64_t const of_bins = std::max<std::int64_t>(bins, 1);
  if constexpr (runs_on_host<Exec>) {
    // Parts depend on the sizes alone, and so do the bits of the sums.
    std::int64_t const parts = std::clamp<std::int64_t>(
        size / std::max<std::int64_t>(of_bins, cells_worth_a_thread), 1, 64);
    Array<Sum, 2, Space> sums(Shape<2>{parts, bins});
    sums = Sum(0);
    for_each_task("coir::array::count_bins/histogram", exec, parts,
                  [=, numbers = sums.data()](std::int64_t part) {
                    Sum* const mine = numbers + part * bins;
                    Bin const find = bin;  // a copy that no sum overwrites
                    T const* const elements = data;
                    W const* const added = weights;
                    std::int64_t const end = size * (part + 1) / parts;
                    for (std::int64_t i = size * part / parts; i < end; ++i) {
                      std::int64_t const b = find(elements[i]);
                      if (b >= 0) mine[b] = wrapping_sum(mine[b], stored<Sum>(added[i]));
                    }
                  });
    return Array<Result, 1, Space>(map(Cast<Result>{}, sum(sums, 0)));
  } else {
    // Each thread's sums take memory: with more bins there would be too much of it, or too few
    // threads.
    constexpr std::int64_t most_sums = std::int64_t(1) << 25, most_bins = most_sums / 1024;
    if (bins > most_bins) {
      Array<Sum, 1, Space> in_order(Shape<1>{bins});
      add_in_order(exec, data, weights, size, in_order, bin);
      return Array<Result, 1, Space>(map(Cast<Result>{}, in_order));
    }
    std::int64_t const threads =
        std::clamp<std::int64_t>(std::min(most_sums / of_bins, size / 16), 64, 1 << 15);
    Array<Sum, 2, Space> sums(Shape<2>{bins, threads});
    sums = Sum(0);
    for_each("coir::array::count_bins/histogram", exec, box<1, std::int64_t>({threads}),
             AddBody<T, W, Sum, Bin>{data, weights, sums.data(), size, threads, bin});
    return Array<Result, 1, Space>(map(Cast<Result>{}, sum(sums, 1)));
  }
}

}  // namespace coir::detail
