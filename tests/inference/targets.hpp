#pragma once

/// Targets whose moments are known.

#include <coir/core/kokkos.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace coir::testing {

/// A Gaussian whose parameter i has the mean i, the deviation s_i = 1 + i / 2, and the correlation
/// r^|i - j| with j:
///
///   -2 log density = y_0^2 + sum_i (y_i - r y_(i-1))^2 / (1 - r^2),   y_i = (x_i - i) / s_i
struct Gaussian {
  double r = 0.6;

  static double deviation(std::int64_t i) { return 1 + 0.5 * double(i); }

  double operator()(Kokkos::View<double const*, Kokkos::HostSpace> const& x,
                    Kokkos::View<double*, Kokkos::HostSpace> const& slope) const {
    auto const n = static_cast<std::int64_t>(x.extent(0));
    double sum = 0, before = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      double const s = deviation(i), y = (x(i) - double(i)) / s;
      double const weight = i == 0 ? 1 : 1 / (1 - r * r), off = i == 0 ? y : y - r * before;
      sum += weight * off * off;
      slope(i) = -weight * off / s;
      if (i > 0) slope(i - 1) += r * weight * off / deviation(i - 1);
      before = y;
    }
    return -0.5 * sum;
  }
};

}  // namespace coir::testing
