#pragma once

/// \file
/// The kernels of scan.hpp, on an array seen as [outer, length, inner] with the scanned axis in the
/// middle. Each group of consecutive elements of that axis is reduced by one kernel, the results
/// are scanned in the same way, and a second kernel scans each group and adds the total of the
/// groups before it. (A scan in a single pass would read devices' arrays once, and would add in an
/// order that changes from run to run.)

#include <coir/array/array.hpp>
#include <coir/array/detail/carried.hpp>
#include <coir/array/detail/scaled_product.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/pool.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

namespace coir::detail {

/// An operation makes its results of values that are carried on: carried(x) of an element x, and
/// value<T>(c), the element of a carried value. Those of sums are the elements' own type. Integers
/// wrap around.
struct ScanSum {
  template <class T>
  using Carried = T;
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T carried(T const& x) {
    return x;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T value(T const& x) {
    return x;
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return wrapping_sum(a, b);
  }
};

/// Products of real and complex numbers are carried on in a type that overflows or vanishes only if
/// the result does.
struct ScanProduct {
  template <class T>
  struct CarriedOf {
    using type = T;
  };
  template <class T>
    requires is_scaled_in_products<T>
  struct CarriedOf<T> {
    using type = Scaled<scaled_number_t<T>>;
  };
  template <class T>
  using Carried = typename CarriedOf<T>::type;

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static Carried<T> carried(T const& x) {
    if constexpr (std::is_same_v<Carried<T>, T>)
      return x;
    else
      return scaled(x);
  }
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION static T value(Carried<T> const& x) {
    if constexpr (std::is_same_v<Carried<T>, T>)
      return x;
    else
      return stored<T>(x.value());
  }
  template <class C>
  KOKKOS_FORCEINLINE_FUNCTION C operator()(C a, C const& b) const {
    if constexpr (requires { a.multiply(b); })
      a.multiply(b);
    else
      a = wrapping_product(a, b);
    return a;
  }
};

struct ScanShape {
  std::int64_t outer, length, inner;
};

/// Elements in a group. On devices one thread reads a group. Groups are short there, so that the
/// cache lines that a warp reads stay in the cache until all of them is used.
template <class Exec>
inline constexpr std::int64_t scan_group = runs_on_host<Exec> ? 64 : 16;

/// Both kernels. The first reduces each group of `from` and writes `totals`. The second scans each
/// group into `to`, which may be `from`, and adds to it the scanned total of the groups before it.
///
/// \tparam Scans  true for the second kernel
/// \tparam Flat   inner is 1
template <class From, class T, class Operation, bool Scans, bool Flat, std::int64_t group>
struct ScanBody {
  using Carried = typename Operation::template Carried<T>;
  From const* from;
  T* to;
  Carried* totals;  // [outer, groups, inner]
  std::int64_t groups, length, inner;
  Operation operation;

  std::int64_t cells_per_index() const { return std::min(group, length); }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row) const
    requires Flat
  {
    one(row, 0);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t row, std::int64_t column) const
    requires(!Flat)
  {
    one(row, column);
  }

  void stretch(std::int64_t begin, std::int64_t end) const
    requires Flat
  {
    for (std::int64_t row = begin; row < end; ++row)
      if constexpr (std::is_same_v<Carried, Scaled<double>> && std::is_floating_point_v<From>)
        products(row);
      else
        one(row, 0);
  }
  void stretch(std::int64_t row, std::int64_t begin, std::int64_t end) const
    requires(!Flat)
  {
    constexpr std::int64_t block = 256;
    for (std::int64_t first = begin; first < end; first += block)
      columns(row, first, std::min(block, end - first));
  }

 private:
  struct Place {
    std::int64_t group_number, count, first;
    Carried* total;
  };

  /// Row r is group r % groups of the r / groups-th outer index.
  KOKKOS_FORCEINLINE_FUNCTION Place place(std::int64_t row) const {
    std::int64_t const outer = row / groups, number = row - outer * groups;
    std::int64_t const left = length - number * group;
    return {number, left < group ? left : group, (outer * length + number * group) * inner,
            totals == nullptr ? nullptr : totals + row * inner};
  }

  KOKKOS_FORCEINLINE_FUNCTION static T value(Carried const& x) {
    return Operation::template value<T>(x);
  }
  KOKKOS_FORCEINLINE_FUNCTION Carried carried(std::int64_t i) const {
    return Operation::carried(static_cast<T>(from[i]));
  }

  KOKKOS_FORCEINLINE_FUNCTION void one(std::int64_t row, std::int64_t column) const {
    Place const at = place(row);
    std::int64_t element = at.first + column;
    Carried running = carried(element);
    if constexpr (Scans) {
      // The total of the groups before is added to each element of the group's scan in the end.
      // This shorter chain of additions has fewer rounding errors, and doesn't wait for the total.
      bool const follows = at.group_number > 0;
      Carried const before = follows ? at.total[column - inner] : Carried();
      to[element] = value(follows ? operation(before, running) : running);
      for (std::int64_t i = 1; i < at.count; ++i) {
        element += inner;
        running = operation(running, carried(element));
        to[element] = value(follows ? operation(before, running) : running);
      }
    } else {
      for (std::int64_t i = 1; i < at.count; ++i) {
        element += inner;
        running = operation(running, carried(element));
      }
      at.total[column] = running;
    }
  }

