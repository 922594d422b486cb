#include "universe_tables.hpp"

#include <cstddef>
#include <utility>

namespace coir::nbody::detail {

Universe::Universe(cosmology::LinearPower<double> const& from, std::int64_t particles_along,
                   double length, double a_start)
    : power(from),
      side(particles_along),
      box(length),
      a(a_start),
      factors(lagrangian_factors(from, a_start)),
      table(amplitude_table(from, particles_along, length)) {}

void Universe::begin_derivatives(std::launch how) const {
  std::call_once(once_, [&] {
    auto const compute = [this] {
      auto const varied =
          power.with_parameters(cosmology::variables<VariedUniverse::Number>(power.parameters()));
      return VariedUniverse{varied.growth(), lagrangian_factors(varied, a),
                            amplitude_table(varied, side, box)};
    };
    varied_ = std::async(how, compute).share();
  });
}

VariedUniverse const& Universe::varied() const {
  begin_derivatives(std::launch::deferred);
  return varied_.get();
}

std::shared_ptr<Universe const> new_universe(cosmology::LinearPower<double> const& power,
                                             std::int64_t side, double box, double a) {
  return std::make_shared<Universe const>(power, side, box, a);
}

cosmology::Growth<double> const& growth_of(Universe const& universe) {
  return universe.power.growth();
}

void begin_derivatives(Universe const& universe) {
  // With `deferred` beside `async` no error is thrown where no thread can be started.
  universe.begin_derivatives(std::launch::async | std::launch::deferred);
}

VariedGrowth const& varied_growth_of(Universe const& universe) { return universe.varied().growth; }

cosmology::Parameters<double> slope_of_parameters(StartSlopes const& slopes,
                                                  VariedUniverse const& universe) {
  auto const& factors = universe.factors;
  auto const& table = universe.table;
  auto slope = slopes.factors.d1 * factors.d1 + slopes.factors.d2 * factors.d2 +
               slopes.factors.p1 * factors.p1 + slopes.factors.p2 * factors.p2;
  for (std::size_t node = 0; node < table.log_amplitude.size(); ++node)
    slope += slopes.log_amplitude[node] * table.log_amplitude[node];
  return cosmology::derivatives(VariedUniverse::Number(slope));
}

}  // namespace coir::nbody::detail
