// The arithmetic of multigrid cycles and red-black sweeps on hosts.

#include "host_slabs.hpp"

#include "row_relaxation.hpp"
#include "transfer_cells.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace coir::poisson::detail {

namespace {

/// Sum of a row, in an order that depends on its length alone.
inline double sum_of(double const* x, int n) {
  constexpr int lanes = 32;
  double lane[lanes] = {};
  int k = 0;
  for (; k + lanes <= n; k += lanes)
    for (int l = 0; l < lanes; ++l) lane[l] += x[k + l];
  for (int l = 0; k < n; ++k, ++l) lane[l] += x[k];
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

/// A Jacobi step from zero for the cells that relax_zero_row() sets to zero: those of colour 1.
template <class T, int Rank>
void relax_zero_other(Level<T, Rank> const& level, int i, int j, T omega) {
  int const n = level.n[2];
  T* const u = level.u_at(i, j, 0);
  T const* const b = level.b + level.b_offset(i, j, 0);
  for (int k = first_column(i, j, 1); k <= n; k += 2)
    u[k] = -omega / level.stencil(i, j, k).diagonal * b[k];
}

/// A cell's residual or, with OfSource, its source.
template <bool OfSource, class T, int Rank>
KOKKOS_FORCEINLINE_FUNCTION T residual(Level<T, Rank> const& grid, T const* u, T b,
                                       Stencil<T> const& stencil) {
  return OfSource ? b : -grid.defect(u, b, stencil);
}

template <class T, int Rank>
void restrict_row(Level<T, Rank> const& fine, Level<T, Rank> const& coarse, T const* sum, int I,
                  int J) {
  constexpr T scale = restriction_scale<T, Rank>;
  int const n = coarse.n[2];
  T* const out = coarse.restricted + coarse.b_offset(I, J, 0);
  T const* const s = sum - 1;  // 1-based, as the columns
  restrict_cells(s, out, n, scale);
  T last = s[2 * n] + T(0.5) * s[2 * n - 1];
  for (int offset = 1; offset <= 2 && 2 * n + offset <= fine.n[2]; ++offset)
    last += share(offset, true, coarse.ghost[2]) * s[2 * n + offset];
  out[n] = scale * last;
}

/// Prefetches a stage's part of row j in the slab ahead of slab i. Relaxation of a slab also reads
/// the unknown of the next slab, so that the source is needed one slab later.
template <class T, int Rank>
Soon<T> soon(Level<T, Rank> const& level, int i, int j, Ahead const& ahead) {
  int const slab = i + ahead.slabs;
  if (ahead.slabs == 0 || slab > level.n[0]) return {};
  int const first = 1 + (level.n[2] >> ahead.shift) * ahead.share;
  return {level.u_at(slab, j, first), level.b + level.b_offset(slab - 1, j, first), ahead.shift};
}

}  // namespace

template <class T, int Rank>
HostSlabs<T, Rank>::HostSlabs(int bands, Grid const& finest)
    : row_(static_cast<std::size_t>(finest.n[2]) + 2),
      rows_(static_cast<std::size_t>(bands) * 4 * row_),
      squares_(static_cast<std::size_t>(bands) * row_),
      sums_(static_cast<std::size_t>(finest.n[0]) + 1) {}

template <class T, int Rank>
T* HostSlabs<T, Rank>::row(int band, int which) {
  return rows_.data() + (static_cast<std::size_t>(band) * 4 + which) * row_;
}

template <class T, int Rank>
double* HostSlabs<T, Rank>::squares(int band) {
  return squares_.data() + static_cast<std::size_t>(band) * row_;
}

template <class T, int Rank>
double HostSlabs<T, Rank>::total(int slabs) const {
  double sum = 0;
  for (int i = 1; i <= slabs; ++i) sum += sums_[i];
  return sum;
}

template <class T, int Rank>
void HostSlabs<T, Rank>::smooth(Grid const& level, Smoothing<T> const& how, bool from_zero,
                                int stage, int i, RowRange rows, bool watched,
                                Ahead const& ahead) const {
  for (int j = rows.begin; j < rows.end; ++j) {
    if (how.red_black && stage == 0 && from_zero) {
      relax_zero_row(level, i, j, 0, how.omega);
    } else if (how.red_black) {
      relax_row(level, i, j, stage % 2, how.omega, watched, soon(level, i, j, ahead));
    } else if (stage == 0 && from_zero) {
      relax_zero_row(level, i, j, 0, how.omega);
      relax_zero_other(level, i, j, how.omega);
    } else if (stage % 2 == 0) {
      jacobi_row(level, i, j, how.omega);
    } else if (stage > 1 || !from_zero) {
      take_scratch_row(level, i, j);
    }
  }
}

// Adds the residual (or source) of row (i, j) times `share` to `out`; columns count from 0. With
// Measure the squares are added to squares(band). With `set` both are cleared before.
template <class T, int Rank>
template <bool OfSource, bool Measure>
void HostSlabs<T, Rank>::add_row(int band, Grid const& grid, int i, int j, T share, bool set,
                                 T* out) {
  int const n = grid.n[2];
  T const* const u = grid.u_at(i, j, 1);
  T const* const b = grid.b + grid.b_offset(i, j, 1);
  double* const square = squares(band);
  if (set) std::fill_n(out, n, T(0));
  if (Measure && set) std::fill_n(square, n, 0.0);
  Stencil<T> const inner = grid.stencil(i, j, 0);
  COIR_INDEPENDENT_ITERATIONS
  for (int k = 0; k < n - 1; ++k) {
    T const r = residual<OfSource>(grid, u + k, b[k], inner);
    out[k] += share * r;
    if (Measure) square[k] += double(r) * double(r);
  }
  T const r = residual<OfSource>(grid, u + n - 1, b[n - 1], grid.stencil(i, j, n));
  out[n - 1] += share * r;
  if (Measure) square[n - 1] += double(r) * double(r);
}

// Sets `out` to the sum of the residuals of row j in the slabs i - 1, i and i + 1, times 1/2, 1 and
// 1/2. One loop computes all three, since they load nearly the same numbers. None of these slabs
// may be the last. With Measure the squares of the first two are added to squares(band).
template <class T, int Rank>
template <bool OfSource, bool Measure>
void HostSlabs<T, Rank>::set_three_rows(int band, Grid const& grid, int i, int j, T* out) {
  int const n = grid.n[2];
  T const* const u = grid.u_at(i, j, 1);
  T const* const b = grid.b + grid.b_offset(i, j, 1);
  std::ptrdiff_t const u_slab = grid.u_slab, b_slab = grid.b_slab;
  double* const square = squares(band);
  Stencil<T> const inner = grid.stencil(i, j, 0);
  COIR_INDEPENDENT_ITERATIONS
  for (int k = 0; k < n - 1; ++k) {
    T const before = residual<OfSource>(grid, u + k - u_slab, b[k - b_slab], inner);
    T const middle = residual<OfSource>(grid, u + k, b[k], inner);
    T const after = residual<OfSource>(grid, u + k + u_slab, b[k + b_slab], inner);
    out[k] = middle + T(0.5) * (before + after);
    if (Measure) square[k] = double(before) * double(before) + double(middle) * double(middle);
  }
  Stencil<T> const last = grid.stencil(i, j, n);
  T const* const end = u + n - 1;
  T const before = residual<OfSource>(grid, end - u_slab, b[n - 1 - b_slab], last);
  T const middle = residual<OfSource>(grid, end, b[n - 1], last);
  T const after = residual<OfSource>(grid, end + u_slab, b[n - 1 + b_slab], last);
  out[n - 1] = middle + T(0.5) * (before + after);
  if (Measure) square[n - 1] = double(before) * double(before) + double(middle) * double(middle);
}

// Restricts the residual (or source) to coarse slab I.
template <class T, int Rank>
template <bool OfSource, bool Measure>
void HostSlabs<T, Rank>::restrict_slab(int band, Grid const& fine, Grid const& coarse, int I,
                                       RowRange rows) {
  bool const is_last = I == coarse.n[0];
  int const first_row = Rank == 2 ? 1 : (rows.begin + 1) / 2;
  if (Rank == 3 && 2 * first_row >= rows.end) return;
  double squared = Measure && first_row > 1 ? sums_[I] : 0;
  auto const sum_row = [&]<bool Squares>(int j, T* out) {
    if (!is_last) {
      set_three_rows<OfSource, Squares>(band, fine, 2 * I, j, out);
    } else {
      int const end = std::min(fine.n[0], 2 * I + 2);
      for (int i = 2 * I - 1; i <= end; ++i)
        add_row<OfSource, Squares>(band, fine, i, j, share(i - 2 * I, true, coarse.ghost[0]),
                                   i == 2 * I - 1, out);
    }
  };
  auto const row_sum = [&](int j, T* out) {
    sum_row.template operator()<Measure>(j, out);
    if (Measure) squared += sum_of(squares(band), fine.n[2]);
  };

  if constexpr (Rank == 2) {
    row_sum(1, row(band, 0));
    restrict_row(fine, coarse, row(band, 0), I, 1);
  } else {
    T* before = row(band, 0);
    T* next = row(band, 1);
    T* const sum = row(band, 2);
    T* const extra = row(band, 3);
    // The row before those of an earlier call was summed there.
    if (first_row == 1)
      row_sum(1, before);
    else
      sum_row.template operator()<false>(2 * first_row - 1, before);
    for (int J = first_row; 2 * J < rows.end && J <= coarse.n[1]; ++J) {
      bool const last_row = J == coarse.n[1];
      row_sum(2 * J, sum);
      bool const has_next = 2 * J + 1 <= fine.n[1];
      T const share_before = T(0.5), share_next = share(1, last_row, coarse.ghost[1]);
      if (has_next) row_sum(2 * J + 1, next);
      if (has_next)
        for (int k = 0; k < fine.n[2]; ++k)
          sum[k] += share_before * before[k] + share_next * next[k];
      else
        for (int k = 0; k < fine.n[2]; ++k) sum[k] += share_before * before[k];
      if (last_row && 2 * J + 2 <= fine.n[1]) {
        row_sum(2 * J + 2, extra);
        T const share_extra = share(2, true, coarse.ghost[1]);
        for (int k = 0; k < fine.n[2]; ++k) sum[k] += share_extra * extra[k];
      }
      restrict_row(fine, coarse, sum, I, J);
      std::swap(before, next);
    }
  }
  if (Measure) sums_[I] = squared;
}

template <class T, int Rank>
template <bool Set>
void HostSlabs<T, Rank>::interpolate_slab(int band, Grid const& coarse, Grid const& fine, int i,
                                          RowRange range) {
  Between<T> const slabs = between(i, coarse.n[0], coarse.ghost[0]);
  int const n = coarse.n[2];
  T* const c = row(band, 0);
  for (int j = range.begin; j < range.end; ++j) {
    if constexpr (Rank == 2) {
      T const* const lower = coarse.u_at(slabs.index, 1, 0);
      T const* const upper = lower + coarse.u_slab;
      for (int k = 1; k <= n; ++k) c[k] = slabs.lower * lower[k] + slabs.upper * upper[k];
    } else {
      Between<T> const rows = between(j, coarse.n[1], coarse.ghost[1]);
      T const* const lower = coarse.u_at(slabs.index, rows.index, 0);
      T const* const upper = lower + coarse.u_slab;
      std::ptrdiff_t const next = coarse.u_row;
      for (int k = 1; k <= n; ++k)
        c[k] = slabs.lower * (rows.lower * lower[k] + rows.upper * lower[k + next]) +
               slabs.upper * (rows.lower * upper[k] + rows.upper * upper[k + next]);
    }
    c[0] = 0;
    c[n + 1] = coarse.ghost[2] * c[n];
    T* const u = fine.u_at(i, j, 0);
    int const pairs = fine.n[2] / 2;
    interpolate_cells<Set>(c, u, pairs);
    if (fine.n[2] % 2 != 0)
      u[fine.n[2]] = (Set ? T(0) : u[fine.n[2]]) + T(0.5) * (c[pairs] + c[pairs + 1]);
  }
}

template <class T, int Rank>
void HostSlabs<T, Rank>::restrict_residual(int band, Grid const& fine, Grid const& coarse, int I,
                                           RowRange rows, bool measure) {
  if (measure)
    restrict_slab<false, true>(band, fine, coarse, I, rows);
  else
    restrict_slab<false, false>(band, fine, coarse, I, rows);
}

template <class T, int Rank>
void HostSlabs<T, Rank>::restrict_source(int band, Grid const& fine, Grid const& coarse, int I) {
  restrict_slab<true, false>(band, fine, coarse, I, {1, fine.n[1] + 1});
}

template <class T, int Rank>
void HostSlabs<T, Rank>::interpolate(int band, Grid const& coarse, Grid const& fine, int i,
                                     RowRange rows, bool set) {
  if (set)
    interpolate_slab<true>(band, coarse, fine, i, rows);
  else
    interpolate_slab<false>(band, coarse, fine, i, rows);
}

template <class T, int Rank>
void HostSlabs<T, Rank>::measure_residual(int band, Grid const& level, int i) {
  double sum = 0;
  for (int j = 1; j <= level.n[1]; ++j) {
    add_row<false, true>(band, level, i, j, T(1), true, row(band, 0));
    sum += sum_of(squares(band), level.n[2]);
  }
  sums_[i] = sum;
}

template <class T, int Rank>
void HostSlabs<T, Rank>::measure_source(int band, Grid const& level, int i) {
  int const n = level.n[2];
  double* const square = squares(band);
  double sum = 0;
  for (int j = 1; j <= level.n[1]; ++j) {
    T const* const b = level.b + level.b_offset(i, j, 1);
    bool const at_ring = i == 1 || i == level.n[0] || (Rank == 3 && (j == 1 || j == level.n[1]));
    auto const with_ring = [&](int k) {
      double const r = level.source_with_ring(i, j, k);
      square[k - 1] = r * r;
    };
    if (at_ring) {
      for (int k = 1; k <= n; ++k) with_ring(k);
    } else {
      for (int k = 0; k < n; ++k) square[k] = double(b[k]) * double(b[k]);
      with_ring(1);
      with_ring(n);
    }
    sum += sum_of(square, n);
  }
  sums_[i] = sum;
}

template class HostSlabs<float, 2>;
template class HostSlabs<float, 3>;
template class HostSlabs<double, 2>;
template class HostSlabs<double, 3>;

}  // namespace coir::poisson::detail
