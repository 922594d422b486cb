#pragma once

/// Relaxation of one row of a grid, on hosts.

#include "grid_level.hpp"
#include "relax_cells.hpp"

#include <coir/core/loops.hpp>

#include <algorithm>

namespace coir::poisson::detail {

/// Moves the cells of one colour by omega times the step that would solve their own equation.
///
/// \param watched  whether other threads may read the other colour meanwhile
/// \param soon     see relax_cells
template <class T, int Rank>
void relax_row(Level<T, Rank> const& level, int i, int j, int colour, T omega, bool watched,
               Soon<T> const& soon) {
  int const n = level.n[2];
  T* const u = level.u_at(i, j, 0);
  T const* const b = level.b + level.b_offset(i, j, 0);
  Stencil<T> const inner = level.stencil(i, j, 0);
  int const first = first_column(i, j, colour);
  relax_cells<T, Rank>(
      {u, b, level.u_slab, level.u_row, inner.along, inner.slabs, inner.rows, inner.diagonal},
      first, n, omega / inner.diagonal, watched, soon);
  if ((n - first) % 2 == 0 && n >= first) {
    Stencil<T> const last = level.stencil(i, j, n);
    u[n] += omega / last.diagonal * level.defect(u + n, b[n], last);
  }
}

/// relax_row() from u = 0, whatever u's memory holds: the cells of the other colour become zero.
template <class T, int Rank>
void relax_zero_row(Level<T, Rank> const& level, int i, int j, int colour, T omega) {
  int const n = level.n[2];
  T* const u = level.u_at(i, j, 0);
  T const* const b = level.b + level.b_offset(i, j, 0);
  T const step = omega / level.stencil(i, j, 0).diagonal;
  int const first = first_column(i, j, colour);
  T const odd = first == 1 ? -step : T(0), even = first == 2 ? -step : T(0);
  COIR_INDEPENDENT_ITERATIONS
  for (int k = 1; k < n; k += 2) {
    u[k] = odd * b[k];
    u[k + 1] = even * b[k + 1];
  }
  u[n] = (n - first) % 2 == 0 ? -omega / level.stencil(i, j, n).diagonal * b[n] : T(0);
}

/// Makes one row of a damped Jacobi sweep in the level's scratch.
template <class T, int Rank>
void jacobi_row(Level<T, Rank> const& level, int i, int j, T omega) {
  int const n = level.n[2];
  T const* const u = level.u_at(i, j, 0);
  T const* const b = level.b + level.b_offset(i, j, 0);
  T* const moved = level.scratch_at(i, j, 0);
  Stencil<T> const inner = level.stencil(i, j, 0), last = level.stencil(i, j, n);
  T const step = omega / inner.diagonal;
  COIR_INDEPENDENT_ITERATIONS
  for (int k = 1; k < n; ++k) moved[k] = u[k] + step * level.defect(u + k, b[k], inner);
  moved[n] = u[n] + omega / last.diagonal * level.defect(u + n, b[n], last);
}

template <class T, int Rank>
void take_scratch_row(Level<T, Rank> const& level, int i, int j) {
  std::copy_n(level.scratch_at(i, j, 1), level.n[2], level.u_at(i, j, 1));
}

}  // namespace coir::poisson::detail
