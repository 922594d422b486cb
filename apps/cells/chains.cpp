#include "chains.hpp"

#include <coir/array/random.hpp>
#include <coir/inference/nuts.hpp>

#include <support/interrupt.hpp>
#include <support/progress.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace coir::apps::cells {

namespace {

using Matrix = std::vector<std::vector<double>>;

/// L of L L^T = the covariance, which is positive definite.
Matrix root_of(Matrix const& covariance) {
  std::size_t const n = covariance.size();
  Matrix root(n, std::vector<double>(n, 0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = covariance[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= root[i][k] * root[j][k];
      root[i][j] = i == j ? std::sqrt(sum) : sum / root[j][j];
    }
  return root;
}

/// The posterior by z, where the parameters are x = fiducial + L z.
struct Whitened {
  std::shared_ptr<Posterior const> posterior;
  std::vector<double> fiducial;
  Matrix root;

  std::vector<double> parameters(double const* z) const {
    std::vector<double> x = fiducial;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) x[i] += root[i][j] * z[j];
    return x;
  }

  double operator()(Kokkos::View<double const*, Kokkos::HostSpace> const& z,
                    Kokkos::View<double*, Kokkos::HostSpace> const& slope) const {
    std::size_t const n = fiducial.size();
    std::vector<double> by_parameter(n, 0.0);
    double const value = (*posterior)(parameters(z.data()), by_parameter);
    for (std::size_t j = 0; j < n; ++j) {
      slope(j) = 0;
      for (std::size_t i = j; i < n; ++i) slope(j) += root[i][j] * by_parameter[i];
    }
    return value;
  }
};

}  // namespace

inference::Chains draw_chains(CellsSettings const& settings, Forecast const& forecast) {
  Whitened const target{std::make_shared<Posterior const>(settings, forecast), forecast.fiducial,
                        root_of(forecast.covariance)};
  auto const n = static_cast<std::int64_t>(forecast.parameters.size());
  random::Key const key = random::key(static_cast<std::uint64_t>(settings.seed));
  auto const starts = random::normal<double, Kokkos::HostSpace>(random::fold_in(key, 1),
                                                                {settings.chains, n}, 0, 0.5);
  ProgressLine progress("drawing", "draws", settings.progress);
  inference::Options const options{
      .warmup = settings.warmup, .draws = settings.draws, .told_every = 1};
  auto chains = inference::nuts(Kokkos::DefaultHostExecutionSpace{}, random::fold_in(key, 2),
                                target, starts, options, [&](inference::Progress const& now) {
                                  progress.update(now.done, now.total);
                                  return !interrupted();
                                });
  auto& draws = chains.draws;
  for (std::int64_t chain = 0; chain < draws.extent(0); ++chain)
    for (std::int64_t draw = 0; draw < draws.extent(1); ++draw) {
      double* const z = draws.data() + (chain * draws.extent(1) + draw) * n;
      auto const x = target.parameters(z);
      std::copy(x.begin(), x.end(), z);
    }
  return chains;
}

}  // namespace coir::apps::cells
