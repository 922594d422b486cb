#pragma once

/// Restriction of residuals in boxes on devices: each residual is computed about once.

#include "box_tiles.hpp"
#include "grid_level.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

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
    // Squares of cells that a neighbouring team computes, too, count there.
    bool const own =
        (rank / Across < coarse_rows || at.row + coarse_rows > coarse.n[1]) &&
        (rank % Across < 2 * coarse_columns || at.column + coarse_columns > coarse.n[2]);
    int const J = at.row + rank / coarse_columns, K = at.column + rank % coarse_columns;
    bool const adds = rank < coarse_rows * coarse_columns && J <= coarse.n[1] && K <= coarse.n[2];

    int const begin = 2 * at.slab - 1;
    Rows rows(fine, begin, j, k);
    T before[2], of[2], sum[2];
    rows.residuals(fine, begin, before);
    if (own) squares += square(before);
    for (int I = at.slab; I < at.slabs_end; ++I) {
      bool const is_last = I == coarse.n[0];
      rows.residuals(fine, 2 * I, of);
      if (own) squares += square(of);
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) sum[r] = T(0.5) * before[r] + of[r];
      if (2 * I + 1 <= n0) {
        rows.residuals(fine, 2 * I + 1, before);
        // The first slab after the team's own counts for another team.
        if (own && (is_last || I + 1 < at.slabs_end)) squares += square(before);
        COIR_UNROLL
        for (int r = 0; r < 2; ++r) sum[r] += share(1, is_last, coarse.ghost[0]) * before[r];
      }
      if (is_last && 2 * I + 2 <= n0) {
        rows.residuals(fine, 2 * I + 2, of);
        if (own) squares += square(of);
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

  KOKKOS_FORCEINLINE_FUNCTION static double square(T const (&r)[2]) {
    return double(r[0]) * double(r[0]) + double(r[1]) * double(r[1]);
  }

  /// A thread's two rows: their cells in the slab whose residuals are next, and in the slab before.
  struct Rows {
    int j, k;
    bool exist[2], inside[2], at_end[2];
    T const* u;  // the lower row's cell of the slab
    T const* b;
    T below[2] = {0, 0}, here[2] = {0, 0};
    T next[2] = {0, 0}, next_source[2] = {0, 0};  // being loaded

    KOKKOS_FORCEINLINE_FUNCTION Rows(Level<T, 3> const& fine, int i, int j_, int k_)
        : j(j_), k(k_), u(fine.u_at(i, j_, k_)), b(fine.b + fine.b_offset(i, j_, k_)) {
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        exist[r] = j + r <= fine.n[1] + 1 && k <= fine.n[2];
        inside[r] = j + r <= fine.n[1] && k <= fine.n[2];
        at_end[r] = j + r == fine.n[1] || k == fine.n[2];
        if (exist[r]) {
          below[r] = u[r * fine.u_row - fine.u_slab];
          here[r] = u[r * fine.u_row];
        }
      }
      load(fine, u + fine.u_slab, b);
    }

    /// The residuals of slab i, which follows that of the call before.
    KOKKOS_FORCEINLINE_FUNCTION void residuals(Level<T, 3> const& fine, int i, T (&of)[2]) {
      // What the call before began to load.
      T above[2], source[2];
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        above[r] = next[r];
        source[r] = next_source[r];
      }
      if (i < fine.n[0]) load(fine, u + 2 * fine.u_slab, b + fine.b_slab);
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        of[r] = 0;
        if (inside[r]) {
          T const* const cell = u + r * fine.u_row;
          T const beyond = r == 0 ? u[-fine.u_row] : u[2 * fine.u_row];
          of[r] = residual(fine, at_end[r], i, j + r, k, here[r], source[r], below[r] + above[r],
                           beyond + here[1 - r], cell[-1] + cell[1]);
        }
      }
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        below[r] = here[r];
        here[r] = above[r];
      }
      u += fine.u_slab;
      b += fine.b_slab;
    }

    /// Begins to load cells and sources. Nothing may use these numbers before the next call of
    /// residuals(), or all threads would wait for memory here.
    KOKKOS_FORCEINLINE_FUNCTION void load(Level<T, 3> const& fine, T const* cell, T const* from) {
      COIR_UNROLL
      for (int r = 0; r < 2; ++r) {
        if (exist[r]) next[r] = cell[r * fine.u_row];
        if (inside[r]) next_source[r] = from[r * fine.b_row];
      }
    }
  };

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
  ///
  /// \param at_end  whether the cell is the last of its row or column
  KOKKOS_FORCEINLINE_FUNCTION static T residual(Level<T, 3> const& fine, bool at_end, int i, int j,
                                                int k, T here, T source, T slabs, T rows, T along) {
    if (at_end || i == fine.n[0]) {
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
  auto const run = [&]<int AtATime>(std::integral_constant<int, AtATime>, auto const& launch) {
    int const most = teams_at_a_time(exec, AtATime);
    auto const tiling = Tiling::for_teams(coarse.n, Step::coarse_rows, Step::coarse_columns, most);
    // No more teams than run at a time, because a single warp joins their sums one after the other.
    int const teams = std::min(tiling.teams(), most);
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Step::threads, AtATime>>;
    launch(Policy(exec, teams, Step::threads)
               .set_scratch_size(0, Kokkos::PerTeam(Step::scratch_bytes + 64)),
           Step{fine, coarse, tiling, teams});
  };
  double squares = 0;
  // By measurement on an H100.
  if (measure)
    run(std::integral_constant<int, 4>(), [&](auto const& policy, Step const& step) {
      Kokkos::parallel_reduce("coir::poisson::restrict_columns/restrict_and_measure", policy, step,
                              Kokkos::Sum<double>(squares));
    });
  else
    run(std::integral_constant<int, 3>(), [&](auto const& policy, Step const& step) {
      Kokkos::parallel_for("coir::poisson::restrict_columns/restrict", policy, step);
    });
  return squares;
}

}  // namespace coir::poisson::detail
