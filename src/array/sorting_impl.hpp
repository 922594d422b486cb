#pragma once

/// \file
/// Sorting of unsigned integers, for each execution space.

#include "sort_on_device.hpp"
#include "sort_on_host.hpp"

#include <coir/array/detail/sort_rows.hpp>
#include <coir/core/concepts.hpp>

#include <cstdint>

namespace coir::detail {

template <class Exec, class Key>
void sort_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns) {
  if constexpr (runs_on_host<Exec>)
    sort_on_host(exec, Keyed<Key>{keys, nullptr}, rows, columns);
  else
    sort_on_device(exec, keys, rows, columns);
}

template <class Exec, class Key>
void argsort_rows(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                  std::int64_t columns) {
  if constexpr (runs_on_host<Exec>)
    sort_on_host(exec, Keyed<Key>{keys, order}, rows, columns);
  else
    argsort_on_device(exec, keys, order, rows, columns);
}

}  // namespace coir::detail

#define COIR_SORT_ROWS(Exec, Key)                                         \
  template void sort_rows(Exec const&, Key*, std::int64_t, std::int64_t); \
  template void argsort_rows(Exec const&, Key*, std::int64_t*, std::int64_t, std::int64_t);
#define COIR_INSTANTIATE_SORTING(Exec) \
  namespace coir::detail {             \
  COIR_SORT_ROWS(Exec, std::uint8_t)   \
  COIR_SORT_ROWS(Exec, std::uint16_t)  \
  COIR_SORT_ROWS(Exec, std::uint32_t)  \
  COIR_SORT_ROWS(Exec, std::uint64_t)  \
  }
