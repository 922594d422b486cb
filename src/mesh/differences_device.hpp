#pragma once

#include <coir/core/kokkos.hpp>
#include <coir/mesh/detail/difference_weights.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace coir::mesh::detail {

/// Differences in blocks of 4 x 8 x 32 cells, one for each team. The threads of a team share their
/// loads in the first-level cache; each thread has four cells along the first axis. Vectors go by
/// way of scratch memory, so that stores are coalesced.
template <class T, int Points>
struct DifferencesInBlocks {
  static constexpr int planes = 4, rows = 8, columns = 32, team = rows * columns;
  static constexpr int numbers = 3 * columns;  // of a row of the block
  static constexpr int scratch_bytes = planes * rows * numbers * static_cast<int>(sizeof(T));
  T const* potential;
  std::int32_t n[3];
  std::int64_t plane, row;
  T* force;
  std::int64_t first_plane, end_plane, shift;
  DifferenceWeights<T> weights[3];
  std::int32_t blocks[2];  // along the last two axes

  template <class Exec, class Differences>
  static void run(std::string_view label, Exec const& exec, Differences const& from) {
    DifferencesInBlocks body{
        from.potential, {},         from.plane, from.row, from.force, from.first_plane,
        from.end_plane, from.shift, {},         {}};
    for (int d = 0; d < 3; ++d) {
      body.n[d] = static_cast<std::int32_t>(from.n[d]);
      body.weights[d] = from.weights[d];
    }
    auto const parts = [](std::int32_t extent, int size) { return (extent + size - 1) / size; };
    body.blocks[0] = parts(body.n[1], rows);
    body.blocks[1] = parts(body.n[2], columns);
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team, 4>>;
    Kokkos::parallel_for(
        std::string(label),
        Policy(exec,
               parts(static_cast<std::int32_t>(body.end_plane - body.first_plane), planes) *
                   body.blocks[0] * body.blocks[1],
               team)
            .set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 64)),
        body);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int32_t const rank = member.league_rank(), above = rank / blocks[1],
                       k0 = (rank - above * blocks[1]) * columns,
                       i0 = static_cast<std::int32_t>(first_plane) + above / blocks[0] * planes,
                       j0 = above % blocks[0] * rows;
    int const lane = member.team_rank() % columns, line = member.team_rank() / columns;
    std::int32_t const j = j0 + line;
    auto* const vectors = static_cast<T*>(member.team_shmem().get_shmem(+scratch_bytes));
    T* const vector = vectors + line * numbers + 3 * lane;
    // Threads beyond the mesh compute values that are dropped.
    std::int32_t const k = k0 + lane < n[2] ? k0 + lane : n[2] - 1;
    T const* through[planes + 4];
    COIR_UNROLL
    for (int s = 0; s < planes + 4; ++s) through[s] = potential + around(i0 + s - 2, 0) * plane;
    std::int64_t const line_at = around(j, 1) * row, here = line_at + k;
    std::int64_t y[4], z[4];
    COIR_UNROLL
    for (int s = 0; s < 4; ++s) {
      int const step = s < 2 ? s - 2 : s - 1;
      y[s] = around(j + step, 1) * row + k;
      z[s] = line_at + around(k + step, 2);
    }
    T x[planes + 4];
    COIR_UNROLL
    for (int s = 0; s < planes + 4; ++s) x[s] = through[s][here];
    // All loads come before the first store, which the compiler takes to change what is loaded
    // later.
    T slopes[planes][3];
    COIR_UNROLL
    for (int p = 0; p < planes; ++p) {
      T const* const at = through[p + 2];
      slopes[p][0] = slope(0, x[p], x[p + 1], x[p + 3], x[p + 4]);
      slopes[p][1] = slope(1, at[y[0]], at[y[1]], at[y[2]], at[y[3]]);
      slopes[p][2] = slope(2, at[z[0]], at[z[1]], at[z[2]], at[z[3]]);
    }
    COIR_UNROLL
    for (int p = 0; p < planes; ++p) {
      COIR_UNROLL
      for (int d = 0; d < 3; ++d) vector[p * rows * numbers + d] = slopes[p][d];
    }
    member.team_barrier();
    if (j >= n[1]) return;
    COIR_UNROLL
    for (int p = 0; p < planes; ++p) {
      if (i0 + p >= end_plane) return;
      T* const to = force + (((i0 + p + shift) * n[1] + j) * n[2] + k0) * 3;
      T const* const from = vectors + (p * rows + line) * numbers;
      COIR_UNROLL
      for (int e = lane; e < numbers; e += columns)
        if (e < 3 * (n[2] - k0)) to[e] = from[e];
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T slope(int d, T before2, T before, T after, T after2) const {
    T const narrow = weights[d].near * (before - after);
    return Points == 2 ? narrow : narrow + weights[d].far * (before2 - after2);
  }

  /// Cell i of the periodic axis d, for i >= -2. Values more than 2 beyond the end are never
  /// stored, and any cell is returned for them.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t around(std::int32_t i, int d) const {
    i = i < n[d] + 2 ? i : n[d] + 1;
    i = i < 0 ? i + n[d] : i >= n[d] ? i - n[d] : i;
    return n[d] == 1 ? 0 : i;
  }
};

}  // namespace coir::mesh::detail
