// The no-U-turn sampler after its warm-up of 1000 draws, with two chains of 2000 draws on the
// threads that there are (the row smoke: of 20). gaussian: 21 parameters with a dense precision
// matrix, as a likelihood with a known covariance has. eight_schools: 10 parameters, non-centred,
// by dual numbers. Counters are gradients a second, and the effective sample size (bulk) a second
// of the parameter whose size is least.

#include <support/timing.hpp>

#include <coir/array/creation.hpp>
#include <coir/inference/diagnostics.hpp>
#include <coir/inference/nuts.hpp>
#include <coir/inference/transforms.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace coir::bench {

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

/// The covariance s_i s_j (0.5^|i - j| + 0.2), s_i = 1 + i / 10, is inverted by Gauss and Jordan.
struct Gaussian {
  static constexpr int n = 21;
  std::vector<double> precision;

  Gaussian() : precision(n * n) {
    std::vector<double> c(n * n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        c[n * i + j] = (1 + 0.1 * i) * (1 + 0.1 * j) * (std::pow(0.5, std::abs(i - j)) + 0.2);
        precision[n * i + j] = i == j;
      }
    for (int k = 0; k < n; ++k) {
      double const pivot = c[n * k + k];
      for (int j = 0; j < n; ++j) {
        c[n * k + j] /= pivot;
        precision[n * k + j] /= pivot;
      }
      for (int i = 0; i < n; ++i) {
        double const factor = i == k ? 0 : c[n * i + k];
        for (int j = 0; j < n; ++j) {
          c[n * i + j] -= factor * c[n * k + j];
          precision[n * i + j] -= factor * precision[n * k + j];
        }
      }
    }
  }

  double operator()(Kokkos::View<double const*, Kokkos::HostSpace> const& theta,
                    Kokkos::View<double*, Kokkos::HostSpace> const& slope) const {
    double const* const x = theta.data();
    double value = 0;
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int j = 0; j < n; ++j) sum += precision[n * i + j] * x[j];
      slope(i) = -sum;
      value -= 0.5 * x[i] * sum;
    }
    return value;
  }
};

struct EightSchools {
  template <class X>
  auto operator()(X const& x) const {  // mu, tau, eta_1 ... eta_8
    constexpr double y[] = {28, 8, -3, 7, -1, 1, 18, 12};
    constexpr double sigma[] = {15, 10, 16, 11, 9, 11, 10, 18};
    auto const off = x[0] / 5, scale = x[1] / 5;
    auto sum = -0.5 * off * off - log1p(scale * scale);
    for (int j = 0; j < 8; ++j) {
      auto const residual = (y[j] - x[0] - x[1] * x[j + 2]) / sigma[j];
      sum -= 0.5 * (x[j + 2] * x[j + 2] + residual * residual);
    }
    return sum;
  }
};

template <class Target>
void time_nuts(benchmark::State& state, Target const& target, std::int64_t n, std::int64_t draws) {
  Array<double, 2, Kokkos::HostSpace> start({2, n});
  std::fill_n(start.data(), start.size(), 0.1);
  inference::Options options{.warmup = 1000, .draws = 1};
  auto const warm = inference::nuts(Host(), random::key(1), target, start, options);
  options.draws = 1 + draws;
  double gradients = 0, size = 0;
  for (auto _ : state) {
    Stopwatch<Host> const watch{Host()};
    auto const chains = inference::nuts(Host(), target, warm, options);
    state.SetIterationTime(watch.seconds());
    auto const summary = inference::summarise(chains);
    gradients = summary.steps * 2 * double(options.draws);
    size = summary.parameters[0].ess_bulk;
    for (auto const& parameter : summary.parameters) size = std::min(size, parameter.ess_bulk);
  }
  using benchmark::Counter;
  state.counters["gradients/s"] = Counter(gradients, Counter::kIsIterationInvariantRate);
  state.counters["ESS/s"] = Counter(size, Counter::kIsIterationInvariantRate);
}

void gaussian(benchmark::State& state) {
  time_nuts(state, Gaussian(), Gaussian::n, state.range(0));
}
BENCHMARK(gaussian)->Name("nuts,gaussian")->Arg(2000)->UseManualTime();
BENCHMARK(gaussian)->Name("nuts,gaussian/smoke")->Arg(20)->UseManualTime();

void eight_schools(benchmark::State& state) {
  std::vector<inference::Interval> intervals(10);
  intervals[1].low = 0;
  time_nuts(state,
            inference::inside_bounds(inference::Bounds(intervals),
                                     inference::number_target<10>(EightSchools{})),
            10, state.range(0));
}
BENCHMARK(eight_schools)->Name("nuts,eight_schools")->Arg(2000)->UseManualTime();
BENCHMARK(eight_schools)->Name("nuts,eight_schools/smoke")->Arg(20)->UseManualTime();

}  // namespace

}  // namespace coir::bench
