#pragma once

/// The parts of a multigrid cycle cell by cell, as devices run them.
///
/// Each is called with the indices (slab, row, column) of a cell, from 1 on. Cells may be computed
/// in any order.

#include "grid_level.hpp"

#include <coir/core/loops.hpp>

namespace coir::poisson::detail {

/// Lets a callable on (slab, row, column) run over a 2-D box.
template <class Body>
struct OnCells {
  static constexpr bool reads_no_neighbours = requires { requires Body::reads_no_neighbours; };
  Body body;
  template <class... Sum>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int k, Sum&... sum) const {
    body(i, j, k, sum...);
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int k) const { body(i, 1, k); }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int k, double& sum) const {
    body(i, 1, k, sum);
  }
};

/// The cells of a grid, as a box of rank 2 or 3.
template <class T, int Rank>
auto box_of(Level<T, Rank> const& level) {
  if constexpr (Rank == 2)
    return box({1, 1}, {level.n[0] + 1, level.n[2] + 1});
  else
    return box({1, 1, 1}, {level.n[0] + 1, level.n[1] + 1, level.n[2] + 1});
}

template <class T, int Rank>
struct Clear {
  static constexpr bool reads_no_neighbours = true;
  Level<T, Rank> level;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int k) const {
    *level.u_at(i, j, k) = 0;
  }
};

/// One colour's half of a red-black sweep. Columns count cells of that colour: 1 to (n + 1) / 2.
template <class T, int Rank>
struct RelaxColour {
  Level<T, Rank> level;
  T omega;
  int colour;
  T plain_step;  // of cells with the plain stencil: devices are slow at divisions

  KOKKOS_FUNCTION RelaxColour(Level<T, Rank> const& level_, T omega_, int colour_)
      : level(level_), omega(omega_), colour(colour_), plain_step(omega_ / T(2 * Rank)) {}

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int pair) const {
    int const k = first_column(i, j, colour) + 2 * (pair - 1);
    if (k > level.n[2]) return;
    T* const u = level.u_at(i, j, k);
    T const source = level.b[level.b_offset(i, j, k)];
    if (level.has_plain_stencil(i, j, k)) {
      *u += plain_step * level.plain_defect(u, source);
    } else {
      Stencil<T> const stencil = level.stencil(i, j, k);
      *u += omega / stencil.diagonal * level.defect(u, source, stencil);
    }
  }
};

/// The first step from u = 0. Jacobi changes all cells; red-black relaxation changes those of the
/// first colour and sets the others to zero.
template <class T, int Rank>
struct RelaxZero {
  static constexpr bool reads_no_neighbours = true;
  Level<T, Rank> level;
  T omega;
  bool both_colours;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int k) const {
    T const step = -omega / level.stencil(i, j, k).diagonal;
    bool const moves = both_colours || colour_of(i, j, k) == 0;
    *level.u_at(i, j, k) = moves ? step * level.b[level.b_offset(i, j, k)] : T(0);
  }
};

/// A damped Jacobi sweep into the level's scratch.
template <class T, int Rank>
struct JacobiStep {
  Level<T, Rank> level;
  T omega;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int k) const {
    Stencil<T> const stencil = level.stencil(i, j, k);
    T const* const u = level.u_at(i, j, k);
    *level.scratch_at(i, j, k) =
        *u + omega / stencil.diagonal * level.defect(u, level.b[level.b_offset(i, j, k)], stencil);
  }
};

template <class T, int Rank>
struct TakeScratch {
  static constexpr bool reads_no_neighbours = true;
  Level<T, Rank> level;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int k) const {
    *level.u_at(i, j, k) = *level.scratch_at(i, j, k);
  }
};

/// A coarse cell's share of the fine residual, or of the fine source.
template <class T, int Rank>
struct Restrict {
  Level<T, Rank> fine, coarse;
  bool of_source;

  KOKKOS_FORCEINLINE_FUNCTION T share_of(int axis, int I, int offset) const {
    return share(offset, I == coarse.n[axis], coarse.ghost[axis]);
  }
  // The fine cells 2 I - 1 to 2 I + reach exist and have a share in coarse cell I.
  KOKKOS_FORCEINLINE_FUNCTION int reach(int axis, int I) const {
    int const exist = fine.n[axis] - 2 * I;
    int const count = I == coarse.n[axis] ? 2 : 1;
    return exist < count ? exist : count;
  }

  KOKKOS_FORCEINLINE_FUNCTION T row(int i, int j, int K) const {
    T sum = 0;
    int const end = reach(2, K);
    for (int c = -1; c <= end; ++c) {
      int const k = 2 * K + c;
      T r = fine.b[fine.b_offset(i, j, k)];
      if (!of_source)
        r = fine.has_plain_stencil(i, j, k)
                ? -fine.plain_defect(fine.u_at(i, j, k), r)
                : -fine.defect(fine.u_at(i, j, k), r, fine.stencil(i, j, k));
      sum += share_of(2, K, c) * r;
    }
    return sum;
  }

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int I, int J, int K) const {
    T sum = 0;
    int const slabs = reach(0, I);
    for (int a = -1; a <= slabs; ++a) {
      T const slab_share = share_of(0, I, a);
      if constexpr (Rank == 2) {
        sum += slab_share * row(2 * I + a, 1, K);
      } else {
        int const rows = reach(1, J);
        for (int c = -1; c <= rows; ++c)
          sum += slab_share * share_of(1, J, c) * row(2 * I + a, 2 * J + c, K);
      }
    }
    coarse.restricted[coarse.b_offset(I, J, K)] = restriction_scale<T, Rank> * sum;
  }
};

/// Adds the interpolated coarse u to the fine one, or sets it.
template <class T, int Rank>
struct Interpolate {
  Level<T, Rank> coarse, fine;
  bool set;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int k) const {
    Between<T> const slab = between(i, coarse.n[0], coarse.ghost[0]);
    Between<T> const column = between(k, coarse.n[2], coarse.ghost[2]);
    auto const along = [&](T const* c) { return column.lower * c[0] + column.upper * c[1]; };
    T sum;
    if constexpr (Rank == 2) {
      T const* const c = coarse.u_at(slab.index, 1, column.index);
      sum = slab.lower * along(c) + slab.upper * along(c + coarse.u_slab);
    } else {
      Between<T> const row = between(j, coarse.n[1], coarse.ghost[1]);
      T const* const c = coarse.u_at(slab.index, row.index, column.index);
      T const* const d = c + coarse.u_slab;
      sum = slab.lower * (row.lower * along(c) + row.upper * along(c + coarse.u_row)) +
            slab.upper * (row.lower * along(d) + row.upper * along(d + coarse.u_row));
    }
    T* const u = fine.u_at(i, j, k);
    *u = set ? sum : *u + sum;
  }
};

/// The square of a cell's residual, for a sum in double.
template <class T, int Rank>
struct SquaredDefect {
  Level<T, Rank> level;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int k, double& sum) const {
    T const source = level.b[level.b_offset(i, j, k)];
    double const r = level.defect(level.u_at(i, j, k), source, level.stencil(i, j, k));
    sum += r * r;
  }
};

template <class T, int Rank>
struct SquaredSourceWithRing {
  Level<T, Rank> level;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i, int j, int k, double& sum) const {
    double const r = level.source_with_ring(i, j, k);
    sum += r * r;
  }
};

}  // namespace coir::poisson::detail
