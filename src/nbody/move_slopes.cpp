#include "move_slopes.hpp"

#include <cstddef>

namespace coir::nbody::detail {

VariedGrowth varied(cosmology::Growth<double> const& growth) {
  return VariedGrowth(
      cosmology::variables<Dual<double, cosmology::varied_parameters>>(growth.parameters()),
      growth.a_min(), growth.a_max());
}

cosmology::Parameters<double> slope_of_parameters(int first, std::span<MadeMove const> moves,
                                                  std::span<FactorSlopes const> slopes,
                                                  VariedMoves const& steps, double omega_m) {
  Dual<double, cosmology::varied_parameters> sum(0);
  double by_force = 0;
  for (std::size_t m = 0; m < moves.size(); ++m) {
    auto const& of_step = steps[static_cast<std::size_t>(moves[m].step - first - 1)];
    auto const& factors = moves[m].closes ? of_step.closing : of_step.move;
    sum += slopes[m].drift_before * factors.drift_before + slopes[m].keep * factors.keep +
           slopes[m].kick * factors.kick + slopes[m].drift_after * factors.drift_after;
    by_force += slopes[m].kick * moves[m].move.kick;
  }
  auto result = cosmology::derivatives(sum);
  result.omega_m += by_force / omega_m;  // forces are in proportion to it
  return result;
}

}  // namespace coir::nbody::detail
