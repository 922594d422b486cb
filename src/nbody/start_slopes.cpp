#include "start_slopes.hpp"

#include <cstddef>

namespace coir::nbody::detail {

VariedStart varied_start(cosmology::LinearPower<double> const& power, std::int64_t side, double box,
                         double a) {
  auto const varied =
      power.with_parameters(cosmology::variables<VariedStart::Number>(power.parameters()));
  return {lagrangian_factors(varied, a), amplitude_table(varied, side, box)};
}

cosmology::Parameters<double> slope_of_parameters(StartSlopes const& slopes,
                                                  VariedStart const& start) {
  auto const& factors = start.factors;
  auto const& table = start.table;
  auto slope = slopes.factors.d1 * factors.d1 + slopes.factors.d2 * factors.d2 +
               slopes.factors.p1 * factors.p1 + slopes.factors.p2 * factors.p2;
  for (std::size_t node = 0; node < table.log_amplitude.size(); ++node)
    slope += slopes.log_amplitude[node] * table.log_amplitude[node];
  return cosmology::derivatives(VariedStart::Number(slope));
}

}  // namespace coir::nbody::detail
