#pragma once

/// Bins of |k|, bounded by whole numbers, so that rounding doesn't move a mode to another bin.

#include <coir/mesh/power_spectrum.hpp>

#include <cstdint>
#include <vector>

namespace coir::mesh::detail {

/// Mode k is in bin b if first[b] <= |q|^2 < first[b + 1]. The components of q = k / k_f are whole
/// numbers.
struct SpectrumBins {
  std::vector<std::int64_t> first{};
  std::vector<double> middle{};  ///< in units of k_f

  std::int64_t count() const { return static_cast<std::int64_t>(middle.size()); }
};

/// The bins of a mesh's modes.
///
/// \throws PreconditionError naming the option that is out of its range
SpectrumBins spectrum_bins(Shape<3> const& shape, double box, PowerSpectrumOptions const& options);

/// The factors that undo the effect of assignment on the power along an axis of n cells:
/// sinc(pi q / n)^(-2 p) for each wave q, or 1 without options.compensate.
///
/// \param waves  n, or n / 2 + 1 for the last axis
std::vector<double> compensation(std::int64_t n, std::int64_t waves,
                                 PowerSpectrumOptions const& options);

}  // namespace coir::mesh::detail
