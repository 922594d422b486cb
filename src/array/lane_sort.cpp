#include "lane_sort.hpp"

#include <core/lanes.hpp>
#include <core/simd.hpp>

#include <algorithm>
#include <bit>

namespace coir::detail {

namespace {

template <class Word>
void sort_pair(typename simd::Simd<Word>::Vector& low, typename simd::Simd<Word>::Vector& high) {
  auto const a = low, b = high;
  low = a < b ? a : b;
  high = a < b ? b : a;
}

/// Sorts n vectors, lane by lane: Batcher's merge exchange (Knuth, The Art of Computer Programming,
/// 5.2.2, algorithm M).
template <class Word>
void sort_vectors(typename simd::Simd<Word>::Vector* x, std::int64_t n) {
  auto const most = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n))) / 2;
  for (std::int64_t p = most; p > 0; p /= 2)
    for (std::int64_t q = most, r = 0, d = p;; d = q - p, q /= 2, r = p) {
      for (std::int64_t i = r; i < n - d; i += 2 * p)
        for (std::int64_t k = i; k < std::min(i + p, n - d); ++k) sort_pair<Word>(x[k], x[k + d]);
      if (q == p) break;
    }
}

}  // namespace

template <class Word>
void sort_in_lanes(Word* words, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t width = simd::Simd<Word>::width;
  typename simd::Simd<Word>::Vector vectors[longest_lane_sort];
  auto* const lanes = reinterpret_cast<Word*>(vectors);
  for (std::int64_t first = 0; first < rows; first += width) {
    Word* const row = words + first * columns;
    std::int64_t const count = std::min(width, rows - first);
    simd::to_lanes(simd::SomeLines<Word const>{row, columns, 1, columns, count}, lanes);
    sort_vectors<Word>(vectors, columns);
    simd::from_lanes(lanes, simd::SomeLines<Word>{row, columns, 1, columns, count});
  }
}

template void sort_in_lanes(std::uint32_t*, std::int64_t, std::int64_t);
template void sort_in_lanes(std::uint64_t*, std::int64_t, std::int64_t);

}  // namespace coir::detail
