// The steps of an ordinary deterministic simulation, those of a reversible one, the same steps taken back, and derivatives pulled
// back through them. gradient_bench.cpp has the derivatives of a whole universe.
//
// Twenty steps from a = 0.1 to 1, particles 1 Mpc/h apart, in float. All are made in turns in the same process; an iteration is
// the reversible run there.

#include "universe.hpp"

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/nbody/simulation.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::bench {

namespace {

using Simulation = nbody::Simulation<Space, float>;
using Cotangents = nbody::Cotangents<Space, float>;
constexpr int steps = 20;
constexpr double a_start = 0.1;

void reverse(benchmark::State& state) {
  std::int64_t const side = state.range(0);
  double const particles = double(side) * double(side) * double(side);
  Space const exec;
  nbody::SimulationOptions options;
  options.scale_factors = nbody::scale_factors(a_start, 1, steps);
  options.mesh_ratio = double(state.range(1));
  options.deterministic = true;
  options.force_source = nbody::ForceSource::vectors;
  auto reversible = options;
  reversible.reversible = true;
  std::int64_t const bytes =
      Simulation::bytes(exec, side, reversible) + Simulation::pull_back_bytes(side, reversible);
  if (!fits(state, double(bytes))) return;

  std::vector<double> ordinary, there, back, pulled;
  auto const time = [&](std::vector<double>& seconds, auto const& work) {
    Stopwatch<Space> const watch(exec);
    work();
    seconds.push_back(watch.seconds());
  };
  auto const simulation_of = [&](nbody::SimulationOptions const& chosen) {
    return Simulation(exec, universe<Space, float>(exec, side, a_start, 2),
                      cosmology::Growth<double>(cosmology::simple_lcdm()), chosen);
  };
  auto const all = [&] {
    {
      auto simulation = simulation_of(options);
      time(ordinary, [&] { simulation.advance(steps); });
    }
    auto simulation = simulation_of(reversible);
    time(there, [&] { simulation.advance(steps); });
    time(back, [&] { simulation.reverse(steps); });
    simulation.advance(steps);
    auto const count = static_cast<std::size_t>(particles);
    Cotangents const cotangents{Cotangents::Vectors("of_position", count),
                                Cotangents::Vectors("of_momentum", count)};
    Kokkos::deep_copy(cotangents.position, simulation.particles().position);
    time(pulled, [&] { simulation.pull_back(cotangents); });
  };
  all();  // the first ones pay for plans, page tables, clocks and caches
  for (auto* seconds : {&ordinary, &there, &back, &pulled}) seconds->clear();
  for (auto _ : state) {
    all();
    state.SetIterationTime(there.back());
  }
  double const seconds = median(there);
  state.counters["seconds/step"] = seconds / steps;
  state.counters["ns/particle-step"] = 1e9 * seconds / particles / steps;
  state.counters["reversible/deterministic"] = seconds / median(ordinary);
  state.counters["back/there"] = median(back) / seconds;
  state.counters["pull_back/there"] = median(pulled) / seconds;
  state.counters["bytes/particle"] = double(bytes) / particles;
  report_overhead(state, exec, seconds);
}

BENCHMARK(reverse)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Args({64, 1})
    ->Args({128, 1})
    ->Args({128, 2})
    ->Args({256, 1})
    ->Args({512, 1});

}  // namespace

}  // namespace coir::bench
