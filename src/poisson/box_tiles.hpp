#pragma once

/// Boxes cut into tiles for kernels whose teams march along the first axis.

#include "grid_level.hpp"

#include <coir/core/kokkos.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

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
  /// A team's first cell along each axis, the end of its slabs, and the number of its stretch. The
  /// first cell of the box is (1, 1, 1).
  struct Place {
    int slab, slabs_end, row, column, stretch;
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

  /// The stretches that end soonest where `teams` run at a time.
  static Tiling for_teams(int const (&n)[3], int rows, int columns, int teams) {
    // Neighbouring teams drift apart in longer ones, and no longer find cells in the cache.
    constexpr int longest = 128, shortest = 4;
    int const tiles = Tiling(n, rows, columns, n[0]).teams();
    Tiling best(n, rows, columns, longest);
    for (int rounds = 1; rounds <= 16; ++rounds) {
      int const stretches = std::max(1, rounds * teams / tiles);
      int const slabs = (n[0] + stretches - 1) / stretches;
      Tiling const tiling(n, rows, columns, std::clamp(slabs, shortest, longest));
      if (tiling.time(teams) < best.time(teams)) best = tiling;
    }
    return best;
  }

  /// How long a sweep takes where `teams` run at a time, in slabs of a tile. A stretch costs some
  /// beside its own: sweeps load or compute those at its ends twice, and wait for the first ones.
  std::int64_t time(int at_a_time) const {
    constexpr int beside = 4;
    return (teams() + at_a_time - 1) / at_a_time * std::int64_t(stretch_ + beside);
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
    return {slab, end, 1 + down * rows_, 1 + (tile - down * across_) * columns_, stretch};
  }

 private:
  int n0_, rows_, columns_, across_, tiles_, stretch_;
};

/// Whether 32 bits count the bytes of a slab, as kernels whose teams march along the slabs need it.
template <class T>
bool has_near_cells(Level<T, 3> const& level) {
  auto const reach = (level.n[1] + 2) * std::max(level.u_row, level.b_row) * sizeof(T);
  return std::min(level.u_row, level.b_row) > 0 && reach < (std::uint64_t(1) << 32);
}

/// The box with its slabs in the opposite order, where `out` lies before the unknown. Sweeps from
/// one field into another and back so begin with the slabs that the sweep before ended with, which
/// the cache still holds.
///
/// \return whether the order is the opposite one
template <class T>
bool turn_slabs(Level<T, 3>& level, T*& out) {
  if (!std::less<T*>()(out, level.u)) return false;
  out += (level.n[0] + 1) * level.u_slab;
  level.u += (level.n[0] + 1) * level.u_slab;
  level.b += (level.n[0] - 1) * level.b_slab;
  level.u_slab = -level.u_slab;
  level.b_slab = -level.b_slab;
  return true;
}

/// The teams that a device runs at the same time.
///
/// \param of_multiprocessor  those that one multiprocessor has room for
template <class Exec>
int teams_at_a_time(Exec const& exec, int of_multiprocessor) {
  constexpr int threads_of_multiprocessor = 2048;
  return std::max(1, static_cast<int>(exec.concurrency()) / threads_of_multiprocessor) *
         of_multiprocessor;
}

/// The tiles of a sweep whose teams march, of which two run at a time on a multiprocessor.
template <class Sweep, class Exec>
Tiling tiling_for(Exec const& exec, int const (&n)[3]) {
  return Tiling::for_teams(n, Sweep::own_rows, Sweep::own_columns, teams_at_a_time(exec, 2));
}

/// How long a sweep takes with its tiles, in slabs of a tile.
template <class Sweep, class Exec>
std::int64_t time_of(Exec const& exec, int const (&n)[3]) {
  return tiling_for<Sweep>(exec, n).time(teams_at_a_time(exec, 2));
}

/// Launches a sweep: a team for each place of sweep.tiling, with its planes in shared memory.
template <class Exec, class Sweep>
void march(std::string const& label, Exec const& exec, Sweep const& sweep) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Sweep::threads, 2>>;
  Kokkos::parallel_for(label,
                       Policy(exec, sweep.tiling.teams(), Sweep::threads)
                           .set_scratch_size(0, Kokkos::PerTeam(Sweep::scratch_bytes)),
                       sweep);
}

}  // namespace coir::poisson::detail
