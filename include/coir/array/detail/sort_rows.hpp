#pragma once

/// \file
/// Sorting of unsigned integers, and selection from them, for sorting.hpp, quantile.hpp and
/// random.hpp. It is compiled once, in src/array/sorting_impl.hpp, for the default execution space
/// and the default host one. Key is std::uint8_t, 16, 32 or 64.

#include <coir/core/math.hpp>

#include <cstdint>

namespace coir::detail {

/// Sorts each row of keys[rows, columns].
template <class Exec, class Key>
void sort_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns);

/// order[row, i] = the column of the i-th smallest key of its row, equal keys in the order of
/// columns. Overwrites the keys.
template <class Exec, class Key>
void argsort_rows(Exec const& exec, Key* keys, std::int64_t* order, std::int64_t rows,
                  std::int64_t columns);

/// The same for a single row of random keys, which are mostly told apart by their upper halves.
template <class Exec>
void argsort_random(Exec const& exec, std::uint64_t* keys, std::int64_t* order, std::int64_t size);

/// counts[i] becomes counts[0] + ... + counts[i], on devices.
template <class Exec>
void add_up_counts(Exec const& exec, std::int64_t* counts, std::int64_t size);

/// The quantiles that are asked for: shares[0 ... count), on the host.
struct Quantiles {
  double const* shares;
  std::int64_t count;
  bool may_be_nan;  ///< the largest key is that of NaN, which is no number
};

/// The place among n sorted numbers of the last one that isn't above a quantile.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t rank_below(double share, std::int64_t n) {
  return n == 0 ? 0 : static_cast<std::int64_t>(math::floor(share * static_cast<double>(n - 1)));
}

/// found[row, k, 0 and 1] = the two keys that the quantile of shares[k] of the numbers of a row
/// lies between, and numbers[row] = how many numbers there are. Overwrites the keys.
template <class Exec, class Key>
void select_rows(Exec const& exec, Key* keys, std::int64_t rows, std::int64_t columns,
                 Quantiles const& quantiles, Key* found, std::int64_t* numbers);

}  // namespace coir::detail
