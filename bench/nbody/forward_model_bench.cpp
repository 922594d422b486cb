// The value of a loss of the density today, and the value with its derivatives by the white noise and the cosmology, of
// ForwardModel; beside them the steps of an ordinary deterministic simulation and of a reversible one, there and back.
//
// Twenty steps from a = 0.1 to 1, particles 1 Mpc/h apart, in float. All are made in turns in the same process; an iteration is
// the value with its derivatives.

#include "universe.hpp"

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/nbody/forward_model.hpp>
#include <coir/nbody/losses.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::bench {

namespace {

using Model = nbody::ForwardModel<Space, float>;
constexpr int steps = 20;
constexpr double a_start = 0.1;

/// Numbers of variance 1, as white noise has.
void fill(Model::Field const& field) {
  auto const host = Kokkos::create_mirror_view(field);
  std::uint64_t state = 1;
  auto const uniform = [&state] {  // Knuth's linear congruential generator
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (static_cast<double>(state >> 11) + 0.5) * 0x1p-53;
  };
  for (std::size_t i = 0; i < host.size(); ++i)
    host.data()[i] =
        static_cast<float>(std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()));
  Kokkos::deep_copy(field, host);
}

void value_and_grad(benchmark::State& state) {
  std::int64_t const side = state.range(0);
  double const particles = double(side) * double(side) * double(side);
  Space const exec;
  nbody::ForwardModelOptions options{.side = side, .box = double(side)};
  options.simulation.scale_factors = nbody::scale_factors(a_start, 1, steps);
  options.simulation.mesh_ratio = double(state.range(1));
  Model const model(exec, options);
  std::int64_t const cells = nbody::Simulation<Space, float>::mesh_side(side, options.simulation);
  double const mesh = double(cells) * double(cells) * double(cells);
  if (!fits(state, double(model.bytes()) + 4 * (3 * mesh + 3 * particles))) return;

  auto const sites = static_cast<std::size_t>(side);
  Model::Field const noise("noise", sites, sites, sites);
  fill(noise);
  auto const n = static_cast<std::size_t>(cells);
  nbody::DensityMisfit<Space, float> const loss{.target = Model::Field("target", n, n, n)};
  auto const parameters = cosmology::simple_lcdm();
  std::vector<double> value, gradient, ordinary, there, back;
  auto const time = [&](std::vector<double>& seconds, auto const& work) {
    Stopwatch<Space> const watch(exec);
    work();
    seconds.push_back(watch.seconds());
  };
  auto const simulate = [&](bool reversible, std::vector<double>& seconds) {
    auto chosen = options.simulation;
    chosen.reversible = reversible;
    chosen.deterministic = true;
    chosen.force_source = nbody::ForceSource::vectors;
    nbody::Simulation<Space, float> simulation(exec, universe<Space, float>(exec, side, a_start, 2),
                                               cosmology::Growth<double>(parameters), chosen);
    time(seconds, [&] { simulation.advance(steps); });
    if (reversible) time(back, [&] { simulation.reverse(steps); });
  };
  auto const all = [&] {
    time(value, [&] { benchmark::DoNotOptimize(model.value(noise, parameters, loss)); });
    time(gradient,
         [&] { benchmark::DoNotOptimize(model.value_and_grad(noise, parameters, loss).value); });
    simulate(false, ordinary);
    simulate(true, there);
  };
  all();  // the first ones pay for plans, page tables, clocks and caches
  for (auto* seconds : {&value, &gradient, &ordinary, &there, &back}) seconds->clear();
  for (auto _ : state) {
    all();
    state.SetIterationTime(gradient.back());
  }
  state.counters["seconds"] = median(gradient);
  state.counters["value"] = median(value);
  state.counters["gradient/value"] = median(gradient) / median(value);
  state.counters["reversible/deterministic"] = median(there) / median(ordinary);
  state.counters["back/there"] = median(back) / median(there);
  state.counters["ns/particle-step"] = 1e9 * median(gradient) / particles / steps;
  state.counters["bytes/particle"] = double(model.bytes()) / particles;
  report_overhead(state, exec, median(gradient));
}

BENCHMARK(value_and_grad)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Args({64, 1})
    ->Args({128, 1})
    ->Args({128, 2})
    ->Args({256, 1})
    ->Args({512, 1});

}  // namespace

}  // namespace coir::bench
