#pragma once

/// \file
/// From derivatives with respect to what initial conditions are computed with to those with respect to parameters.

#include "lagrangian_factors.hpp"

#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>

#include <cstdint>
#include <vector>

namespace coir::nbody::detail {

/// The derivatives of a loss J with respect to all that initial conditions take from the cosmology.
struct StartSlopes {
  LagrangianFactors<double> factors{};
  std::vector<double> log_amplitude;  ///< of the nodes of the AmplitudeTable
};

/// dJ / d parameter: the sum of the slopes times the derivatives of what they belong to.
///
/// \throws PreconditionError if the spectrum is a table
cosmology::Parameters<double> slope_of_parameters(StartSlopes const& slopes,
                                                  cosmology::LinearPower<double> const& power,
                                                  std::int64_t side, double box, double a);

}  // namespace coir::nbody::detail
