#pragma once

/// \file
/// Restriction of residuals in boxes on devices: each residual is computed about once.

#include "device_columns.hpp"

#include <algorithm>
#include <cstddef>

namespace coir::poisson::detail {

/// Restricts the residual of a fine grid, and sums its squares.
///
/// A team takes `coarse_rows` rows and `coarse_columns` columns of the coarse grid, and marches
/// along its slabs. Each of its threads computes the residuals in two rows of a fine column, and
/// adds up those that belong to a coarse slab. Then the team adds up rows and columns.
template <class T, int Across, int Down>
struct RestrictColumns {
  using value_type = double;  // the sum's
  static constexpr int threads = Across * Down;
  static constexpr int coarse_rows = Down - 1, coarse_columns = Across / 2 - 1;
  static constexpr int scratch_bytes = 2 * threads * static_cast<int>(sizeof(T));
  Level<T, 3> fine, coarse;
  Tiling tiling;  // of the coarse grid
  int teams;      // that share the tiling's places

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    double ignored = 0;
    (*this)(member, ignored);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member, double& squares) const {
    T* const sums = static_cast<T*>(member.team_scratch(0).get_shmem(2 * threads * sizeof(T)));
    for (int place = member.league_rank(); place < tiling.teams(); place += teams)
      restrict_at(tiling.place(place), member, sums, squares);
  }

 private:
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION void restrict_at(Tiling::Place const& at, Member const& member,
                                               T* sums, double& squares) const {
    int const rank = member.team_rank();
    int const n0 = fine.n[0];
    // The fine cells of coarse cell I begin at 2 I - 1.
    int const j = 2 * at.row - 1 + 2 * (rank / Across), k = 2 * at.column - 1 + rank % Across;
    bool const inside[2] = {j <= fine.n[1] && k <= fine.n[2], j + 1 <= fine.n[1] && k <= fine.n[2]};
    // Squares of cells that a neighbouring team computes, too, count there.
    bool const own =
        (rank / Across < coarse_rows || at.row + coarse_rows > coarse.n[1]) &&
        (rank % Across < 2 * coarse_columns || at.column + coarse_columns > coarse.n[2]);
    int const J = at.row + rank / coarse_columns, K = at.column + rank % coarse_columns;
    bool const adds = rank < coarse_rows * coarse_columns && J <= coarse.n[1] && K <= coarse.n[2];

    T below[2] = {0, 0}, here[2] = {0, 0}, before[2] = {0, 0}, sum[2];
    int const begin = 2 * at.slab - 1;
    COIR_UNROLL
    for (int r = 0; r < 2; ++r)
      if (inside[r]) {
        below[r] = *fine.u_at(begin - 1, j + r, k);
        here[r] = *fine.u_at(begin, j + r, k);
      }
    // The residuals of slab i, whose squares count unless another team has them.
    auto const residuals = [&](int i, bool counts, T(&of)[2]) {
      T above[2] = {0, 0}, source[2] = {0, 0};
      COIR_UNROLL
      for (int r = 0; r < 2; ++r)
        if (inside[r]) {
          above[r] = *fine.u_at(i + 1, j + r, k);
          source[r] = fine.b[fine.b_offset(i, j + r, k)];
        }
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        of[r] = 0;
        if (inside[r]) {
          T const* const cell = fine.u_at(i, j + r, k);
          T const outer = r == 0 ? cell[-fine.u_row] : cell[fine.u_row];
          T const other = inside[1] ? here[1 - r] : *fine.u_at(i, j + 1, k);
          of[r] = residual(i, j + r, k, here[r], source[r], below[r] + above[r], outer + other,
                           cell[-1] + cell[1]);
          if (counts && own) squares += double(of[r]) * double(of[r]);
        }
      }
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        below[r] = here[r];
        here[r] = above[r];
      }
    };

    residuals(begin, true, before);
    for (int I = at.slab; I < at.slabs_end; ++I) {
      bool const is_last = I == coarse.n[0];
      T of[2];
      residuals(2 * I, true, of);
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) sum[r] = T(0.5) * before[r] + of[r];
      if (2 * I + 1 <= n0) {
        residuals(2 * I + 1, is_last || I + 1 < at.slabs_end, before);
        COIR_UNROLL
        for (int r = 0; r < 2; ++r) sum[r] += share(1, is_last, coarse.ghost[0]) * before[r];
      }
      if (is_last && 2 * I + 2 <= n0) {
        residuals(2 * I + 2, true, of);
        COIR_UNROLL
        for (int r = 0; r < 2; ++r) sum[r] += share(2, true, coarse.ghost[0]) * of[r];
      }
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) sums[(2 * (rank / Across) + r) * Across + rank % Across] = sum[r];
      member.team_barrier();
      if (adds) add(sums, I, J, K, at);
      member.team_barrier();
    }
  }

  /// Adds up the rows and columns of coarse cell (I, J, K).
  KOKKOS_FORCEINLINE_FUNCTION void add(T const* sums, int I, int J, int K,
                                       Tiling::Place const& at) const {
    bool const last_row = J == coarse.n[1], last_column = K == coarse.n[2];
    T total = 0;
    // Sums of rows and columns beyond the grid are zero.
    for (int c = -1; c <= (last_row ? 2 : 1); ++c) {
      T const* const row = sums + (2 * (J - at.row) + 1 + c) * Across + 2 * (K - at.column) + 1;
      T along = row[0] + T(0.5) * row[-1] + share(1, last_column, coarse.ghost[2]) * row[1];
      if (last_column) along += share(2, true, coarse.ghost[2]) * row[2];
      total += share(c, last_row, coarse.ghost[1]) * along;
    }
    coarse.restricted[coarse.b_offset(I, J, K)] = restriction_scale<T, 3> * total;
  }

  /// -Level::defect(), from the sums of the neighbours along each axis.
  KOKKOS_FORCEINLINE_FUNCTION T residual(int i, int j, int k, T here, T source, T slabs, T rows,
                                         T along) const {
    if (i == fine.n[0] || j == fine.n[1] || k == fine.n[2]) {
      Stencil<T> const s = fine.stencil(i, j, k);
      T const sum = (s.along * along + s.slabs * slabs) + s.rows * rows;
      return -((sum - source) - s.diagonal * here);
    }
    return -((((along + slabs) + rows) - source) - T(6) * here);
  }
};

