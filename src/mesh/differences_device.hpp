#pragma once

#include <coir/core/kokkos.hpp>
#include <coir/mesh/detail/difference_weights.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace coir::mesh::detail {

/// Differences in blocks of rows and columns, one for each team, which goes from plane to plane. A
/// thread has two columns of a row, and keeps their values of five planes; the other values that it
/// needs were loaded by its neighbours before, and lie in the first-level cache. Vectors go by way
/// of scratch memory, so that stores are coalesced.
///
/// \tparam AsPairs  whether two neighbouring columns can be loaded and stored at once
template <class T, int Points, bool AsPairs>
struct DifferencesInBlocks {
  static constexpr int rows = 8, lanes = 32, columns = 2 * lanes, team = rows * lanes;
  static constexpr int numbers = 3 * columns;  // of a row of the block
  static constexpr int scratch_bytes = 2 * rows * numbers * static_cast<int>(sizeof(T));
  T const* potential;
  std::int32_t n[3];
  std::int64_t plane, row;
  T* force;
  std::int64_t first_plane, end_plane, shift;
  DifferenceWeights<T> weights[3];
  std::int32_t blocks[2];  // along the last two axes
  std::int32_t planes;     // of a team

  struct alignas(2 * sizeof(T)) Pair {
    T first, second;
  };

  /// Whether pairs lie at multiples of their size.
  template <class Differences>
  static bool fits(Differences const& from) {
    auto const address = reinterpret_cast<std::uintptr_t>(from.potential) |
                         reinterpret_cast<std::uintptr_t>(from.force);
    return address % sizeof(Pair) == 0 && (from.n[2] | from.row | from.plane) % 2 == 0;
  }

  template <class Exec, class Differences>
  static void run(std::string_view label, Exec const& exec, Differences const& from) {
    DifferencesInBlocks body{
        from.potential, {},         from.plane, from.row, from.force, from.first_plane,
        from.end_plane, from.shift, {},         {},       16};
    for (int d = 0; d < 3; ++d) {
      body.n[d] = static_cast<std::int32_t>(from.n[d]);
      body.weights[d] = from.weights[d];
    }
    auto const parts = [](std::int32_t extent, int size) { return (extent + size - 1) / size; };
    body.blocks[0] = parts(body.n[1], rows);
    body.blocks[1] = parts(body.n[2], columns);
    auto const teams = [&] {
      return parts(static_cast<std::int32_t>(body.end_plane - body.first_plane), body.planes) *
             body.blocks[0] * body.blocks[1];
    };
    while (body.planes > 4 && teams() < exec.concurrency() / team) body.planes /= 2;
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team, 4>>;
    Kokkos::parallel_for(
        std::string(label),
        Policy(exec, teams(), team).set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 64)), body);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int32_t const rank = member.league_rank(), above = rank / blocks[1],
                       k0 = (rank - above * blocks[1]) * columns,
                       i0 = static_cast<std::int32_t>(first_plane) + above / blocks[0] * planes,
                       j0 = above % blocks[0] * rows;
    int const lane = member.team_rank() % lanes, line = member.team_rank() / lanes;
    std::int32_t const j = j0 + line, k = k0 + 2 * lane;
    auto* const scratch =
        static_cast<T*>(member.team_shmem().get_shmem_aligned(+scratch_bytes, +alignof(Pair)));
    // Threads beyond the mesh compute values that are dropped.
    std::int64_t const line_at = around(j, 1) * row;
    Columns const here = columns_at(line_at, k), z_before = columns_at(line_at, k - 2),
                  z_after = columns_at(line_at, k + 2);
    Columns y[4];
    COIR_UNROLL
    for (int s = 0; s < 4; ++s) y[s] = columns_at(around(j + (s < 2 ? s - 2 : s - 1), 1) * row, k);
    Pair x[5];
    COIR_UNROLL
    for (int s = 0; s < 5; ++s) x[s] = load(i0 + s - 2, here);
    std::int32_t const end =
        i0 + planes < end_plane ? i0 + planes : static_cast<std::int32_t>(end_plane);
    for (std::int32_t i = i0; i < end; ++i) {
      Pair const next = load(i + 3, here), y0 = load(i, y[0]), y1 = load(i, y[1]),
                 y2 = load(i, y[2]), y3 = load(i, y[3]), before = load(i, z_before),
                 after = load(i, z_after);
      T* const vectors = scratch + ((i & 1) * rows + line) * numbers;
      auto* const mine = reinterpret_cast<Pair*>(vectors + 6 * lane);
      mine[0] = {slope(0, x[0].first, x[1].first, x[3].first, x[4].first),
                 slope(1, y0.first, y1.first, y2.first, y3.first)};
      mine[1] = {slope(2, before.first, before.second, x[2].second, after.first),
                 slope(0, x[0].second, x[1].second, x[3].second, x[4].second)};
      mine[2] = {slope(1, y0.second, y1.second, y2.second, y3.second),
                 slope(2, before.second, x[2].first, after.first, after.second)};
      // Of two planes' vectors one is written while the other is read.
      member.team_barrier();
      if (j < n[1]) store(vectors, lane, ((i + shift) * n[1] + j) * n[2] + k0, 3 * (n[2] - k0));
      COIR_UNROLL
      for (int s = 0; s < 4; ++s) x[s] = x[s + 1];
      x[4] = next;
    }
  }

 private:
  /// Where two neighbouring columns are within a plane.
  struct Columns {
    std::int64_t first, second;
  };

  KOKKOS_FORCEINLINE_FUNCTION Columns columns_at(std::int64_t line_at, std::int32_t k) const {
    if (AsPairs)
      return {line_at + around(k < n[2] + 2 ? k : n[2], 2), 0};  // begins at even columns
    return {line_at + around(k, 2), line_at + around(k + 1, 2)};
  }
  KOKKOS_FORCEINLINE_FUNCTION Pair load(std::int32_t i, Columns const& at) const {
    T const* const from = potential + around(i, 0) * plane;
    if (AsPairs) return *reinterpret_cast<Pair const*>(from + at.first);
    return {from[at.first], from[at.second]};
  }
  /// Stores a row of vectors, or as many numbers as are left.
  KOKKOS_FORCEINLINE_FUNCTION void store(T const* vectors, int lane, std::int64_t cell,
                                         std::int32_t left) const {
    T* const to = force + cell * 3;
    constexpr int size = AsPairs ? 2 : 1;
    COIR_UNROLL
    for (int e = size * lane; e < numbers; e += size * lanes) {
      if (e >= left) return;
      if (AsPairs)
        *reinterpret_cast<Pair*>(to + e) = *reinterpret_cast<Pair const*>(vectors + e);
      else
        to[e] = vectors[e];
    }
  }

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
