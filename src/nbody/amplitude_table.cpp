#include "amplitude_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace coir::nbody::detail {

AmplitudeTable amplitude_table(cosmology::LinearPower<double> const& power, std::int64_t side,
                               double box) {
  constexpr int steps = 8192;
  double const unit = 2 * std::numbers::pi / box, today = power.growth().d1(1.0);
  double const widest = std::sqrt(3.0) * (static_cast<double>(side) / 2) + 1e-9;
  double const first = -1e-9, step = (std::log(std::max(widest, 2.0)) - first) / steps;
  if (side > 1)  // one particle has no mode but the mean
    power.expects_coverage(unit, unit * std::sqrt(3.0) * std::floor(static_cast<double>(side) / 2));
  double const cell = std::pow(box / static_cast<double>(side), 3);
  AmplitudeTable table{first, step, std::vector<double>(steps + 1)};
  for (int s = 0; s <= steps; ++s) {
    double const k = std::min(unit * std::exp(first + step * s), unit * std::max(1.0, widest));
    table.log_amplitude[static_cast<std::size_t>(s)] =
        0.5 * std::log(power(std::max(k, unit)) / cell) - std::log(today);
  }
  return table;
}

}  // namespace coir::nbody::detail
