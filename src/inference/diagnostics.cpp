#include <coir/core/errors.hpp>
#include <coir/inference/diagnostics.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <numeric>

namespace coir::inference {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Numbers of several chains of one length.
struct Table {
  std::vector<double> values;  // chain after chain
  std::size_t chains = 0, draws = 0;

  double const* chain(std::size_t c) const { return values.data() + c * draws; }
};

/// The first and the last half of each chain as chains of their own.
Table halves(std::span<double const> values, std::size_t chains) {
  std::size_t const draws = values.size() / chains, half = draws / 2;
  Table result{{}, 2 * chains, half};
  for (std::size_t c = 0; c < chains; ++c)
    for (std::size_t const from : {c * draws, (c + 1) * draws - half})
      result.values.insert(result.values.end(), values.data() + from, values.data() + from + half);
  return result;
}

/// x with Phi(x) = p, by Halley's steps.
double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  // Abramowitz & Stegun, 26.2.22, is within 0.003.
  double const t = std::sqrt(-2 * std::log(p));
  double x = (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t)) - t;
  for (int k = 0; k < 3; ++k) {
    double const error = 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2) - p;
    double const u = error * std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * x * x);
    x -= u / (1 + 0.5 * x * u);
  }
  return x;
}

/// The normal quantiles of the values' ranks; equal ones share their mean rank.
Table by_ranks(Table table) {
  auto& x = table.values;
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  std::vector<double> ranked(x.size());
  for (std::size_t begin = 0, end = 0; begin < x.size(); begin = end) {
    while (end < x.size() && x[order[end]] == x[order[begin]]) ++end;
    double const rank = 0.5 * double(begin + 1 + end);
    double const z = normal_quantile((rank - 0.375) / (double(x.size()) + 0.25));
    for (std::size_t k = begin; k < end; ++k) ranked[order[k]] = z;
  }
  x = std::move(ranked);
  return table;
}

double mean_of(double const* x, std::size_t n) {
  return std::accumulate(x, x + n, 0.0) / double(n);
}

/// With n - 1 in the place of n.
double variance_of(double const* x, std::size_t n) {
  double const mean = mean_of(x, n);
  return std::accumulate(x, x + n, 0.0,
                         [mean](double sum, double v) { return sum + (v - mean) * (v - mean); }) /
         double(n - 1);
}

double between_over_within(Table const& x) {
  std::vector<double> means, variances;
  for (std::size_t c = 0; c < x.chains; ++c) {
    means.push_back(mean_of(x.chain(c), x.draws));
    variances.push_back(variance_of(x.chain(c), x.draws));
  }
  double const n = double(x.draws), between = n * variance_of(means.data(), x.chains);
  return std::sqrt((between / mean_of(variances.data(), x.chains) + n - 1) / n);
}

/// The autocovariance at a lag, the mean over chains.
double covariance_at(Table const& x, std::vector<double> const& means, std::size_t lag) {
  double sum = 0;
  for (std::size_t c = 0; c < x.chains; ++c)
    for (std::size_t k = lag; k < x.draws; ++k)
      sum += (x.chain(c)[k] - means[c]) * (x.chain(c)[k - lag] - means[c]);
  return sum / double(x.draws * x.chains);
}

double effective_size(Table const& x) {
  auto const [least, most] = std::minmax_element(x.values.begin(), x.values.end());
  double const n = double(x.draws), all = double(x.values.size());
  if (!(*most - *least > 1e-15)) return all;
  std::vector<double> means;
  for (std::size_t c = 0; c < x.chains; ++c) means.push_back(mean_of(x.chain(c), x.draws));
  double const within = covariance_at(x, means, 0) * n / (n - 1);
  double const total = within * (n - 1) / n + variance_of(means.data(), x.chains);
  auto const correlation = [&](std::size_t lag) {
    return 1 - (within - covariance_at(x, means, lag)) / total;
  };
  // Sums of neighbouring pairs are above 0 and fall.
  double time = -1, before = std::numeric_limits<double>::infinity();
  double even = 1, odd = correlation(1);
  for (std::size_t lag = 1; even + odd > 0 && lag + 3 < x.draws; lag += 2) {
    before = std::min(even + odd, before);
    time += 2 * before;
    even = correlation(lag + 1);
    odd = correlation(lag + 2);
  }
  time += std::max(even, 0.0);  // of the pair at which the sum ends
  return all / std::max(time, 1 / std::log10(all));
}

bool too_short(std::span<double const> draws, std::int64_t chains) {
  return chains < 1 || draws.size() / static_cast<std::size_t>(chains) < 4 ||
         !std::all_of(draws.begin(), draws.end(), [](double x) { return std::isfinite(x); });
}

