#include "start_slopes.hpp"

#include "amplitude_table.hpp"

#include <coir/autodiff/dual.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>

#include <cstddef>

namespace coir::nbody::detail {

cosmology::Parameters<double> slope_of_parameters(StartSlopes const& slopes,
                                                  cosmology::LinearPower<double> const& power,
                                                  std::int64_t side, double box, double a) {
  using D = Dual<double, cosmology::varied_parameters>;
  auto const varied = power.with_parameters(cosmology::variables<D>(power.parameters()));
  auto const factors = lagrangian_factors(varied, a);
  D slope = slopes.factors.d1 * factors.d1 + slopes.factors.d2 * factors.d2 +
            slopes.factors.p1 * factors.p1 + slopes.factors.p2 * factors.p2;
  auto const table = amplitude_table(varied, side, box);
  for (std::size_t node = 0; node < table.log_amplitude.size(); ++node)
    slope += slopes.log_amplitude[node] * table.log_amplitude[node];
  return cosmology::derivatives(slope);
}

}  // namespace coir::nbody::detail
