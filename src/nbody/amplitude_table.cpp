#include "amplitude_table.hpp"

#include <coir/core/dual.hpp>
#include <coir/cosmology/parameter_derivatives.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace coir::nbody::detail {

template <class T>
AmplitudeTable<T> amplitude_table(cosmology::LinearPower<T> const& power, std::int64_t side,
                                  double box) {
  using std::log;
  constexpr int steps = amplitude_steps;
  double const unit = 2 * std::numbers::pi / box;
  T const log_today = log(power.growth().d1(T(1)));
  double const widest = std::sqrt(3.0) * (static_cast<double>(side) / 2) + 1e-9;
  double const first = -1e-9, step = (std::log(std::max(widest, 2.0)) - first) / steps;
  if (side > 1)  // one particle has no mode but the mean
    power.expects_coverage(unit, unit * std::sqrt(3.0) * std::floor(static_cast<double>(side) / 2));
  double const cell = std::pow(box / static_cast<double>(side), 3);
  AmplitudeTable<T> table{first, step, std::vector<T>(steps + 1)};
  for (int s = 0; s <= steps; ++s) {
    double const k = std::min(unit * std::exp(first + step * s), unit * std::max(1.0, widest));
    table.log_amplitude[static_cast<std::size_t>(s)] =
        0.5 * log(power(T(std::max(k, unit))) / cell) - log_today;
  }
  return table;
}

using VariedParameters = Dual<double, cosmology::varied_parameters>;
template AmplitudeTable<double> amplitude_table(cosmology::LinearPower<double> const&, std::int64_t,
                                                double);
template AmplitudeTable<VariedParameters> amplitude_table(
    cosmology::LinearPower<VariedParameters> const&, std::int64_t, double);

}  // namespace coir::nbody::detail
