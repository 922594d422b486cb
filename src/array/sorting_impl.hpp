#pragma once

/// \file
/// Sorting of unsigned integers, for each execution space.

#include "sort_on_device.hpp"
#include "sort_on_host.hpp"

#include <coir/array/creation.hpp>
#include <coir/array/detail/kernels/scan_groups.hpp>
#include <coir/array/detail/sort_rows.hpp>
#include <coir/core/concepts.hpp>
#include <coir/core/loops.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace coir::detail {

/// On devices: picks keys of quantiles from sorted rows.
template <class Key>
struct PickQuantiles {
  Key const* keys;
  double const* shares;
  Key* found;
  std::int64_t* numbers;
  std::int64_t columns, count;
  bool may_be_nan;

  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    Key const* const sorted = keys + row * columns;
    std::int64_t first = may_be_nan ? 0 : columns, left = columns - first;  // to the first NaN
    while (left > 0) {
      std::int64_t const half = left / 2;
      bool const is_number = sorted[first + half] != static_cast<Key>(~Key(0));
      first = is_number ? first + half + 1 : first;
      left = is_number ? left - half - 1 : half;
    }
    numbers[row] = first;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t const before = rank_below(shares[k], first);
      Key* const to = found + 2 * (row * count + k);
      to[0] = sorted[before];
      to[1] = sorted[before + 1 < first ? before + 1 : before];
    }
  }
};

template <class Exec, class Key>
void sort_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns) {
  if constexpr (runs_on_host<Exec>)
    sort_on_host(exec, keys, rows, columns);
  else
    sort_on_device(exec, keys, rows, columns);
}

template <class Exec, class Key>
void argsort_rows(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                  std::int64_t columns) {
  if constexpr (runs_on_host<Exec>)
    argsort_on_host(exec, keys, order, rows, columns);
  else
    argsort_on_device(exec, keys, order, rows, columns);
}

template <class Exec>
void argsort_random(Exec const& exec, std::uint64_t* keys, std::int64_t* order, std::int64_t size) {
#ifdef __CUDACC__
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    if (size <= std::int64_t(std::numeric_limits<std::uint32_t>::max())) {
      sorting::argsort_by_halves(exec, keys, order, size);
      return;
    }
  }
#endif
  argsort_rows(exec, keys, order, 1, size);
}

template <class Exec>
void add_up_counts(Exec const& exec, std::int64_t* counts, std::int64_t size) {
  scan_rows(exec, counts, counts, {1, size, 1}, ScanSum{});
}

template <class Exec, class Key>
void select_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns,
                 Quantiles const& quantiles, Key* found, std::int64_t* numbers) {
  if constexpr (runs_on_host<Exec>) {
    select_on_host(exec, keys, rows, columns, quantiles, found, numbers);
  } else {
    sort_on_device(exec, keys, rows, columns);
    using Shares = Array<double, 1, typename Exec::memory_space>;
    Shares const shares = from_span<typename Exec::memory_space>(
        std::span(quantiles.shares, std::size_t(quantiles.count)), {quantiles.count});
    for_each("coir::array::sorting/select", exec, box<1, std::int64_t>({rows}),
             PickQuantiles<Key>{keys, shares.data(), found, numbers, columns, quantiles.count,
                                quantiles.may_be_nan});
  }
}

}  // namespace coir::detail

#define COIR_SORT_ROWS(Exec, Key)                                                                  \
  template void sort_rows(Exec const&, Key*, std::int64_t, std::int64_t);                          \
  template void argsort_rows(Exec const&, Key*, std::int64_t*, std::int64_t, std::int64_t);        \
  template void select_rows(Exec const&, Key*, std::int64_t, std::int64_t, Quantiles const&, Key*, \
                            std::int64_t*);
#define COIR_INSTANTIATE_SORTING(Exec)                                                    \
  namespace coir::detail {                                                                \
  COIR_SORT_ROWS(Exec, std::uint8_t)                                                      \
  COIR_SORT_ROWS(Exec, std::uint16_t)                                                     \
  COIR_SORT_ROWS(Exec, std::uint32_t)                                                     \
  COIR_SORT_ROWS(Exec, std::uint64_t)                                                     \
  template void argsort_random(Exec const&, std::uint64_t*, std::int64_t*, std::int64_t); \
  template void add_up_counts(Exec const&, std::int64_t*, std::int64_t);                  \
  }
