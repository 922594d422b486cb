#pragma once

/// \file
/// Boxes cut into tiles for kernels whose teams march along the first axis.

#include <coir/core/kokkos.hpp>

#include <algorithm>
#include <cstdint>

namespace coir::poisson::detail {

/// Whether a box has enough cells, rows and columns for teams that march. Launches take most of the
/// time on smaller boxes, and many threads would have no cell in thinner ones.
inline bool fills_columns(int const (&n)[3]) {
  return std::int64_t(n[0]) * n[1] * n[2] >= 1'000'000 && n[0] >= 8 && n[1] >= 16 && n[2] >= 32;
}

/// A box cut among the teams of a kernel: into stretches of slabs, and these into tiles of rows and
/// columns. Neighbouring teams have neighbouring tiles of the same slabs, which they find in the
/// cache.
class Tiling {
 public:
  /// A team's first cell along each axis, and the end of its slabs. The first cell of the box is
  /// (1, 1, 1).
  struct Place {
    int slab, slabs_end, row, column;
  };

  /// \param n        the box: slabs, rows, columns
  /// \param rows     of a tile
  /// \param columns  of a tile
  /// \param slabs    of a stretch, about
  Tiling(int const (&n)[3], int rows, int columns, int slabs)
      : n0_(n[0]),
        rows_(rows),
        columns_(columns),
        across_((n[2] + columns - 1) / columns),
        tiles_(across_ * ((n[1] + rows - 1) / rows)) {
    // Stretches of the same length, as nearly as can be.
    int const stretches = (n[0] + slabs - 1) / slabs;
    stretch_ = (n[0] + stretches - 1) / stretches;
  }

  /// Stretches of 8 to 128 slabs, so that at most `teams` have a place where this can be. Long ones
  /// suit sweeps that load or compute the cells at the ends of a stretch twice.
  static Tiling for_teams(int const (&n)[3], int rows, int columns, int teams) {
    int const stretches = std::max(1, teams / Tiling(n, rows, columns, n[0]).teams());
    int const slabs = (n[0] + stretches - 1) / stretches;
    return Tiling(n, rows, columns, std::clamp(slabs, 8, 128));
  }

  KOKKOS_FORCEINLINE_FUNCTION int teams() const {
    return tiles_ * ((n0_ + stretch_ - 1) / stretch_);
  }

  KOKKOS_FORCEINLINE_FUNCTION Place place(int team) const {
    int const stretch = team / tiles_;
    int const tile = team - stretch * tiles_;
    int const down = tile / across_;
    int const slab = 1 + stretch * stretch_;
    int const end = slab + stretch_ < n0_ + 1 ? slab + stretch_ : n0_ + 1;
    return {slab, end, 1 + down * rows_, 1 + (tile - down * across_) * columns_};
  }

 private:
  int n0_, rows_, columns_, across_, tiles_, stretch_;
};

/// The teams that a device runs at the same time.
///
/// \param of_multiprocessor  those that one multiprocessor has room for
template <class Exec>
int teams_at_a_time(Exec const& exec, int of_multiprocessor) {
  constexpr int threads_of_multiprocessor = 2048;
  return std::max(1, static_cast<int>(exec.concurrency()) / threads_of_multiprocessor) *
         of_multiprocessor;
}

}  // namespace coir::poisson::detail
