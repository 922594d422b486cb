#pragma once

#include <coir/core/kokkos.hpp>
#include <coir/mesh/detail/difference_weights.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace coir::mesh::detail {

/// The divergence in blocks of 4 x 8 x 32 cells, one for each team. Each thread has four cells
/// along the first axis. The threads of a team share their loads by way of the first-level cache.
template <class T, int Points>
struct DivergenceInBlocks {
  static constexpr int planes = 4, rows = 8, columns = 32, team = rows * columns;
  T const* vectors;
  std::int32_t n[3];
  T* to;
  std::int64_t row;  // numbers from a row of `to` to the next
  DifferenceWeights<T> weights[3];
  std::int32_t blocks[2];  // along the last two axes

  template <class Exec, class Divergence>
  static void run(std::string_view label, Exec const& exec, Divergence const& from) {
    DivergenceInBlocks body{from.vectors, {}, from.to, from.row, {}, {}};
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
        Policy(exec, parts(body.n[0], planes) * body.blocks[0] * body.blocks[1], team), body);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    std::int32_t const rank = member.league_rank(), above = rank / blocks[1],
                       k = (rank - above * blocks[1]) * columns + member.team_rank() % columns,
                       i0 = above / blocks[0] * planes,
                       j = above % blocks[0] * rows + member.team_rank() / columns;
    if (j >= n[1] || k >= n[2]) return;
    std::int64_t const of_row = 3 * std::int64_t(n[2]), of_plane = n[1] * of_row;
    std::int64_t const line = j * of_row, here = line + 3 * k;
    std::int64_t y[4], z[4];
    COIR_UNROLL
    for (int s = 0; s < 4; ++s) {
      int const step = s < 2 ? s - 2 : s - 1;
      y[s] = around(j + step, 1) * of_row + 3 * k + 1;
      z[s] = line + 3 * around(k + step, 2) + 2;
    }
    T const* through[planes + 4];
    T x[planes + 4];
    COIR_UNROLL
    for (int s = 0; s < planes + 4; ++s) {
      through[s] = vectors + around(i0 + s - 2, 0) * of_plane;
      x[s] = through[s][here];
    }
    // All loads come before the first store, which the compiler takes to change what is loaded
    // later.
    T sum[planes];
    COIR_UNROLL
    for (int p = 0; p < planes; ++p) {
      T const* const at = through[p + 2];
      sum[p] = difference(0, x[p], x[p + 1], x[p + 3], x[p + 4]) +
               difference(1, at[y[0]], at[y[1]], at[y[2]], at[y[3]]) +
               difference(2, at[z[0]], at[z[1]], at[z[2]], at[z[3]]);
    }
    COIR_UNROLL
    for (int p = 0; p < planes; ++p)
      if (i0 + p < n[0]) to[(std::int64_t(i0 + p) * n[1] + j) * row + k] = sum[p];
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T difference(int d, T before2, T before, T after, T after2) const {
    T const narrow = weights[d].near * (after - before);
    return Points == 2 ? narrow : narrow + weights[d].far * (after2 - before2);
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
