#pragma once

/// Targets whose moments are known.

#include <coir/core/kokkos.hpp>
#include <coir/inference/diagnostics.hpp>

#include <gtest/gtest.h>

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

/// Means, deviations and neighbours' correlations are within 4 standard errors, by the effective
/// number of draws; about 30 numbers are looked at, which are seeded.
inline void expects_moments(inference::Chains const& chains) {
  auto const summary = inference::summarise(chains);
  auto const [count, draws, n] = chains.draws.shape();
  for (std::int64_t k = 0; k < n; ++k) {
    auto const& found = summary.parameters[static_cast<std::size_t>(k)];
    double const s = Gaussian::deviation(k), error = 1 / std::sqrt(found.ess_bulk);
    EXPECT_NEAR(found.mean, double(k), 4 * s * error) << k;
    EXPECT_NEAR(found.deviation, s, 4 * s / std::sqrt(2 * found.ess_tail)) << k;
    EXPECT_LT(found.r_hat, 1.02) << k;
    if (k == 0) continue;
    double product = 0;
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t d = 0; d < draws; ++d)
        product += (chains.draws(c, d, k) - double(k)) / s *
                   (chains.draws(c, d, k - 1) - double(k - 1)) / Gaussian::deviation(k - 1);
    EXPECT_NEAR(product / double(count * draws), Gaussian{}.r, 4 * 1.2 * error) << k;
  }
  EXPECT_EQ(summary.divergences, 0);
  for (double const e : summary.energy)
    if (!std::isnan(e)) EXPECT_GT(e, 0.3);
}

/// Independent Gaussians: the mean and the variance of each within 4 standard errors by the
/// effective sizes, and the mean square of the means' errors 1.
inline void expects_gaussians(inference::Chains const& chains, std::vector<double> const& means,
                              std::vector<double> const& variances) {
  auto const summary = inference::summarise(chains);
  auto const [count, draws, n] = chains.draws.shape();
  double squares = 0;
  for (std::size_t k = 0; k < means.size(); ++k) {
    auto const& found = summary.parameters[k];
    double const error = (found.mean - means[k]) / std::sqrt(variances[k] / found.ess_bulk);
    EXPECT_LT(std::abs(error), 4) << k;
    squares += error * error / double(n);
    std::vector<double> of_variance;
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t d = 0; d < draws; ++d)
        of_variance.push_back(
            std::pow(chains.draws(c, d, static_cast<std::int64_t>(k)) - means[k], 2));
    EXPECT_NEAR(found.deviation * found.deviation / variances[k], 1,
                4 * std::sqrt(2 / inference::ess_bulk(of_variance, count)))
        << k;
  }
  EXPECT_NEAR(squares, 1, 5 * std::sqrt(2 / double(n)));
}

}  // namespace coir::testing
