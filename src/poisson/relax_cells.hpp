#pragma once

/// Relaxation of every second cell of a row, in vectors.

#include <cstddef>

namespace coir::poisson::detail {

/// A row whose cells have one stencil: cell k is u[k], and its source b[k]. Its neighbours along
/// the other axes lie `slab` numbers away and, in 3-D, `row` numbers.
template <class T>
struct StencilRow {
  T* u;
  T const* b;
  std::ptrdiff_t slab, row;
  T along, slabs, rows, diagonal;  // as in Stencil
};

/// Memory that is needed soon. Relaxation of n cells of a row prefetches n / 2^shift numbers from
/// each of these pointers on.
template <class T>
struct Soon {
  T const* u = nullptr;
  T const* b = nullptr;
  int shift = 0;
};

/// Moves the cells first, first + 2, ... below `end` by `step` times L u - b, which is
///
///   along (u[k-1] + u[k+1]) + slabs (u[k-slab] + u[k+slab]) + rows (u[k-row] + u[k+row]) - b[k] -
///   diagonal u[k]
///
/// in this order, in 2-D without rows.
///
/// Compilers would store every second cell one by one. This function computes all cells in vectors,
/// and stores the others as they were, which is faster.
///
/// \param watched  whether other threads may read the other cells, so that these must not be stored
/// \param soon     prefetched unless its pointers are null
template <class T, int Rank>
void relax_cells(StencilRow<T> const& row, int first, int end, T step, bool watched,
                 Soon<T> const& soon);

extern template void relax_cells<float, 2>(StencilRow<float> const&, int, int, float, bool,
                                           Soon<float> const&);
extern template void relax_cells<float, 3>(StencilRow<float> const&, int, int, float, bool,
                                           Soon<float> const&);
extern template void relax_cells<double, 2>(StencilRow<double> const&, int, int, double, bool,
                                            Soon<double> const&);
extern template void relax_cells<double, 3>(StencilRow<double> const&, int, int, double, bool,
                                            Soon<double> const&);

}  // namespace coir::poisson::detail
