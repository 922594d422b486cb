#pragma once

/// \file
/// The kernels of scan.hpp, on an array seen as [outer, length, inner] with the scanned axis in the middle.
/// Each group of consecutive elements of that axis is reduced by one kernel, the results are scanned in
/// the same way, and a second kernel scans each group and adds the total of the groups before it.

#include <coir/array/array.hpp>
#include <coir/core/loops.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace coir::detail {

// Unsigned integers wrap around, in signed ones that would be undefined.
struct ScanSum {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& a, T const& b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};
struct ScanProduct {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T const& a, T const& b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return a * b;
  }
};

struct ScanShape {
  std::int64_t outer, length, inner;
};

/// Elements in a group. On devices one thread reads a group, so it has few: the cache lines that a warp reads
/// stay in the cache until they are used up.
template <class Exec>
inline constexpr std::int64_t scan_group = runs_on_host<Exec> ? 64 : 16;

/// Both kernels. The first reduces each group of `data` and writes `totals`. The second scans each group in
/// place, and adds to it the scanned total of the groups before it.
///
/// \tparam Scans  true for the second kernel
/// \tparam Flat   inner is 1
template <class T, class Operation, bool Scans, bool Flat, std::int64_t group>
struct ScanBody {
  T* data;
  T* totals;  // [outer, groups, inner]
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
    for (std::int64_t row = begin; row < end; ++row) one(row, 0);
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
    std::int64_t group_number, count;
    T* data;
    T* total;
  };

  /// Row r is group r % groups of the r / groups-th outer index.
  KOKKOS_FORCEINLINE_FUNCTION Place place(std::int64_t row) const {
    std::int64_t const outer = row / groups, number = row - outer * groups;
    std::int64_t const left = length - number * group;
    return {number, left < group ? left : group, data + (outer * length + number * group) * inner,
            totals == nullptr ? nullptr : totals + row * inner};
  }

  KOKKOS_FORCEINLINE_FUNCTION void one(std::int64_t row, std::int64_t column) const {
    Place const at = place(row);
    T* element = at.data + column;
    T running = *element;
    if constexpr (Scans) {
      // The total of the groups before is added to each element of the group's own scan, instead of starting it: the shorter
      // chain of additions has fewer rounding errors, and doesn't wait for the total.
      bool const follows = at.group_number > 0;
      T const before = follows ? at.total[column - inner] : T();
      if (follows) *element = operation(before, running);
      for (std::int64_t i = 1; i < at.count; ++i) {
        element += inner;
        running = operation(running, *element);
        *element = follows ? operation(before, running) : running;
      }
    } else {
      for (std::int64_t i = 1; i < at.count; ++i) {
        element += inner;
        running = operation(running, *element);
      }
      at.total[column] = running;
    }
  }

  /// Takes a group of several columns at a time, which vectorises.
  void columns(std::int64_t row, std::int64_t first, std::int64_t count) const {
    Place const at = place(row);
    T running[256];
    T* const start = at.data + first;
    for (std::int64_t c = 0; c < count; ++c) running[c] = start[c];
    bool const follows = Scans && at.group_number > 0;
    T const* const before = follows ? at.total + first - inner : nullptr;
    for (std::int64_t i = 0; i < at.count; ++i) {
      T* const elements = start + i * inner;
      if (i > 0) {
        COIR_INDEPENDENT_ITERATIONS
        for (std::int64_t c = 0; c < count; ++c) running[c] = operation(running[c], elements[c]);
      }
      if constexpr (Scans) {
        if (follows) {
          COIR_INDEPENDENT_ITERATIONS
          for (std::int64_t c = 0; c < count; ++c) elements[c] = operation(before[c], running[c]);
        } else {
          COIR_INDEPENDENT_ITERATIONS
          for (std::int64_t c = 0; c < count; ++c) elements[c] = running[c];
        }
      }
    }
    if constexpr (!Scans)
      for (std::int64_t c = 0; c < count; ++c) at.total[first + c] = running[c];
  }
};

template <bool Scans, bool Flat, class Exec, class T, class Operation>
void run_scan_kernel(Exec const& exec, T* data, T* totals, ScanShape const& shape,
                     std::int64_t groups, Operation const& operation) {
  ScanBody<T, Operation, Scans, Flat, scan_group<Exec>> const body{
      data, totals, groups, shape.length, shape.inner, operation};
  constexpr char const* label = Scans ? "coir::array::scan" : "coir::array::scan/totals";
  if constexpr (Flat)
    for_each(label, exec, box<1, std::int64_t>({shape.outer * groups}), body);
  else
    for_each(label, exec, box<2, std::int64_t>({shape.outer * groups, shape.inner}), body);
}

/// data[o, i, j] = operation over data[o, 0 ... i, j], for arrays that aren't empty.
template <class Exec, class T, class Operation>
void scan_in_place(Exec const& exec, T* data, ScanShape const& shape, Operation const& operation) {
  std::int64_t const groups = (shape.length + scan_group<Exec> - 1) / scan_group<Exec>;
  auto const run = [&](auto flat, T* totals) {
    if (groups > 1) {
      run_scan_kernel<false, flat.value>(exec, data, totals, shape, groups, operation);
      scan_in_place(exec, totals, {shape.outer, groups, shape.inner}, operation);
    }
    run_scan_kernel<true, flat.value>(exec, data, totals, shape, groups, operation);
  };
  Array<T, 1, typename Exec::memory_space> totals;
  if (groups > 1)
    totals = Array<T, 1, typename Exec::memory_space>(Shape<1>{shape.outer * groups * shape.inner});
  if (shape.inner == 1)
    run(std::true_type{}, totals.data());
  else
    run(std::false_type{}, totals.data());
}

}  // namespace coir::detail