  /// Multiplies a group of real numbers, some at a time, on hosts: if these are of moderate size,
  /// their products are scaled afterwards. Values are those of one().
  void products(std::int64_t row) const
    requires std::is_floating_point_v<From>
  {
    constexpr std::int64_t some = 16;
    Place const at = place(row);
    bool const follows = Scans && at.group_number > 0;
    Carried const before = follows ? at.total[-1] : Carried{1, 0};
    Carried running{1, 0};
    for (std::int64_t first = 0; first < at.count; first += some) {
      std::int64_t const count = std::min(some, at.count - first), begin = at.first + first;
      std::uint64_t beyond = 0;
      double factors[some];
      for (std::int64_t i = 0; i < count; ++i) {
        factors[i] = static_cast<double>(from[begin + i]);
        beyond |= beyond_moderate(factors[i]);
      }
      if (are_moderate(beyond)) {
        Carried products[some];
        for (std::int64_t i = 0; i < count; ++i) {
          running.number *= factors[i];
          products[i] = running;
        }
        running.rescale();
        if constexpr (Scans) {
          COIR_INDEPENDENT_ITERATIONS
          for (std::int64_t i = 0; i < count; ++i) {
            products[i].rescale();
            to[begin + i] = stored<T>(operation(before, products[i]).value_in_lanes());
          }
        }
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          running = operation(running, carried(begin + i));
          if constexpr (Scans) to[begin + i] = value(operation(before, running));
        }
      }
    }
    if constexpr (!Scans) *at.total = running;
  }

  /// Takes a group of several columns at a time, which vectorises.
  void columns(std::int64_t row, std::int64_t first, std::int64_t count) const {
    Place const at = place(row);
    Carried running[256];
    std::int64_t element = at.first + first;
    for (std::int64_t c = 0; c < count; ++c) running[c] = carried(element + c);
    bool const follows = Scans && at.group_number > 0;
    Carried const* const before = follows ? at.total + first - inner : nullptr;
    for (std::int64_t i = 0; i < at.count; ++i, element += inner) {
      if (i > 0) {
        COIR_INDEPENDENT_ITERATIONS
        for (std::int64_t c = 0; c < count; ++c)
          running[c] = operation(running[c], carried(element + c));
      }
      if constexpr (Scans) {
        T* const elements = to + element;
        if (follows) {
          COIR_INDEPENDENT_ITERATIONS
          for (std::int64_t c = 0; c < count; ++c)
            elements[c] = value(operation(before[c], running[c]));
        } else {
          COIR_INDEPENDENT_ITERATIONS
          for (std::int64_t c = 0; c < count; ++c) elements[c] = value(running[c]);
        }
      }
    }
    if constexpr (!Scans)
      for (std::int64_t c = 0; c < count; ++c) at.total[first + c] = running[c];
  }
};

/// The same two kernels on devices for rows that are scanned along themselves: a team has a group,
/// and each of its threads some neighbouring elements. They go through the team's memory, so that
/// neighbouring threads read and write neighbouring elements.
template <class From, class T, class Operation, bool Scans>
struct ScanTiles {
  using Carried = typename Operation::template Carried<T>;
  static constexpr int most_threads = 256;
  /// Elements of a thread.
  static constexpr int each = std::max(2, 64 / static_cast<int>(sizeof(Carried)));

  From const* from;
  T* to;
  Carried* totals;  // [outer, groups]
  std::int64_t groups, length;
  Operation operation;

  /// Bytes of a team's memory: for the elements, and a sum of each thread.
  KOKKOS_FORCEINLINE_FUNCTION static int memory(int threads) {
    return (place(threads * each) + threads) * static_cast<int>(sizeof(Carried));
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    int const threads = member.team_size(), thread = member.team_rank();
    std::int64_t const row = member.league_rank() / groups,
                       number = member.league_rank() - row * groups;
    std::int64_t const tile = std::int64_t(threads) * each, left = length - number * tile;
    int const count = static_cast<int>(left < tile ? left : tile);
    std::int64_t const begin = row * length + number * tile;
    auto* const elements = static_cast<Carried*>(
        member.team_shmem().get_shmem_aligned(memory(threads), alignof(Carried)));
    Carried* const sums = elements + place(threads * each);

    T some[each];
    COIR_UNROLL
    for (int l = 0; l < each; ++l) {
      int const i = l * threads + thread;
      some[l] = i < count ? static_cast<T>(from[begin + i]) : T();
    }
    COIR_UNROLL
    for (int l = 0; l < each; ++l)
      elements[place(l * threads + thread)] = Operation::carried(some[l]);
    member.team_barrier();

    int const mine = thread * each;
    Carried running[each];
    running[0] = elements[place(mine)];
    COIR_UNROLL
    for (int l = 1; l < each; ++l)
      running[l] = operation(running[l - 1], elements[place(mine + l)]);
    Carried sum = running[each - 1];  // of the elements up to the thread's last one
    for (int width = 1; width < threads; width *= 2) {
      sums[thread] = sum;
      member.team_barrier();
      if (thread >= width) sum = operation(sums[thread - width], sum);
      member.team_barrier();
    }
    if constexpr (Scans) {
      sums[thread] = sum;
      member.team_barrier();
      bool const follows = number > 0 || thread > 0;
      Carried before =
          number > 0 ? totals[member.league_rank() - 1] : sums[thread > 0 ? thread - 1 : 0];
      if (number > 0 && thread > 0) before = operation(before, sums[thread - 1]);
      COIR_UNROLL
      for (int l = 0; l < each; ++l)
        elements[place(mine + l)] = follows ? operation(before, running[l]) : running[l];
      member.team_barrier();
      COIR_UNROLL
      for (int l = 0; l < each; ++l) {
        int const i = l * threads + thread;
        if (i < count) to[begin + i] = Operation::template value<T>(elements[place(i)]);
      }
    } else {
      // Only the total of the last group isn't needed, which may have fewer elements.
      if (thread == threads - 1) totals[member.league_rank()] = sum;
    }
  }

