#pragma once

/// \file
/// The parts of a multigrid cycle on hosts, each one pass over the memory of a level.

#include <coir/poisson/detail/multigrid_cells.hpp>
#include <coir/poisson/detail/row_relaxation.hpp>
#include <coir/poisson/detail/slab_pipeline.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace coir::poisson::detail {

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

template <class Exec, class T, int Rank>
class HostPasses {
 public:
  using Grid = Level<T, Rank>;

  /// \param finest  bounds the size of every level
  HostPasses(Exec const& exec, Grid const& finest)
      : exec_(exec),
        row_(static_cast<std::size_t>(finest.n[2]) + 2),
        rows_(static_cast<std::size_t>(exec.concurrency()) * 4 * row_),
        squares_(static_cast<std::size_t>(exec.concurrency()) * row_),
        sums_(static_cast<std::size_t>(finest.n[0]) + 1) {}

  /// What the constructor allocates.
  static std::int64_t bytes(Exec const& exec, int const (&n)[3]) {
    return exec.concurrency() * (n[2] + 2) * std::int64_t(4 * sizeof(T) + sizeof(double)) +
           (n[0] + 1) * std::int64_t(sizeof(double));
  }

  void begin() const { exec_.fence(); }

  /// Smooths, from u = 0 if `from_zero`.
  void smooth(Grid const& level, Smoothing<T> const& how, bool from_zero) {
    int const at_once = sweeps_at_once(level);
    for (int done = 0; done < how.sweeps; done += at_once) {
      int const stages = 2 * std::min(at_once, how.sweeps - done);
      bool const zero = from_zero && done == 0;
      pipeline("coir::poisson::multigrid/smooth", exec_, level.n[0], stages, bands(level, stages),
               [&](int, int s, int slab) { smooth_slab(level, how, zero, s, slab); });
    }
  }

  /// Smooths `fine`, then restricts its residual to `coarse`.
  ///
  /// \return the squared norm of the residual, if `measure`
  double descend(Grid const& fine, Grid const& coarse, Smoothing<T> const& how, bool from_zero,
                 bool measure) {
    // The restriction reads two slabs on either side, hence one idle stage before it.
    int const last = 2 * how.sweeps + 1;
    pipeline("coir::poisson::multigrid/descend", exec_, fine.n[0], last + 1, bands(fine, last + 1),
             [&](int band, int s, int slab) {
               if (s + 1 < last)
                 smooth_slab(fine, how, from_zero, s, slab);
               else if (s < last || slab % 2 != 0 || slab / 2 > coarse.n[0])
                 return;
               else if (measure)
                 restrict_slab<false, true>(band, fine, coarse, slab / 2);
               else
                 restrict_slab<false, false>(band, fine, coarse, slab / 2);
             });
    return measure ? total(coarse.n[0]) : 0;
  }

  /// Restricts the source, which is the residual of u = 0.
  void restrict_source(Grid const& fine, Grid const& coarse) {
    pipeline(
        "coir::poisson::multigrid/restrict_source", exec_, coarse.n[0], 1, bands(coarse, 1),
        [&](int band, int, int slab) { restrict_slab<true, false>(band, fine, coarse, slab); });
  }

  /// Adds the interpolated coarse u to the fine one, or sets it, then smooths.
  void ascend(Grid const& coarse, Grid const& fine, Smoothing<T> const& how, bool set) {
    int const stages = 1 + 2 * how.sweeps;
    pipeline("coir::poisson::multigrid/ascend", exec_, fine.n[0], stages, bands(fine, stages),
             [&](int band, int s, int slab) {
               if (s > 0)
                 smooth_slab(fine, how, false, s - 1, slab);
               else if (set)
                 interpolate_slab<true>(band, coarse, fine, slab);
               else
                 interpolate_slab<false>(band, coarse, fine, slab);
             });
  }

  /// Squared norm of the residual.
  double squared_residual(Grid const& level) {
    return sum_over_rows("residual", level, [&](int band, int i, int j) {
      add_row<false, true>(band, level, i, j, T(1), true, row(band, 0));
    });
  }

  /// Squared norm of what the residual is without an unknown, but with the ring.
  double squared_source(Grid const& level) {
    return sum_over_rows("source", level, [&](int band, int i, int j) {
      int const n = level.n[2];
      double* const square = squares(band);
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
    });
  }

  void clear(Grid const& level) const {
    for_each("coir::poisson::multigrid/clear", exec_, box_of(level),
             OnCells<Clear<T, Rank>>{Clear<T, Rank>{level}});
  }

 private:
  int bands(Grid const& level, int stages) const {
    return pipeline_bands(exec_, level.n[0], level.cells(), stages);
  }
  // As many sweeps as keep their slabs in a core's own cache, and the seams a small part of the work.
  int sweeps_at_once(Grid const& level) const {
    constexpr std::int64_t cache = 512 * 1024;
    std::int64_t const slab = 2 * (std::int64_t(level.n[1]) * level.n[2] + 1) * sizeof(T);
    std::int64_t const in_cache = cache / slab - 2;
    std::int64_t const between_seams = level.n[0] / (16 * std::int64_t(exec_.concurrency()));
    return static_cast<int>(std::max<std::int64_t>(1, std::min(in_cache, between_seams) / 2));
  }
  T* row(int band, int which) { return rows_.data() + (band * std::size_t(4) + which) * row_; }
  double* squares(int band) { return squares_.data() + band * row_; }

