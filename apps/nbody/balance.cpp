#include "balance.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace coir::apps::nbody {

double slab_contrast(cosmology::LinearPower<double> const& power, double a, double box,
                     double thickness) {
  double const fundamental = 2 * std::numbers::pi / box;
  double sum = 0;
  // Waves much shorter than the slab leave nothing.
  for (int m = 1; m <= 1000; ++m) {
    double const k = fundamental * m, half = k * thickness / 2;
    if (!power.covers(k, k)) break;
    double const sinc = std::sin(half) / half;
    sum += power(k, a) * sinc * sinc;
  }
  return std::sqrt(2 * sum / (box * box * box));
}

double rms_displacement(cosmology::LinearPower<double> const& power, double a, double box,
                        std::int64_t side) {
  double const first = 2 * std::numbers::pi / box;
  double const last = std::numbers::pi * static_cast<double>(std::max<std::int64_t>(side, 2)) / box;
  constexpr int intervals = 400;
  double const ratio = std::log(last / first) / intervals;
  double sum = 0;  // of k P, by the midpoint rule in ln k
  for (int n = 0; n < intervals; ++n) {
    double const k = first * std::exp((n + 0.5) * ratio);
    if (power.covers(k, k)) sum += k * power(k, a) * ratio;
  }
  return std::sqrt(sum / (6 * std::numbers::pi * std::numbers::pi));
}

double farthest_astray(cosmology::LinearPower<double> const& power, double a, double box,
                       std::int64_t side, int ranks) {
  return std::min(6 * rms_displacement(power, a, box, side), (box - box / ranks) / 2);
}

double headroom_for(cosmology::LinearPower<double> const& power, double a, double box, int ranks) {
  if (ranks == 1) return 0;
  double const rms = slab_contrast(power, a, box, box / ranks);
  return std::min({std::max(0.05, 5 * rms), ranks - 1.0, 10.0});
}

}  // namespace coir::apps::nbody
