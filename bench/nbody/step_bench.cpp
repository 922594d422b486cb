// Whole simulations, and the Lagrangian perturbation theory that they start from.
//
// Twenty steps from a = 0.1 to 1, particles 1 Mpc/h apart, in float. An iteration is such a
// simulation; it is compared with four plain transforms of the mesh per step, made in turns with it
// in the same process; on hosts by FFTW's threads, where these are there. Seconds are per step.
// bench/peers/pmwd_steps.py and jaxpm_steps.py do the same.

#include "universe.hpp"

#include <support/memory.hpp>
#include <support/timing.hpp>
#include <support/transforms.hpp>

#include <coir/nbody/simulation.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace coir::bench {

namespace {

constexpr int steps = 20;
constexpr double a_start = 0.1;

/// Whether transforms of a mesh are there to be compared with. On hosts FFTW measures plans by
/// transforming again and again, which takes long for larger meshes.
bool is_compared(std::int64_t mesh_side) {
  return has_plain_transforms<Space> && (!runs_on_host<Space> || mesh_side <= 512);
}

/// What a case holds at most: the simulation, the particles that it starts from, and the mesh of
/// plain transforms.
double bytes_of(Space const& exec, std::int64_t side, nbody::SimulationOptions const& options) {
  double const particles = double(side) * double(side) * double(side);
  std::int64_t const mesh_side = nbody::Simulation<Space, float>::mesh_side(side, options);
  double const mesh = double(mesh_side);
  double const simulated =
      double(nbody::Simulation<Space, float>::bytes(exec, {}, side, options).stepping) +
      6 * double(sizeof(float)) * particles +
      (is_compared(mesh_side) ? double(sizeof(float)) * mesh * mesh * (mesh + 2) : 0);
  return std::max(simulated, double(nbody::initial_conditions_bytes<Space, float>(exec, {}, side)));
}

void simulate(benchmark::State& state, nbody::SimulationOptions options) {
  std::int64_t const side = state.range(0);
  options.mesh_ratio = double(state.range(1));
  options.scale_factors = nbody::scale_factors(a_start, 1, steps);
  Space const exec;
  if (!fits(state, bytes_of(exec, side, options))) return;
  auto const start = universe<Space, float>(exec, side, a_start, /*order=*/2);
  cosmology::Growth<double> const growth(cosmology::simple_lcdm());
  std::optional<PlainTransforms<Space>> plain;
  if (std::int64_t const mesh_side = nbody::Simulation<Space, float>::mesh_side(side, options);
      is_compared(mesh_side))
    plain.emplace(exec, mesh_side);

  std::vector<double> plain_seconds, our_seconds;
  auto const four_transforms = [&] {
    if (!plain) return;
    Stopwatch<Space> const watch(exec);
    for (int pass = 0; pass < 2 * steps; ++pass) {
      plain->forward();
      plain->backward();
    }
    plain_seconds.push_back(watch.seconds() / steps);
  };
  std::map<std::string, std::vector<double>> seconds;
  auto const simulation = [&] {
    nbody::Simulation<Space, float> simulated(exec, copy_of(start), growth, options);
    Stopwatch<Space> const watch(exec);
    simulated.advance(steps);
    our_seconds.push_back(watch.seconds() / steps);
    auto const& phase = simulated.seconds();
    seconds["paint"].push_back(phase.paint / steps);
    seconds["fft"].push_back(phase.fft / steps);
    seconds["readout"].push_back(phase.readout / steps);
    seconds["push"].push_back(phase.push / steps);
    seconds["sort"].push_back(phase.sort / steps);
  };
  // The first one pays for page tables, clocks and caches: nothing beside the minutes of a large
  // one on a host.
  if (!runs_on_host<Space> || side < 512) {
    simulation();
    four_transforms();
    seconds.clear();
    our_seconds.clear();
    plain_seconds.clear();
  }
  for (auto _ : state) {
    bool const ours_first = our_seconds.size() % 2 == 0;
    if (ours_first) simulation();
    four_transforms();
    if (!ours_first) simulation();
    state.SetIterationTime(steps * our_seconds.back());
  }
  for (auto const& [phase, times] : seconds) state.counters[phase] = median(times);
  double const step = median(our_seconds);
  state.counters["seconds"] = step;
  report_overhead(state, exec, steps * step);
  state.counters["ns/particle"] = 1e9 * step / double(start.count());
  if (!plain) return;
  double const four = median(plain_seconds);
  state.counters["4_ffts"] = four;
  state.counters["step/4_ffts"] = step / four;
}

void all_sizes(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Unit(benchmark::kMillisecond);
  for (std::int64_t const ratio : {1, 2})
    for (std::int64_t const side : {64, 96, 128, 192, 256, 384, 512}) bench->Args({side, ratio});
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
  Space const exec;
  if (!fits(state, double(nbody::initial_conditions_bytes<Space, float>(exec, {}, side)))) return;
  cosmology::LinearPower<double> const power(cosmology::simple_lcdm());
  double const particles = double(side) * double(side) * double(side);
  time_kernel(state, exec, {particles, 6 * double(sizeof(float)) * particles, "particles"}, [&] {
    nbody::initial_conditions<Space, float>(exec, side, double(side), power, a_start, {.order = 2});
  });
  state.counters["ns/particle"] = 1e9 * state.counters["seconds"].value / particles;
}

BENCHMARK(start)
    ->Name("2lpt")
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Args({64, 1})
    ->Args({128, 1})
    ->Args({256, 1})
    ->Args({512, 1});

}  // namespace

}  // namespace coir::bench
