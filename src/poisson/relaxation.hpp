#pragma once

/// \file
/// What theory says of Jacobi's method and of over-relaxation on a box.

#include <cstdint>

namespace coir::poisson::detail {

/// Spectral radius of Jacobi's method on a box, whose extents needn't be whole.
double jacobi_radius(double const* extents, int rank);

/// The best omega of successive over-relaxation for it.
double best_omega(double jacobi_radius);

/// For how many sweeps at omega rounding is not to blame if the residual doesn't fall.
std::int64_t transient_sweeps(double omega, double jacobi_radius);

}  // namespace coir::poisson::detail
