// Whole simulations, and the Lagrangian perturbation theory that they start from.
//
// Twenty steps from a = 0.1 to 1, particles 1 Mpc/h apart, in float. An iteration is such a simulation; it is compared with
// four plain transforms of the mesh per step, made in turns with it in the same process. Seconds are per step.
// bench/peers/pmwd_steps.py and jaxpm_steps.py do the same.

#include "universe.hpp"

#include <support/timing.hpp>
#include <support/transforms.hpp>

#include <coir/core/memory.hpp>
#include <coir/nbody/simulation.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace coir::bench {

namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Particles = nbody::Particles<Exec, float>;
constexpr int steps = 20;
constexpr double a_start = 0.1;

Particles copy_of(Particles const& particles) {
  Particles copy = particles;
  for (auto* vectors : {&copy.position, &copy.momentum}) {
    Particles::Vectors const from = *vectors;
    *vectors = Particles::Vectors(Kokkos::view_alloc(Kokkos::WithoutInitializing, "particles"),
                                  from.extent(0));
    // As those of initial conditions are.
    if constexpr (runs_on_host<Exec>)
      ask_for_large_pages(vectors->data(), static_cast<std::int64_t>(from.size() * sizeof(float)));
    Kokkos::deep_copy(*vectors, from);
  }
  return copy;
}

void simulate(benchmark::State& state, nbody::SimulationOptions options) {
  std::int64_t const side = state.range(0);
  options.mesh_ratio = double(state.range(1));
  options.scale_factors = nbody::scale_factors(a_start, 1, steps);
  Exec const exec;
  auto const start = universe<Exec, float>(exec, side, a_start, /*order=*/2);
  cosmology::Growth<double> const growth(cosmology::simple_lcdm());
  PlainTransforms<Exec> const plain(exec, nbody::Simulation<Exec, float>::mesh_side(side, options));

  auto const four_transforms = [&] {
    Stopwatch<Exec> const watch(exec);
    for (int pass = 0; pass < 2 * steps; ++pass) {
      plain.forward();
      plain.backward();
    }
    return watch.seconds() / steps;
  };
  std::map<std::string, std::vector<double>> seconds;
  auto const simulation = [&] {
    nbody::Simulation<Exec, float> simulated(exec, copy_of(start), growth, options);
    Stopwatch<Exec> const watch(exec);
    simulated.advance(steps);
    double const step = watch.seconds() / steps;
    auto const& phase = simulated.seconds();
    seconds["paint"].push_back(phase.paint / steps);
    seconds["fft"].push_back(phase.fft / steps);
    seconds["readout"].push_back(phase.readout / steps);
    seconds["push"].push_back(phase.push / steps);
    seconds["sort"].push_back(phase.sort / steps);
    return step;
  };
  std::vector<double> plain_seconds, our_seconds;
  simulation();  // the first one pays for page tables, clocks and caches
  seconds.clear();
  four_transforms();
  for (auto _ : state) {
    bool const ours_first = our_seconds.size() % 2 == 0;
    if (ours_first) our_seconds.push_back(simulation());
    plain_seconds.push_back(four_transforms());
    if (!ours_first) our_seconds.push_back(simulation());
    state.SetIterationTime(steps * our_seconds.back());
  }
  for (auto const& [phase, times] : seconds) state.counters[phase] = median(times);
  double const step = median(our_seconds), four = median(plain_seconds);
  state.counters["seconds"] = step;
  state.counters["ns/particle"] = 1e9 * step / double(start.count());
  state.counters["4_ffts"] = four;
  state.counters["step/4_ffts"] = step / four;
}

void all_sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  for (std::int64_t const ratio : {1, 2})
    for (std::int64_t const side : {64, 128, 256}) bench->Args({side, ratio});
}

BENCHMARK_CAPTURE(simulate, fastpm, {})->Name("fastpm")->Apply(all_sizes);
BENCHMARK_CAPTURE(simulate, deterministic, {.deterministic = true})
    ->Name("fastpm,deterministic")
    ->Apply(all_sizes);
BENCHMARK_CAPTURE(simulate, bullfrog, {.stepper = nbody::Stepper::bullfrog})
    ->Name("bullfrog")
    ->Apply(all_sizes);

void start(benchmark::State& state) {
  std::int64_t const side = state.range(0);
  Exec const exec;
  cosmology::LinearPower<double> const power(cosmology::simple_lcdm());
  double const particles = double(side) * double(side) * double(side);
  time_kernel(state, exec, {particles, 6 * double(sizeof(float)) * particles, "particles"}, [&] {
    nbody::initial_conditions<Exec, float>(exec, side, double(side), power, a_start, {.order = 2});
  });
  state.counters["ns/particle"] = 1e9 * state.counters["seconds"].value / particles;
}

BENCHMARK(start)
    ->Name("2lpt")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Args({64, 1})
    ->Args({128, 1})
    ->Args({256, 1});

}  // namespace

}  // namespace coir::bench
