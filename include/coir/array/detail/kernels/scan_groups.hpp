#pragma once

/// \file
/// The kernels of scan.hpp, on an array seen as [outer, length, inner] with the scanned axis in the
/// middle. Each group of consecutive elements of that axis is reduced by one kernel, the results
/// are scanned in the same way, and a second kernel scans each group and adds the total of the
/// groups before it.

#include <coir/array/array.hpp>
#include <coir/array/detail/carried.hpp>
#include <coir/array/detail/scaled_product.hpp>
#include <coir/core/loops.hpp>
#include <coir/core/pool.hpp>

#include <algorithm>
#include <cstdint>
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

/// Both kernels. The first reduces each group of `data` and writes `totals`. The second scans each
/// group in place, and adds to it the scanned total of the groups before it.
///
/// \tparam Scans  true for the second kernel
/// \tparam Flat   inner is 1
template <class T, class Operation, bool Scans, bool Flat, std::int64_t group>
struct ScanBody {
  using Carried = typename Operation::template Carried<T>;
  T* data;
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
    Carried* total;
  };

  /// Row r is group r % groups of the r / groups-th outer index.
  KOKKOS_FORCEINLINE_FUNCTION Place place(std::int64_t row) const {
    std::int64_t const outer = row / groups, number = row - outer * groups;
    std::int64_t const left = length - number * group;
    return {number, left < group ? left : group, data + (outer * length + number * group) * inner,
            totals == nullptr ? nullptr : totals + row * inner};
  }

  KOKKOS_FORCEINLINE_FUNCTION static T value(Carried const& x) {
    return Operation::template value<T>(x);
  }

  KOKKOS_FORCEINLINE_FUNCTION void one(std::int64_t row, std::int64_t column) const {
    Place const at = place(row);
    T* element = at.data + column;
    Carried running = Operation::carried(*element);
    if constexpr (Scans) {
      // The total of the groups before is added to each element of the group's scan in the end.
      // This shorter chain of additions has fewer rounding errors, and doesn't wait for the total.
      bool const follows = at.group_number > 0;
      Carried const before = follows ? at.total[column - inner] : Carried();
      if (follows) *element = value(operation(before, running));
      for (std::int64_t i = 1; i < at.count; ++i) {
        element += inner;
        running = operation(running, Operation::carried(*element));
        *element = value(follows ? operation(before, running) : running);
      }
    } else {
      for (std::int64_t i = 1; i < at.count; ++i) {
        element += inner;
        running = operation(running, Operation::carried(*element));
      }
      at.total[column] = running;
    }
  }

  /// Takes a group of several columns at a time, which vectorises.
  void columns(std::int64_t row, std::int64_t first, std::int64_t count) const {
    Place const at = place(row);
    Carried running[256];
    T* const start = at.data + first;
    for (std::int64_t c = 0; c < count; ++c) running[c] = Operation::carried(start[c]);
    bool const follows = Scans && at.group_number > 0;
    Carried const* const before = follows ? at.total + first - inner : nullptr;
    for (std::int64_t i = 0; i < at.count; ++i) {
      T* const elements = start + i * inner;
      if (i > 0) {
        COIR_INDEPENDENT_ITERATIONS
        for (std::int64_t c = 0; c < count; ++c)
          running[c] = operation(running[c], Operation::carried(elements[c]));
      }
      if constexpr (Scans) {
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

template <bool Scans, bool Flat, class Exec, class T, class Operation>
void run_scan_kernel(Exec const& exec, T* data, typename Operation::template Carried<T>* totals,
                     ScanShape const& shape, std::int64_t groups, Operation const& operation) {
  ScanBody<T, Operation, Scans, Flat, scan_group<Exec>> const body{
      data, totals, groups, shape.length, shape.inner, operation};
  constexpr char const* label =
      Scans ? "coir::array::scan_groups/scan" : "coir::array::scan_groups/totals";
  if constexpr (Flat)
    for_each(label, exec, box<1, std::int64_t>({shape.outer * groups}), body);
  else
    for_each(label, exec, box<2, std::int64_t>({shape.outer * groups, shape.inner}), body);
}

/// data[o, i, j] = operation over data[o, 0 ... i, j], for arrays that aren't empty.
template <class Exec, class T, class Operation>
void scan_in_place(Exec const& exec, T* data, ScanShape const& shape, Operation const& operation) {
  using Carried = typename Operation::template Carried<T>;
  std::int64_t const groups = (shape.length + scan_group<Exec> - 1) / scan_group<Exec>;
  auto const run = [&](auto flat, Carried* totals) {
    if (groups > 1) {
      run_scan_kernel<false, flat.value>(exec, data, totals, shape, groups, operation);
      scan_in_place(exec, totals, {shape.outer, groups, shape.inner}, operation);
    }
    run_scan_kernel<true, flat.value>(exec, data, totals, shape, groups, operation);
  };
  std::shared_ptr<void> memory;
  if (groups > 1)
    memory = MemoryPool<typename Exec::memory_space>::allocate(
        shape.outer * groups * shape.inner * static_cast<std::int64_t>(sizeof(Carried)));
  auto* const totals = static_cast<Carried*>(memory.get());
  if (shape.inner == 1)
    run(std::true_type{}, totals);
  else
    run(std::false_type{}, totals);
}

}  // namespace coir::detail
