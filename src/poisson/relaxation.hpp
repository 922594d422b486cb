#pragma once

/// The theory of Jacobi's method and of over-relaxation on a box.

#include <cstdint>

namespace coir::poisson::detail {

/// Spectral radius of Jacobi's method on a box, whose extents needn't be whole.
double jacobi_radius(double const* extents, int rank);

/// The best omega of successive over-relaxation, for this spectral radius of Jacobi's method.
double best_omega(double jacobi_radius);

/// The number of sweeps at omega during which the residual may rise before it falls. A residual
/// that doesn't fall after that is a sign of rounding.
std::int64_t transient_sweeps(double omega, double jacobi_radius);

}  // namespace coir::poisson::detail
