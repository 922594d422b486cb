#pragma once

/// \file
/// Sorting of unsigned integers, for sorting.hpp. It is compiled once, in src/array/sorting_impl.hpp, for the default
/// execution space and the default host one. Key is std::uint8_t, 16, 32 or 64.

#include <cstdint>

namespace coir::detail {

/// Sorts each row of keys[rows, columns].
template <class Exec, class Key>
void sort_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns);

/// order[row, i] = the column of the i-th smallest key of its row, equal keys in the order of columns.
/// Overwrites the keys.
template <class Exec, class Key>
void argsort_rows(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                  std::int64_t columns);

}  // namespace coir::detail
