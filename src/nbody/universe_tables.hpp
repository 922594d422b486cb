#pragma once

#include "amplitude_table.hpp"
#include "lagrangian_factors.hpp"

#include <coir/core/dual.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>
#include <coir/cosmology/parameters.hpp>
#include <coir/cosmology/power.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/detail/universe.hpp>

#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

namespace coir::nbody::detail {

/// The numbers that a universe takes from its cosmology, with derivatives with respect to its
/// parameters.
struct VariedUniverse {
  using Number = Dual<double, cosmology::varied_parameters>;
  VariedGrowth growth;
  LagrangianFactors<Number> factors;
  AmplitudeTable<Number> table;
};

/// The numbers that a universe takes from its cosmology. Their derivatives take several times as
/// long: they are computed once, when they are asked for.
class Universe {
 public:
  Universe(cosmology::LinearPower<double> const& from, std::int64_t particles_along, double length,
           double a_start);

  cosmology::LinearPower<double> power;
  std::int64_t side;
  double box, a;
  LagrangianFactors<double> factors;
  AmplitudeTable<double> table;

  /// Begins to compute derivatives.
  ///
  /// \param how  deferred: the first call of varied() computes them
  void begin_derivatives(std::launch how) const;
  /// \throws PreconditionError if the spectrum is a table
  VariedUniverse const& varied() const;

 private:
  mutable std::once_flag once_;
  mutable std::shared_future<VariedUniverse> varied_;
};

/// What all ranks take from a cosmology.
inline std::shared_ptr<Universe const> universe_of_ranks(
    distributed::Group const& group, cosmology::LinearPower<double> const& power, std::int64_t side,
    double box, double a) {
  return distributed::together(group, [&] { return new_universe(power, side, box, a); });
}

/// The derivatives of a loss J with respect to the numbers that initial conditions take from the
/// cosmology.
struct StartSlopes {
  LagrangianFactors<double> factors{};
  std::vector<double> log_amplitude;  ///< of the nodes of the AmplitudeTable
};

/// dJ / d parameter: the sum of dJ / d number times d number / d parameter over these numbers.
cosmology::Parameters<double> slope_of_parameters(StartSlopes const& slopes,
                                                  VariedUniverse const& universe);

}  // namespace coir::nbody::detail