/// sum (E_n - E_(n-1))^2 / sum (E_n - mean)^2
double energy_of(Chains const& chains, std::int64_t chain) {
  std::vector<double> energies;
  for (std::int64_t n = 0; n < chains.statistics.shape()[1]; ++n)
    energies.push_back(chains.statistics(chain, n, Chains::energy));
  double changes = 0;
  for (std::size_t n = 1; n < energies.size(); ++n)
    changes += (energies[n] - energies[n - 1]) * (energies[n] - energies[n - 1]);
  return changes / (variance_of(energies.data(), energies.size()) * double(energies.size() - 1));
}

std::string line_of(char const* format, auto const&... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

double quantile_of(std::span<double const> draws, double q) {
  expects(q >= 0 && q <= 1, "q, the quantile asked for, must lie in [0, 1]", q);
  if (draws.empty()) return nan;
  std::vector<double> x(draws.begin(), draws.end());
  double const at = q * double(x.size() - 1);
  auto const low = static_cast<std::ptrdiff_t>(at);
  std::nth_element(x.begin(), x.begin() + low, x.end());
  double const below = x[static_cast<std::size_t>(low)], part = at - double(low);
  if (part == 0) return below;
  return below + part * (*std::min_element(x.begin() + low + 1, x.end()) - below);
}

double r_hat(std::span<double const> draws, std::int64_t chains) {
  if (too_short(draws, chains)) return nan;
  auto const table = halves(draws, static_cast<std::size_t>(chains));
  auto folded = table;
  double const median = quantile_of(table.values, 0.5);
  for (double& x : folded.values) x = std::abs(x - median);
  return std::max(between_over_within(by_ranks(table)), between_over_within(by_ranks(folded)));
}

double ess_bulk(std::span<double const> draws, std::int64_t chains) {
  if (too_short(draws, chains)) return nan;
  return effective_size(by_ranks(halves(draws, static_cast<std::size_t>(chains))));
}

double ess_tail(std::span<double const> draws, std::int64_t chains) {
  if (too_short(draws, chains)) return nan;
  auto const of = [&](double q) {
    double const limit = quantile_of(draws, q);
    std::vector<double> below;
    for (double const x : draws) below.push_back(x <= limit);
    return effective_size(halves(below, static_cast<std::size_t>(chains)));
  };
  return std::min(of(0.05), of(0.95));
}

Summary summarise(Chains const& chains) {
  auto const [count, draws, n] = chains.draws.shape();
  expects(count > 0 && draws >= 4, "a summary needs chains of 4 draws or more", draws);
  Summary summary;
  summary.biased = chains.biased;
  for (std::int64_t k = 0; k < n; ++k) {
    std::vector<double> x;
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t d = 0; d < draws; ++d) x.push_back(chains.draws(c, d, k));
    summary.parameters.push_back({mean_of(x.data(), x.size()),
                                  std::sqrt(variance_of(x.data(), x.size())), quantile_of(x, 0.05),
                                  quantile_of(x, 0.5), quantile_of(x, 0.95), ess_bulk(x, count),
                                  ess_tail(x, count), r_hat(x, count)});
  }
  for (std::int64_t c = 0; c < count; ++c) {
    summary.energy.push_back(energy_of(chains, c));
    for (std::int64_t d = 0; d < draws; ++d) {
      summary.divergences += static_cast<std::int64_t>(chains.statistics(c, d, Chains::diverged));
      summary.acceptance += chains.statistics(c, d, Chains::acceptance) / double(count * draws);
      summary.steps += chains.statistics(c, d, Chains::steps) / double(count * draws);
    }
  }
  return summary;
}

std::string to_text(Summary const& summary, std::vector<std::string> const& names) {
  std::string text = line_of("%-12s %10s %10s %10s %10s %10s %8s %8s %6s\n", "parameter", "mean",
                             "deviation", "5 %", "median", "95 %", "ESS", "tail ESS", "R-hat");
  double worst = 0;
  for (std::size_t k = 0; k < summary.parameters.size(); ++k) {
    auto const& p = summary.parameters[k];
    text += line_of("%-12s %10.4g %10.4g %10.4g %10.4g %10.4g %8.0f %8.0f %6.3f\n",
                    k < names.size() ? names[k].c_str() : std::to_string(k).c_str(), p.mean,
                    p.deviation, p.low, p.median, p.high, p.ess_bulk, p.ess_tail, p.r_hat);
    worst = std::max(worst, std::isnan(p.r_hat) ? 0 : p.r_hat);
  }
  text += line_of("%lld divergence%s, acceptance %.2f, %.1f steps a draw\n",
                  static_cast<long long>(summary.divergences), summary.divergences == 1 ? "" : "s",
                  summary.acceptance, summary.steps);
  if (worst > 1.01) text += line_of("not converged: R-hat reaches %.3f; draw more\n", worst);
  double energy = std::numeric_limits<double>::infinity();
  for (double const of_chain : summary.energy)
    if (of_chain < energy) energy = of_chain;  // NaN is not
  if (energy < 0.3)
    text += line_of("energies are explored slowly (E-BFMI %.2f): change parameters\n", energy);
  if (summary.biased) text += "the sampler has no Metropolis test: moments are biased\n";
  return text;
}

}  // namespace coir::inference
