// How long the steps of a simulation take over ranks:
//
//     mpirun -n 2 ranks_table [--sizes 128,256] [--steps 20] [--ratio 1] [--host] [--deterministic]
//     [--json]
//
// For each size n, of n^3 particles 1 Mpc/h apart in float, from a = 0.1 to 1 by fastpm: a first
// simulation warms up, of a second one each step is timed by all ranks together, and the line has
// their median, the mean over ranks of each phase, the bytes that a rank sends in a step, how often
// it opened other ranks' memory in all steps, and the bytes that it was predicted to hold and held.
// Sizes that can't be are left out with a line that says why. --json prints an object a line for
// programs that read them.

#include <support/held_memory.hpp>
#include <support/ranks.hpp>

#include <coir/distributed/connections.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace coir;
using bench::Options;
using bench::Row;
using distributed::Group;
using T = float;

/// Adds the means over ranks.
void add_phases(Row& row, Group const& world, nbody::PhaseSeconds const& seconds, int steps) {
  std::pair<char const*, double> const phases[] = {
      {"paint", seconds.paint}, {"force", seconds.fft}, {"readout", seconds.readout},
      {"drift", seconds.push},  {"sort", seconds.sort}, {"migrate", seconds.migrate}};
  for (auto const& [name, of_rank] : phases)
    row.add(std::string(name) + "_seconds", world.sum(of_rank) / world.size() / steps);
}

template <class Exec>
Row row_of(Exec const& exec, Group const& world, std::int64_t n, int steps,
           nbody::SimulationOptions const& options) {
  using Simulation = nbody::Simulation<Exec, T>;
  auto const power = cosmology::LinearPower<double>(cosmology::planck15());
  auto const bytes = std::max(Simulation::bytes(exec, world, n, options).stepping,
                              nbody::initial_conditions_bytes<Exec, T>(exec, world, n));
  Row row("step");
  row.add("n", n).add("bytes_predicted", world.max(bytes));
  auto why = bench::why_too_large<Exec>(world, bytes);
  if (why.empty() && world.size() > 1 && n > Simulation::most_over_ranks)
    why = "particles over ranks must be at most 2^32, 1625 along a side";
  if (!why.empty()) return row.add("skipped", why);

  using Seconds = std::chrono::duration<double>;
  auto const now = [&] {
    exec.fence();
    world.barrier();
    return std::chrono::steady_clock::now();
  };
  auto const start = [&] {
    auto const n_across = static_cast<double>(n);
    return Simulation(exec, world,
                      nbody::initial_conditions<Exec, T>(exec, world, n, n_across, power,
                                                         options.scale_factors.front()),
                      power.growth(), options);
  };
  std::int64_t held_bytes = 0;
  {  // Who listens slows loops down: the first simulation's memory counts.
    testing::HeldMemory const held;
    start().advance(2);
    held_bytes = held.peak();
  }
  auto last = now();
  auto run = start();
  auto const started = now();
  row.add("start_seconds", Seconds(started - last).count());
  last = started;
  std::vector<double> seconds;
  auto const before = world.traffic().bytes, opened = distributed::memory_opened();
  run.advance(steps, [&](int) {
    auto const at = now();
    seconds.push_back(Seconds(at - last).count());
    last = at;
  });
  auto const sent = world.max(world.traffic().bytes - before) / steps;
  seconds.pop_back();  // the last step goes home, too
  row.add("seconds", bench::median(seconds));
  row.add("rounds", static_cast<std::int64_t>(seconds.size()));
  row.add("bytes_sent", sent).add("bytes_held", world.max(held_bytes));
  row.add("opened", world.max(distributed::memory_opened() - opened));
  add_phases(row, world, run.seconds(), steps);
  return row;
}

template <class Exec>
void print_table(Exec const& exec, Options const& options, Group const& world) {
  int const steps = static_cast<int>(options.number("--steps", 2, 1000));
  nbody::SimulationOptions simulation;
  simulation.mesh_ratio = std::atof(options.word("--ratio").c_str());
  simulation.deterministic = options.is_on("--deterministic");
  simulation.scale_factors = nbody::scale_factors(0.1, 1, steps);
  for (auto const n : options.numbers("--sizes", 1, 8192)) {
    Row const row = row_of(exec, world, n, steps, simulation);
    if (world.is_first()) row.print(options.is_on("--json"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_on_ranks(
      argc, argv,
      {{"--sizes", "128,256"}, {"--steps", "20"}, {"--ratio", "1"}, {"--deterministic", ""}},
      [](auto const& exec, Options const& options, Group const& world) {
        print_table(exec, options, world);
      });
}
