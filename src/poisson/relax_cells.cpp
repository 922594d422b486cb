#include "relax_cells.hpp"

#include <core/simd.hpp>

namespace coir::poisson::detail {

using simd::Simd;

namespace {

/// The new value of a cell, or of a vector of cells.
template <int Rank, class T, class V>
V relaxed(StencilRow<T> const& row, T step, V west, V east, V north, V south, V back, V front,
          V source, V here) {
  V sum = row.along * (west + east) + row.slabs * (north + south);
  if constexpr (Rank == 3) sum += row.rows * (back + front);
  return here + step * ((sum - source) - row.diagonal * here);
}

template <class T, int Rank>
void relax_one(StencilRow<T> const& row, int k, T step) {
  T* const u = row.u + k;
  std::ptrdiff_t const other = Rank == 3 ? row.row : 0;
  *u = relaxed<Rank>(row, step, u[-1], u[1], u[-row.slab], u[row.slab], u[-other], u[other],
                     row.b[k], *u);
}

}  // namespace

template <class T, int Rank>
void relax_cells(StencilRow<T> const& row, int first, int end, T step, bool watched,
                 Soon<T> const& soon) {
  using S = Simd<T>;
  using Vector = typename S::Vector;
  constexpr int width = S::width;
  int k = first;
  if (!watched && end - 1 >= width) {
    // Vectors of all rows begin with column 1, which rows of padded fields have at the beginning of
    // a line of the cache.
    k = 1;
    Vector lane;
    for (int l = 0; l < width; ++l) lane[l] = T((l + first + 1) % 2);
    auto const moves = lane == T(0);
    StencilRow<T> const at = row;  // a copy, so that the compiler sees that no store changes it
    Soon<T> const next = soon;
    // Cells whose part of the next slab is one line of the cache.
    int const line = static_cast<int>(64 / sizeof(T)) << next.shift;
    std::ptrdiff_t const other = Rank == 3 ? at.row : 0;
    // A cell's neighbours in the row don't change, so that vectors loaded before a store are still
    // right. Loading them again would wait for the store.
    Vector before{}, here = S::load(at.u + k);
    before[width - 1] = at.u[k - 1];
    auto const relax = [&](Vector after) {
      T* const u = at.u + k;
      Vector const moved = relaxed<Rank>(
          at, step, S::west(before, here), S::east(here, after), S::load(u - at.slab),
          S::load(u + at.slab), S::load(u - other), S::load(u + other), S::load(at.b + k), here);
      S::store(u, moves ? moved : here);
      if (next.u != nullptr && ((k - 1) & (line - 1)) == 0) {
        __builtin_prefetch(next.u + ((k - 1) >> next.shift), 0, 2);
        __builtin_prefetch(next.b + ((k - 1) >> next.shift), 0, 2);
      }
      before = here;
      here = after;
    };
    for (; k + 2 * width <= end + 1; k += width) relax(S::load(at.u + k + width));
    if (k + width <= end) {  // the row may end before another vector does
      Vector after{};
      after[0] = at.u[k + width];
      relax(after);
      k += width;
    }
    k += first - 1;  // vectors are of an even number of cells
  }
  for (; k < end; k += 2) relax_one<T, Rank>(row, k, step);
}

template void relax_cells<float, 2>(StencilRow<float> const&, int, int, float, bool,
                                    Soon<float> const&);
template void relax_cells<float, 3>(StencilRow<float> const&, int, int, float, bool,
                                    Soon<float> const&);
template void relax_cells<double, 2>(StencilRow<double> const&, int, int, double, bool,
                                     Soon<double> const&);
template void relax_cells<double, 3>(StencilRow<double> const&, int, int, double, bool,
                                     Soon<double> const&);

}  // namespace coir::poisson::detail
