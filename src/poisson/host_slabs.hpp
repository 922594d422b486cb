#pragma once

/// \file
/// The arithmetic of a multigrid cycle on hosts, a slab at a time.

#include "grid_level.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::poisson::detail {

/// What a pipeline comes to next: slabs so far ahead of the one that is relaxed. 2^shift stages of relaxation
/// share the work of asking for their memory, and this is number `share` of them. None, if `slabs` is 0.
struct Ahead {
  int slabs = 0;
  int share = 0;
  int shift = 0;
};

/// What the passes over a level do to its slabs 1 to n[0], with scratch rows for bands that run at the same
/// time: a band's calls follow each other.
///
/// Compiled in the library alone (src/poisson/host_slabs.cpp), without contraction of products and sums: each
/// formula has one copy, and so the same bits, in whatever pass, band, thread and execution space.
template <class T, int Rank>
class HostSlabs {
 public:
  using Grid = Level<T, Rank>;

  /// \param bands  the most that will run at the same time
  HostSlabs(int bands, Grid const& finest);

  /// What the constructor allocates.
  static std::int64_t bytes(int bands, int const (&n)[3]);

  /// A stage of relaxation. A sweep is two: red then black, or out of place and back.
  ///
  /// \param watched  other threads may read the slab meanwhile, though not what the stage changes
  /// \param ahead    is asked for meanwhile
  void smooth(Grid const& level, Smoothing<T> const& how, bool from_zero, int stage, int i,
              bool watched, Ahead const& ahead) const;

  /// Coarse slab I of the restricted residual; with `measure` the square of the residual in the fine slabs
  /// that belong to it counts in total().
  void restrict_residual(int band, Grid const& fine, Grid const& coarse, int I, bool measure);

  /// Coarse slab I of the restricted source.
  void restrict_source(int band, Grid const& fine, Grid const& coarse, int I);

  /// Adds the interpolated coarse u to slab i of the fine one, or sets it.
  void interpolate(int band, Grid const& coarse, Grid const& fine, int i, bool set);

  /// The square of the residual in slab i counts in total().
  void measure_residual(int band, Grid const& level, int i);

  /// The square of what the residual is without an unknown, but with the ring.
  void measure_source(int band, Grid const& level, int i);

  /// The sum of what was measured in slabs 1 to `slabs`, in their order.
  double total(int slabs) const;

 private:
  T* row(int band, int which);
  double* squares(int band);

  template <bool OfSource, bool Measure>
  void add_row(int band, Grid const& grid, int i, int j, T share, bool set, T* out);
  template <bool OfSource, bool Measure>
  void set_three_rows(int band, Grid const& grid, int i, int j, T* out);
  template <bool OfSource, bool Measure>
  void restrict_slab(int band, Grid const& fine, Grid const& coarse, int I);
  template <bool Set>
  void interpolate_slab(int band, Grid const& coarse, Grid const& fine, int i);

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