  // Calls squares_of_row(band, i, j), which fills squares(band), and sums them all.
  template <class SquaresOfRow>
  double sum_over_rows(char const* step, Grid const& level, SquaresOfRow const& squares_of_row) {
    pipeline(std::string("coir::poisson::multigrid/") + step, exec_, level.n[0], 1, bands(level, 1),
             [&](int band, int, int i) {
               double sum = 0;
               for (int j = 1; j <= level.n[1]; ++j) {
                 squares_of_row(band, i, j);
                 sum += sum_of(squares(band), level.n[2]);
               }
               sums_[i] = sum;
             });
    return total(level.n[0]);
  }

  double total(int slabs) const {
    double sum = 0;
    for (int i = 1; i <= slabs; ++i) sum += sums_[i];
    return sum;
  }

  // A sweep is two stages: red then black, or out of place and back.
  static void smooth_slab(Grid const& level, Smoothing<T> const& how, bool from_zero, int stage,
                          int i) {
    for (int j = 1; j <= level.n[1]; ++j) {
      if (how.red_black && stage == 0 && from_zero) {
        relax_zero_row(level, i, j, 0, how.omega);
      } else if (how.red_black) {
        relax_row(level, i, j, stage % 2, how.omega);
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

  // The other half of a Jacobi sweep from zero.
  static void relax_zero_other(Grid const& level, int i, int j, T omega) {
    int const n = level.n[2];
    T* const u = level.u_at(i, j, 0);
    T const* const b = level.b + level.b_offset(i, j, 0);
    for (int k = first_column(i, j, 1); k <= n; k += 2)
      u[k] = -omega / level.stencil(i, j, k).diagonal * b[k];
  }

  // The residual of a cell, or the source alone.
  template <bool OfSource>
  KOKKOS_FORCEINLINE_FUNCTION static T residual(Grid const& grid, T const* u, T b,
                                                Stencil<T> const& stencil) {
    return OfSource ? b : -grid.defect(u, b, stencil);
  }

  // share times the residual (or source) of row (i, j), into out or added to it; columns count from 0.
  // With Measure its squares go to, or are added to, squares(band).
  template <bool OfSource, bool Measure>
  void add_row(int band, Grid const& grid, int i, int j, T share, bool set, T* out) {
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

  // The residuals of row j of the slabs i - 1 to i + 1, with shares 1/2, 1 and 1/2, all in one loop,
  // as they share most of what they load. Of these slabs none may be the last; the first two are
  // measured.
  template <bool OfSource, bool Measure>
  void set_three_rows(int band, Grid const& grid, int i, int j, T* out) {
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

  // Coarse slab I of the restricted residual (or source).
  template <bool OfSource, bool Measure>
  void restrict_slab(int band, Grid const& fine, Grid const& coarse, int I) {
    bool const is_last = I == coarse.n[0];
    double squared = 0;
    auto const row_sum = [&](int j, T* out) {
      if (!is_last) {
        set_three_rows<OfSource, Measure>(band, fine, 2 * I, j, out);
      } else {
        int const end = std::min(fine.n[0], 2 * I + 2);
        for (int i = 2 * I - 1; i <= end; ++i)
          add_row<OfSource, Measure>(band, fine, i, j, share(i - 2 * I, true, coarse.ghost[0]),
                                     i == 2 * I - 1, out);
      }
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
      row_sum(1, before);
      for (int J = 1; J <= coarse.n[1]; ++J) {
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

  static void restrict_row(Grid const& fine, Grid const& coarse, T const* sum, int I, int J) {
    constexpr T scale = restriction_scale<T, Rank>;
    int const n = coarse.n[2];
    T* const out = coarse.restricted + coarse.b_offset(I, J, 0);
    T const* const s = sum - 1;  // 1-based, as the columns
    for (int k = 1; k < n; ++k)
      out[k] = scale * (s[2 * k] + T(0.5) * (s[2 * k - 1] + s[2 * k + 1]));
    T last = s[2 * n] + T(0.5) * s[2 * n - 1];
    for (int offset = 1; offset <= 2 && 2 * n + offset <= fine.n[2]; ++offset)
      last += share(offset, true, coarse.ghost[2]) * s[2 * n + offset];
    out[n] = scale * last;
  }

  template <bool Set>
  void interpolate_slab(int band, Grid const& coarse, Grid const& fine, int i) {
    Between<T> const slabs = between(i, coarse.n[0], coarse.ghost[0]);
    int const n = coarse.n[2];
    T* const c = row(band, 0);
    for (int j = 1; j <= fine.n[1]; ++j) {
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
      COIR_INDEPENDENT_ITERATIONS
      for (int k = 1; k <= pairs; ++k) {
        u[2 * k - 1] = (Set ? T(0) : u[2 * k - 1]) + T(0.5) * (c[k - 1] + c[k]);
        u[2 * k] = (Set ? T(0) : u[2 * k]) + c[k];
      }
      if (fine.n[2] % 2 != 0)
        u[fine.n[2]] = (Set ? T(0) : u[fine.n[2]]) + T(0.5) * (c[pairs] + c[pairs + 1]);
    }
  }

  Exec exec_;
  std::size_t row_;  // length of a scratch row
  std::vector<T> rows_;
  std::vector<double> squares_;
  std::vector<double> sums_;  // of squares, by slab
};

}  // namespace coir::poisson::detail
