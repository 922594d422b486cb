// The steps of an ordinary deterministic simulation, those of a reversible one, the same steps
// taken back, and derivatives pulled back through them. gradient_bench.cpp has the derivatives of a
// whole universe.
//
// Equal steps to a = 1, twenty from 0.1 or 63 from 1/64, particles 1 Mpc/h apart, in float. All are
// made in turns in the same process; an iteration is the reversible run there. The counter "bits"
// counts the bits by which positions and momenta, taken back, differ from those of the start.

#include "universe.hpp"

#include <support/memory.hpp>
#include <support/timing.hpp>

#include <coir/nbody/simulation.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace coir::bench {

namespace {

using Simulation = nbody::Simulation<Space, float>;
using Cotangents = nbody::Cotangents<Space, float>;
/// A copy of an array in the host's memory, also where that is the array's own.
auto host_copy(Cotangents::Vectors const& vectors) {
  auto copy = Kokkos::create_mirror(vectors);
  Kokkos::deep_copy(copy, vectors);
  return copy;
}

template <class Host>
double differing_bits(Host const& before, Cotangents::Vectors const& vectors) {
  auto const after = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), vectors);
  std::int64_t bits = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    bits += std::popcount(std::bit_cast<std::uint32_t>(before.data()[i]) ^
                          std::bit_cast<std::uint32_t>(after.data()[i]));
  return double(bits);
}

void reverse(benchmark::State& state) {
  std::int64_t const side = state.range(0);
  int const steps = int(state.range(2));
  double const a_start = steps == 63 ? 1. / 64 : 0.1;
  double const particles = double(side) * double(side) * double(side);
  Space const exec;
  nbody::SimulationOptions options;
  options.scale_factors = nbody::scale_factors(a_start, 1, steps);
  options.mesh_ratio = double(state.range(1));
  options.deterministic = true;
  options.force_source = nbody::ForceSource::vectors;
  auto reversible = options;
  reversible.reversible = true;
  auto const held = Simulation::bytes(exec, {}, side, reversible);
  if (!fits(state, double(held.stepping + held.pull_back))) return;

  std::vector<double> ordinary, there, back, pulled;
  double bits = 0;
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
    auto const position = host_copy(simulation.particles().position);
    auto const momentum = host_copy(simulation.particles().momentum);
    time(there, [&] { simulation.advance(steps); });
    time(back, [&] { simulation.reverse(steps); });
    bits += differing_bits(position, simulation.particles().position) +
            differing_bits(momentum, simulation.particles().momentum);
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
  state.counters["bits"] = bits;
  state.counters["bytes/particle"] = double(held.stepping + held.pull_back) / particles;
  report_overhead(state, exec, seconds);
}

BENCHMARK(reverse)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond)
    ->Args({64, 1, 20})
    ->Args({128, 1, 20})
    ->Args({128, 2, 20})
    ->Args({128, 2, 63})
    ->Args({256, 1, 20})
    ->Args({512, 1, 20})
    ->Args({512, 2, 63});

}  // namespace

}  // namespace coir::bench
