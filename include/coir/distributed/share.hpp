#pragma once

/// \file
/// Shares the indices of an axis out among ranks.

#include <cstdint>

namespace coir::distributed {

/// The indices of one rank: `count` of them, from `first` on.
struct Share {
  std::int64_t first = 0;
  std::int64_t count = 0;

  std::int64_t end() const { return first + count; }
  bool operator==(Share const&) const = default;
};

/// Rank r of P owns the indices [n r / P, n (r + 1) / P) of n, with both bounds rounded down. With
/// fewer indices than ranks some ranks own none.
inline Share share_of(std::int64_t n, int rank, int ranks) {
  std::int64_t const first = n * rank / ranks;
  return {first, n * (rank + 1) / ranks - first};
}

/// The rank that owns index i, 0 <= i < n.
inline int owner_of(std::int64_t i, std::int64_t n, int ranks) {
  return static_cast<int>(((i + 1) * ranks - 1) / n);
}

}  // namespace coir::distributed