 private:
  /// Where an element lies in a team's memory: with gaps, so that threads read different banks.
  KOKKOS_FORCEINLINE_FUNCTION static int place(int i) {
    constexpr int banks = std::max(1, 128 / static_cast<int>(sizeof(Carried)));
    return i + i / banks;
  }
};

/// How the axis is divided into groups.
struct ScanGroups {
  std::int64_t size, count;
  int threads;  // of a team that has a group, or 0
};

template <class Exec, class Tiles>
ScanGroups scan_groups(ScanShape const& shape) {
  auto const of = [&](std::int64_t size, int threads) {
    return ScanGroups{size, (shape.length + size - 1) / size, threads};
  };
  if constexpr (!runs_on_host<Exec>) {
    constexpr std::int64_t long_row = 64;
    int threads = 32;
    while (threads < Tiles::most_threads && threads * Tiles::each < shape.length) threads *= 2;
    auto const tiles = of(std::int64_t(threads) * Tiles::each, threads);
    if (shape.inner == 1 && shape.length > long_row &&
        tiles.count * shape.outer <= std::numeric_limits<int>::max())
      return tiles;
  }
  return of(scan_group<Exec>, 0);
}

template <bool Scans, class Exec, class From, class T, class Operation>
void run_scan_kernel(Exec const& exec, From const* from, T* to,
                     typename Operation::template Carried<T>* totals, ScanShape const& shape,
                     ScanGroups const& groups, Operation const& operation) {
  [[maybe_unused]] constexpr std::size_t alignment =
      alignof(typename Operation::template Carried<T>);
  constexpr char const* label =
      Scans ? "coir::array::scan_groups/scan" : "coir::array::scan_groups/totals";
  std::int64_t const rows = shape.outer * groups.count;
  if constexpr (!runs_on_host<Exec>) {
    if (groups.threads > 0) {
      using Tiles = ScanTiles<From, T, Operation, Scans>;
      Kokkos::parallel_for(label,
                           Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(rows), groups.threads)
                               .set_scratch_size(0, Kokkos::PerTeam(Tiles::memory(groups.threads) +
                                                                    static_cast<int>(alignment))),
                           Tiles{from, to, totals, groups.count, shape.length, operation});
      return;
    }
  }
  if (shape.inner == 1)
    for_each(label, exec, box<1, std::int64_t>({rows}),
             ScanBody<From, T, Operation, Scans, true, scan_group<Exec>>{
                 from, to, totals, groups.count, shape.length, 1, operation});
  else
    for_each(label, exec, box<2, std::int64_t>({rows, shape.inner}),
             ScanBody<From, T, Operation, Scans, false, scan_group<Exec>>{
                 from, to, totals, groups.count, shape.length, shape.inner, operation});
}

/// to[o, i, j] = operation over from[o, 0 ... i, j], for arrays that aren't empty. Both may be the
/// same array.
template <class Exec, class From, class T, class Operation>
void scan_rows(Exec const& exec, From const* from, T* to, ScanShape const& shape,
               Operation const& operation) {
  using Carried = typename Operation::template Carried<T>;
  auto const groups = scan_groups<Exec, ScanTiles<From, T, Operation, true>>(shape);
  std::shared_ptr<void> memory;
  if (groups.count > 1)
    memory = MemoryPool<typename Exec::memory_space>::allocate(
        shape.outer * groups.count * shape.inner * static_cast<std::int64_t>(sizeof(Carried)));
  auto* const totals = static_cast<Carried*>(memory.get());
  if (groups.count > 1) {
    run_scan_kernel<false>(exec, from, to, totals, shape, groups, operation);
    scan_rows(exec, totals, totals, {shape.outer, groups.count, shape.inner}, operation);
  }
  run_scan_kernel<true>(exec, from, to, totals, shape, groups, operation);
}

}  // namespace coir::detail