/// Restricts the residual of a fine grid.
///
/// \return the sum of the residual's squares, after a wait, if `measure`
template <class Exec, class T>
double restrict_columns(Exec const& exec, Level<T, 3> const& fine, Level<T, 3> const& coarse,
                        bool measure) {
  using Step = RestrictColumns<T, 32, 8>;
  Tiling const tiling(coarse.n, Step::coarse_rows, Step::coarse_columns,
                      2 * teams_at_a_time(exec, Step::threads));
  constexpr int at_a_time = 3;  // on a multiprocessor of 2048 threads
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Step::threads, at_a_time>>;
  auto const policy = [&](int teams) {
    return Policy(exec, teams, Step::threads)
        .set_scratch_size(0, Kokkos::PerTeam(Step::scratch_bytes + 64));
  };
  if (!measure) {
    Kokkos::parallel_for("coir::poisson::restrict_columns/restrict", policy(tiling.teams()),
                         Step{fine, coarse, tiling, tiling.teams()});
    return 0;
  }
  // No more teams than run at a time, because a single warp joins their sums one after the other.
  int const teams = std::min(tiling.teams(), at_a_time * teams_at_a_time(exec, 2048));
  double squares = 0;
  Kokkos::parallel_reduce("coir::poisson::restrict_columns/restrict_and_measure", policy(teams),
                          Step{fine, coarse, tiling, teams}, Kokkos::Sum<double>(squares));
  return squares;
}

}  // namespace coir::poisson::detail
