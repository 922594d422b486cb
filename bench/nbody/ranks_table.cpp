// How long the steps of a simulation take over ranks:
//
//     mpirun -n 2 ranks_table [--sizes 128,256] [--steps 20] [--ratio 1] [--host] [--deterministic]
//     [--gradient] [--json]
//
// For each size n, of n^3 particles 1 Mpc/h apart in float, from a = 0.1 to 1 by fastpm: a first
// simulation warms up, of a second one each step is timed by all ranks together, and the line has
// their median, the mean over ranks of each phase, the bytes that a rank sends in a step, how often
// it opened other ranks' memory in all steps, and the bytes that it was predicted to hold and held.
// With --gradient the line has the seconds of a loss of the particles after all steps, those of the
// loss with its derivatives along the noise and the cosmology, medians of three rounds in turns,
// and the bytes of the derivatives for each particle of a rank. Sizes that can't be are left out
// with a line that says why. --json prints an object a line for programs that read them.

#include <support/held_memory.hpp>
#include <support/ranks.hpp>

#include <coir/distributed/connections.hpp>
#include <coir/distributed/share.hpp>
#include <coir/nbody/forward_model.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/losses.hpp>
#include <coir/nbody/noise_field.hpp>
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

/// Why a universe can't be; empty if it can.
template <class Exec>
std::string why_not(Group const& world, std::int64_t n, std::int64_t bytes) {
  if (world.size() > 1 && n > nbody::Simulation<Exec, T>::most_over_ranks)
    return "particles over ranks must be at most 2^32, 1625 along a side";
  return bench::why_too_large<Exec>(world, bytes);
}

template <class Exec>
Row row_of_steps(Exec const& exec, Group const& world, std::int64_t n, int steps,
                 nbody::SimulationOptions const& options) {
  using Simulation = nbody::Simulation<Exec, T>;
  auto const power = cosmology::LinearPower<double>(cosmology::planck15());
  auto const bytes = std::max(Simulation::bytes(exec, world, n, options).stepping,
                              nbody::initial_conditions_bytes<Exec, T>(exec, world, n));
  Row row("step");
  row.add("n", n).add("bytes_predicted", world.max(bytes));
  if (auto const why = why_not<Exec>(world, n, bytes); !why.empty()) return row.add("skipped", why);

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

/// The loss is the squared distance of the density from a mesh of ones.
template <class Exec>
Row row_of_gradient(Exec const& exec, Group const& world, std::int64_t n,
                    nbody::SimulationOptions const& options) {
  using Model = nbody::ForwardModel<Exec, T>;
  Model const model(exec, world, {.side = n, .box = static_cast<double>(n), .simulation = options});
  std::int64_t const cells = nbody::Simulation<Exec, T>::mesh_side(n, options);
  auto const sites = distributed::share_of(n, world.rank(), world.size()).count * n * n,
             planes = distributed::share_of(cells, world.rank(), world.size()).count;
  // The noise, its slope, the target, and the density and its slope, which have ghosts.
  std::int64_t const fields = (2 * sites + 4 * planes * cells * cells) * std::int64_t(sizeof(T)),
                     bytes = model.bytes() + fields;
  Row row("gradient");
  row.add("n", n).add("bytes_predicted", world.max(bytes));
  if (auto const why = why_not<Exec>(world, n, bytes); !why.empty()) return row.add("skipped", why);

  auto const noise = nbody::noise_field<Exec, T>(exec, world, {.seed = 1}, n);
  auto const across = static_cast<std::size_t>(cells);
  typename Model::Field const ones("ones", static_cast<std::size_t>(planes), across, across);
  Kokkos::deep_copy(ones, T(1));
  nbody::DensityMisfit<Exec, T> const loss{
      .target = ones,
      .inverse_variance = 1 / (double(cells) * double(cells) * double(cells)),
      .group = world};
  auto const seconds_of = [&](auto const& call) {
    exec.fence();
    world.barrier();
    auto const start = std::chrono::steady_clock::now();
    call();
    exec.fence();
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
    return world.max(taken.count());
  };
  auto const value = [&] { model.value(noise, cosmology::planck15(), loss); };
  auto const gradient = [&] { model.value_and_grad(noise, cosmology::planck15(), loss); };
  std::int64_t held_bytes = 0;
  {
    testing::HeldMemory const held;
    gradient();
    held_bytes = held.peak();
  }
  std::vector<double> of_value, of_gradient;
  for (int round = 0; round < 3; ++round) {
    of_value.push_back(seconds_of(value));
    of_gradient.push_back(seconds_of(gradient));
  }
  row.add("value_seconds", bench::median(of_value));
  row.add("gradient_seconds", bench::median(of_gradient));
  row.add("gradient/value", bench::median(of_gradient) / bench::median(of_value));
  row.add("rounds", std::int64_t(3)).add("bytes_held", world.max(held_bytes));
  return row.add("bytes/particle",
                 world.max(double(held_bytes) / double(std::max<std::int64_t>(sites, 1))));
}

template <class Exec>
void print_table(Exec const& exec, Options const& options, Group const& world) {
  int const steps = static_cast<int>(options.number("--steps", 2, 1000));
  nbody::SimulationOptions simulation;
  simulation.mesh_ratio = std::atof(options.word("--ratio").c_str());
  simulation.deterministic = options.is_on("--deterministic");
  simulation.scale_factors = nbody::scale_factors(0.1, 1, steps);
  for (auto const n : options.numbers("--sizes", 1, 8192)) {
    Row const row = options.is_on("--gradient") ? row_of_gradient(exec, world, n, simulation)
                                                : row_of_steps(exec, world, n, steps, simulation);
    if (world.is_first()) row.print(options.is_on("--json"));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_on_ranks(argc, argv,
                             {{"--sizes", "128,256"},
                              {"--steps", "20"},
                              {"--ratio", "1"},
                              {"--deterministic", ""},
                              {"--gradient", ""}},
                             [](auto const& exec, Options const& options, Group const& world) {
                               print_table(exec, options, world);
                             });
}
