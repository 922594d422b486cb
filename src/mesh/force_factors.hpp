#pragma once

/// Factors by which the force multiplies modes, axis by axis.

#include <coir/mesh/force_kernel.hpp>

#include <cstdint>
#include <vector>

namespace coir::mesh::detail {

/// A factor for each wave along an axis.
struct ForceFactors {
  std::vector<double> square{};     ///< k^2
  std::vector<double> laplacian{};  ///< the share of K^2, as the kernel discretises the Laplacian
  std::vector<double> window{};     ///< the inverse of the window of painting and readout by cic
};

/// The factors along one axis.
///
/// \param cells  cells along the axis
/// \param waves  cells, or cells / 2 + 1 for the last axis
/// \param box    length of the box
ForceFactors force_factors(std::int64_t cells, std::int64_t waves, double box, ForceKernel kernel);

}  // namespace coir::mesh::detail
