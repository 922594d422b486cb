// Angular spectra of surveys on one core. Numbers of both surveys are made up. des_y1 has 4 bins of
// shapes and 5 of counts, as the first year of the Dark Energy Survey, 45 spectra at 50 l and 21
// parameters: six of the cosmology, the alignment and its power of redshift, m and a shift for each
// bin of shapes, a bias for each bin of counts. stage_4 has 10 bins of counts and 5 of shapes, 120
// spectra at 128 l. bench/peers/spectra.py times jax_cosmo beside these.

#include <support/timing.hpp>

#include <coir/core/dual.hpp>
#include <coir/cosmology/angular_power.hpp>
#include <coir/cosmology/fisher.hpp>

#include <cmath>
#include <vector>

namespace coir::bench {

namespace {

using namespace cosmology;

constexpr int parameters = 21;
using Slopes = Dual<double, parameters>;

std::vector<double> multipoles(int count) {
  std::vector<double> l;
  for (int i = 0; i < count; ++i) l.push_back(10 * std::pow(300, i / (count - 1.0)));
  return l;
}

template <class T>
struct Survey {
  Parameters<T> p;
  std::vector<Tracer<T>> tracers;
};

/// Makes numbers. If T is a dual, each one is a variable along the next direction.
template <class T>
class Variables {
 public:
  T operator()(double value) {
    if constexpr (is_dual<T>)
      return T::variable(value, next_++);
    else
      return value;
  }

 private:
  int next_ = 0;
};

template <class T>
Survey<T> des_y1() {
  using N = RedshiftDistribution<T>;
  Variables<T> variable;
  Survey<T> survey{.p = {.omega_m = variable(0.3),
                         .omega_b = variable(0.05),
                         .h = variable(0.7),
                         .n_s = variable(0.96),
                         .sigma8 = variable(0.8),
                         .w0 = variable(-1)},
                   .tracers = {}};
  T const alignment = variable(0.5), eta = variable(0);
  for (double const z : {0.39, 0.6, 0.75, 0.95}) {
    T const m = variable(0.012);
    survey.tracers.push_back(WeakLensing<T>{.n = N::gaussian(T(z), T(0.15)).shifted(variable(0.01)),
                                            .m = m,
                                            .alignment = alignment,
                                            .eta = eta,
                                            .density = 1.5});
  }
  for (double const z : {0.24, 0.39, 0.54, 0.69, 0.84})
    survey.tracers.push_back(
        NumberCounts<T>{.n = N::gaussian(T(z), T(0.06)), .bias = variable(1.4), .density = 0.02});
  return survey;
}

void time_call(benchmark::State& state, auto const& call) {
  time_batches(state, Kokkos::DefaultHostExecutionSpace{},
               [&] { benchmark::DoNotOptimize(call()); });
}

template <class T>
void spectra_of_des_y1(benchmark::State& state) {
  auto const survey = des_y1<T>();
  auto const l = multipoles(static_cast<int>(state.range(0)));
  time_call(state, [&] { return angular_power(survey.p, survey.tracers, l).values().back(); });
}

void spectra_of_stage_4(benchmark::State& state) {
  using N = RedshiftDistribution<>;
  std::vector<Tracer<>> tracers;
  for (int i = 0; i < 10; ++i)
    tracers.push_back(
        NumberCounts<>{.n = N::gaussian(0.25 + 0.1 * i, 0.03 * (1.25 + 0.1 * i)), .bias = 1.5});
  for (int i = 0; i < 5; ++i)
    tracers.push_back(WeakLensing<>{.n = N::gaussian(0.3 + 0.3 * i, 0.1)});
  auto const l = multipoles(static_cast<int>(state.range(0)));
  auto const p = des_y1<double>().p;
  time_call(state, [&] { return angular_power(p, tracers, l).values().back(); });
}

/// From the parameters to the errors.
void fisher_of_des_y1(benchmark::State& state) {
  auto const survey = des_y1<Slopes>();
  auto const l = multipoles(static_cast<int>(state.range(0)));
  std::vector<double> width;
  for (double const x : l) width.push_back(0.12 * x);
  auto const nu = modes(l, width, 0.03);
  time_call(state, [&] {
    auto const spectra = angular_power(survey.p, survey.tracers, l);
    return fisher_matrix(spectra, with_noise(spectra, survey.tracers), nu).errors()[0];
  });
}

BENCHMARK(spectra_of_stage_4)->Name("spectra,stage_4")->UseManualTime()->Arg(128);
BENCHMARK(spectra_of_des_y1<double>)->Name("spectra,des_y1")->UseManualTime()->Arg(50);
BENCHMARK(spectra_of_des_y1<Slopes>)->Name("derivatives,des_y1")->UseManualTime()->Arg(50);
BENCHMARK(fisher_of_des_y1)->Name("fisher,des_y1")->UseManualTime()->Arg(50);

}  // namespace

}  // namespace coir::bench
