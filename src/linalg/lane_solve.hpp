#pragma once

/// \file
/// Equations of many small matrices, one in each lane of vectors.

#include <cstdint>
#include <utility>

namespace coir::detail {

/// Whether n equations are solved by lanes faster than by LAPACK.
constexpr bool suits_lane_solve(std::int64_t n) { return n <= 64; }

/// Numbers of the memory that lane_solve() works in, aligned to vectors.
template <class T>
std::int64_t lane_solve_work(std::int64_t n, std::int64_t columns);

/// Solves as many systems as a vector has lanes, or fewer: b[s] becomes x with a[s] x = b[s]. By
/// Gauss' elimination; the pivot is the largest number of its column.
///
/// \param a  `count` row-major matrices of n x n
/// \param b  `columns` right-hand sides of n numbers for each
/// \returns  the first matrix without an inverse, and the step at which its pivot was 0, from 1 on;
///   or {0, 0}
template <class T>
std::pair<std::int64_t, int> lane_solve(std::int64_t n, std::int64_t columns, std::int64_t count,
                                        T const* a, T* b, T* work);

}  // namespace coir::detail
