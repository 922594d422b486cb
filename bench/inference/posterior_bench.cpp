// The likelihood of a survey like the first year of the Dark Energy Survey, 45 spectra at 50 l, and
// its gradient by 21 parameters, of many chains at once. batch is LikelihoodBatch; chains calls
// angular_power with dual numbers for one chain after another on each thread, as a target of
// numbers does. chees draws by ChEES-HMC, its arithmetic included. Numbers of the survey are made
// up. The counter is gradients a second.

#include <support/space.hpp>
#include <support/timing.hpp>

#include <coir/core/contiguous.hpp>
#include <coir/core/dual.hpp>
#include <coir/core/tasks.hpp>
#include <coir/cosmology/angular_power.hpp>
#include <coir/cosmology/likelihood.hpp>
#include <coir/cosmology/likelihood_batch.hpp>
#include <coir/inference/chees.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::bench {

namespace {

using namespace cosmology;

constexpr int parameters = 21;
using D = Dual<double, parameters>;
using Exec = Space;
using Batch = LikelihoodBatch<Exec>;

/// The survey at some parameters, or at those that its data have.
struct Survey {
  double const* theta = nullptr;
  std::vector<double> fiducial{};
  Parameters<D> p{};
  std::vector<Tracer<D>> tracers{};

  explicit Survey(double const* at = nullptr) : theta(at) {
    using N = RedshiftDistribution<D>;
    p = {.omega_m = variable(0.3),
         .omega_b = variable(0.05),
         .h = variable(0.7),
         .n_s = variable(0.96),
         .sigma8 = variable(0.8),
         .w0 = variable(-1)};
    D const alignment = variable(0.5), eta = variable(0);
    for (double const z : {0.39, 0.6, 0.75, 0.95}) {
      D const m = variable(0.012);
      tracers.push_back(WeakLensing<D>{.n = N::gaussian(D(z), D(0.15)).shifted(variable(0.01)),
                                       .m = m,
                                       .alignment = alignment,
                                       .eta = eta,
                                       .density = 1.5});
    }
    for (double const z : {0.225, 0.375, 0.525, 0.675, 0.825})
      tracers.push_back(
          NumberCounts<D>{.n = N::gaussian(D(z), D(0.05)), .bias = variable(1.5), .density = 0.03});
  }

 private:
  D variable(double value) {
    std::size_t const k = fiducial.size();
    fiducial.push_back(value);
    return D::variable(theta ? theta[k] : value, static_cast<int>(k));
  }
};

AngularPowerOptions fixed_panels() {
  AngularPowerOptions options;
  options.panels = panels_for(Survey().tracers);
  return options;
}

GaussianLikelihood likelihood() {
  std::vector<double> l, width;
  for (int i = 0; i < 50; ++i) {
    l.push_back(20 * std::pow(150, (i + 0.5) / 50));
    width.push_back(l.back() * std::log(150) / 50);
  }
  Survey const survey;
  auto const spectra = angular_power(survey.p, survey.tracers, l, fixed_panels());
  auto const noisy = with_noise(spectra, survey.tracers);
  AngularSpectra<> data(survey.tracers.size(), l), total = data;
  for (std::size_t i = 0; i < data.values().size(); ++i) {
    data.values()[i] = spectra.values()[i].value;
    total.values()[i] = noisy.values()[i].value;
  }
  return {data, total, modes(l, width, 0.032)};
}

Batch batch_of(GaussianLikelihood const& of) {
  Survey const survey;
  return Batch(Exec(), survey.p, survey.tracers, of, fixed_panels());
}

/// Chains around the fiducial parameters, within a part in a thousand.
std::vector<double> chains_of(std::int64_t count) {
  auto const fiducial = Survey().fiducial;
  std::vector<double> theta;
  for (std::int64_t c = 0; c < count; ++c)
    for (std::size_t k = 0; k < fiducial.size(); ++k)
      theta.push_back(fiducial[k] + 1e-3 * std::sin(0.7 * double(c) + 1.3 * double(k)));
  return theta;
}

void report(benchmark::State& state, double gradients) {
  state.counters["gradients/s"] =
      benchmark::Counter(gradients, benchmark::Counter::kIsIterationInvariantRate);
}

void batch(benchmark::State& state) {
  auto const of = likelihood();
  auto const target = batch_of(of);
  auto const chains = static_cast<std::size_t>(state.range(0));
  Batch::Table const theta("theta", chains, parameters), slope("slope", chains, parameters);
  Batch::Column const value("value", chains);
  auto const numbers = chains_of(state.range(0));
  copy_bytes<Memory, Kokkos::HostSpace>(theta.data(), numbers.data(),
                                        std::int64_t(numbers.size() * sizeof(double)));
  int const calls =
      time_batches_of(state, Exec(), 1e-3, [&] { target(Exec(), theta, slope, value); });
  report(state, double(chains) * calls);
}

void chains(benchmark::State& state) {
  using Host = Kokkos::DefaultHostExecutionSpace;
  auto const of = likelihood();
  auto const numbers = chains_of(state.range(0));
  auto const l = of.data().l();
  auto const options = fixed_panels();
  int const calls = time_batches_of(state, Host(), 1e-3, [&] {
    for_each_task("coir::bench::posterior/chains", Host(), state.range(0), [&](std::int64_t c) {
      Survey const at(numbers.data() + c * parameters);
      benchmark::DoNotOptimize(of(angular_power(at.p, at.tracers, l, options)));
    });
  });
  report(state, double(state.range(0)) * calls);
}

/// Ten draws, after ten that fit the step.
void chees(benchmark::State& state) {
  auto const of = likelihood();
  auto const target = batch_of(of);
  auto const numbers = chains_of(state.range(0));
  Array<double, 2, Kokkos::HostSpace> start({state.range(0), parameters});
  std::copy(numbers.begin(), numbers.end(), start.data());
  inference::Options options{.warmup = 10, .draws = 1};
  auto const warm = inference::chees(Exec(), random::key(1), target, start, options);
  options.draws = 11;
  double gradients = 0;
  for (auto _ : state) {
    Stopwatch<Exec> const watch{Exec()};
    auto const drawn = inference::chees(Exec(), target, warm, options);
    state.SetIterationTime(watch.seconds());
    gradients = 0;
    for (std::int64_t draw = 1; draw < 11; ++draw)
      for (std::int64_t c = 0; c < state.range(0); ++c)
        gradients += drawn.statistics(c, draw, inference::Chains::steps);
  }
  report(state, gradients);
}

BENCHMARK(batch)->Name("posterior,batch")->Arg(2)->Arg(16)->Arg(1000)->Arg(4000)->UseManualTime();
BENCHMARK(chains)->Name("posterior,chains")->Arg(2)->Arg(16)->UseManualTime();
BENCHMARK(chees)->Name("posterior,chees")->Arg(16)->Arg(1000)->UseManualTime();

}  // namespace

}  // namespace coir::bench
