#pragma once

#include "amplitude_table.hpp"
#include "lagrangian_factors.hpp"

#include <coir/core/dual.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>

#include <cstdint>
#include <vector>

namespace coir::nbody::detail {

/// The derivatives of a loss J with respect to the numbers that initial conditions take from the
/// cosmology.
struct StartSlopes {
  LagrangianFactors<double> factors{};
  std::vector<double> log_amplitude;  ///< of the nodes of the AmplitudeTable
};

/// The numbers that initial conditions take from the cosmology, with derivatives with respect to
/// its parameters.
struct VariedStart {
  using Number = Dual<double, cosmology::varied_parameters>;
  LagrangianFactors<Number> factors;
  AmplitudeTable<Number> table;
};

/// \throws PreconditionError if the spectrum is a table
VariedStart varied_start(cosmology::LinearPower<double> const& power, std::int64_t side, double box,
                         double a);

/// dJ / d parameter: the sum of dJ / d number times d number / d parameter over these numbers.
cosmology::Parameters<double> slope_of_parameters(StartSlopes const& slopes,
                                                  VariedStart const& start);

}  // namespace coir::nbody::detail
