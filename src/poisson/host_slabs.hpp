#pragma once

/// The arithmetic of a multigrid cycle on hosts, a slab at a time.

#include "grid_level.hpp"

#include <coir/poisson/detail/slab_pipeline.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::poisson::detail {

/// The memory that a stage of relaxation prefetches: part `share` of 2^shift parts of a slab. This
/// slab is `slabs` ahead of the one that is relaxed. Nothing is prefetched if `slabs` is 0.
struct Ahead {
  int slabs = 0;
  int share = 0;
  int shift = 0;
};

/// The steps of the passes over a level, each for one of its slabs 1 to n[0]. Every band has
/// scratch rows of its own, so that bands may run at the same time, each in one thread.
///
/// The steps are compiled once, in src/poisson/host_slabs.cpp, without contraction of products and
/// sums. So each formula has the same bits in every pass, band, thread and execution space.
template <class T, int Rank>
class HostSlabs {
 public:
  using Grid = Level<T, Rank>;

  /// \param bands  the most that will run at the same time
  HostSlabs(int bands, Grid const& finest);

  /// A stage of relaxation of rows of slab i. A sweep has two stages: red and black, or to the
  /// scratch field and back.
  ///
  /// \param watched  other threads may read the slab meanwhile, except the cells that change
  /// \param ahead    prefetched meanwhile
  void smooth(Grid const& level, Smoothing<T> const& how, bool from_zero, int stage, int i,
              RowRange rows, bool watched, Ahead const& ahead) const;

  /// Restricts the residual to the rows J of coarse slab I for which row 2 J of the fine grid is in
  /// `rows`. Those come in their order, and begin with 1. With `measure` the squares of the
  /// residual in the fine slabs 2 I - 1 and 2 I count in total(); with the last coarse slab, all
  /// fine slabs that follow count, too.
  void restrict_residual(int band, Grid const& fine, Grid const& coarse, int I, RowRange rows,
                         bool measure);

  /// Restricts the source to coarse slab I.
  void restrict_source(int band, Grid const& fine, Grid const& coarse, int I);

  /// Adds the interpolated coarse u to rows of slab i of the fine one, or sets them.
  void interpolate(int band, Grid const& coarse, Grid const& fine, int i, RowRange rows, bool set);

  /// Makes the squares of the residual in slab i count in total().
  void measure_residual(int band, Grid const& level, int i);

  /// Makes the squares of the residual in slab i count in total(), for u = 0 inside with the
  /// caller's boundary values.
  void measure_source(int band, Grid const& level, int i);

  /// The sum of the squares that were measured in slabs 1 to `slabs`, in their order.
  double total(int slabs) const;

 private:
  T* row(int band, int which);
  double* squares(int band);

  template <bool OfSource, bool Measure>
  void add_row(int band, Grid const& grid, int i, int j, T share, bool set, T* out);
  template <bool OfSource, bool Measure>
  void set_three_rows(int band, Grid const& grid, int i, int j, T* out);
  template <bool OfSource, bool Measure>
  void restrict_slab(int band, Grid const& fine, Grid const& coarse, int I, RowRange rows);
  template <bool Set>
  void interpolate_slab(int band, Grid const& coarse, Grid const& fine, int i, RowRange rows);

  std::size_t row_;  // length of a scratch row
  std::vector<T> rows_;
  std::vector<double> squares_;
  std::vector<double> sums_;  // of squares, by slab
};

extern template class HostSlabs<float, 2>;
extern template class HostSlabs<float, 3>;
extern template class HostSlabs<double, 2>;
extern template class HostSlabs<double, 3>;

}  // namespace coir::poisson::detail
