#pragma once

/// \file
/// Sorting of many short rows, one in each lane of vectors.

#include <cstdint>

namespace coir::detail {

/// The longest rows that are sorted so.
inline constexpr std::int64_t longest_lane_sort = 384;

/// Sorts each row of words[rows, columns], of 2 columns at least.
///
/// \tparam Word  std::uint32_t or std::uint64_t
template <class Word>
void sort_in_lanes(Word* words, std::int64_t rows, std::int64_t columns);

}  // namespace coir::detail
