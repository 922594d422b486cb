#pragma once

/// Interpolation and restriction along a row, in vectors.

namespace coir::poisson::detail {

/// Adds the coarse row c, interpolated linearly, to a fine one: for 1 <= k <= pairs
///
///   u[2k-1] += (c[k-1] + c[k]) / 2,  u[2k] += c[k]
///
/// \tparam Set  sets u in place of adding to it
template <bool Set, class T>
void interpolate_cells(T const* c, T* u, int pairs);

/// Restricts a fine row r to a coarse one by the transpose of interpolate_cells(): for 1 <= k < end
///
///   out[k] = scale (r[2k] + (r[2k-1] + r[2k+1]) / 2)
template <class T>
void restrict_cells(T const* r, T* out, int end, T scale);

extern template void interpolate_cells<false, float>(float const*, float*, int);
extern template void interpolate_cells<true, float>(float const*, float*, int);
extern template void interpolate_cells<false, double>(double const*, double*, int);
extern template void interpolate_cells<true, double>(double const*, double*, int);
extern template void restrict_cells<float>(float const*, float*, int, float);
extern template void restrict_cells<double>(double const*, double*, int, double);

}  // namespace coir::poisson::detail
