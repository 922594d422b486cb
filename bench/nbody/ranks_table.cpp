// How long the steps of a simulation take over ranks:
//
//     mpirun -n 2 ranks_table [--sizes 128,256] [--steps 20] [--ratio 1] [--host] [--deterministic] [--json]
//
// For each size n, of n^3 particles 1 Mpc/h apart in float, from a = 0.1 to 1 by fastpm: a first simulation warms up, of a second one
// each step is timed by all ranks together, and the line has their median. Below it are the phases, mean and maximum over ranks, and
// the bytes that a rank sends in a step. Sizes that can't be are left out with a line that says why. --json prints an
// object a line for programs that read them, with the bytes that a rank was predicted to hold and held.

#include <support/held_memory.hpp>
#include <support/ranks.hpp>
#include <support/row.hpp>

#include <coir/core/errors.hpp>
#include <coir/core/kokkos.hpp>
#include <coir/core/machine.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coir::distributed::Group;

struct Options {
  std::vector<std::int64_t> sizes{128, 256};
  int steps = 20;
  double ratio = 1;
  bool on_host = false, deterministic = false, json = false;
};

Options options_of(int argc, char** argv) {
  Options options;
  for (int n = 1; n < argc; ++n) {
    std::string_view const word = argv[n];
    bool const has_value = n + 1 < argc;
    if (word == "--host") {
      options.on_host = true;
    } else if (word == "--deterministic") {
      options.deterministic = true;
    } else if (word == "--json") {
      options.json = true;
    } else if (word == "--steps" && has_value) {
      options.steps = std::atoi(argv[++n]);
    } else if (word == "--ratio" && has_value) {
      options.ratio = std::atof(argv[++n]);
    } else if (word == "--sizes" && has_value) {
      options.sizes.clear();
      std::istringstream numbers(argv[++n]);
      for (std::string number; std::getline(numbers, number, ',');)
        options.sizes.push_back(std::atoll(number.c_str()));
    } else {
      throw coir::PreconditionError(
          "unknown option " + std::string(word) +
          ": there are --sizes N,N,..., --steps, --ratio, --host, --deterministic and --json");
    }
  }
  coir::expects(options.steps >= 2 && options.steps <= 1000, "--steps must be 2 to 1000",
                options.steps);
  return options;
}

/// Prints the phases of a step, or adds the means over ranks to a row.
void print_phases(Group const& world, coir::nbody::PhaseSeconds const& seconds, int steps,
                  coir::bench::Row* row) {
  struct {
    char const* name;
    double seconds;
  } const phases[] = {{"paint", seconds.paint},     {"force", seconds.fft},
                      {"readout", seconds.readout}, {"drift", seconds.push},
                      {"sort", seconds.sort},       {"migrate", seconds.migrate}};
  for (auto const& phase : phases) {
    double const here = 1e3 * phase.seconds / steps, most = world.max(here),
                 mean = world.sum(here) / world.size();
    if (row)
      row->add(std::string(phase.name) + "_seconds", mean / 1e3);
    else if (world.is_first())
      std::printf("      %-8s %8.3f  %8.3f\n", phase.name, mean, most);
  }
}

template <class Exec>
void add(Group const& world, Options const& options, std::int64_t n) {
  using T = float;
  Exec const exec;
  auto const power = coir::cosmology::LinearPower<double>(coir::cosmology::planck15());
  coir::nbody::SimulationOptions simulation;
  simulation.mesh_ratio = options.ratio;
  simulation.deterministic = options.deterministic;
  for (int s = 0; s <= options.steps; ++s)
    simulation.scale_factors.push_back(0.1 + 0.9 * s / options.steps);
  auto const bytes = std::max(coir::nbody::Simulation<Exec, T>::bytes(exec, world, n, simulation),
                              coir::nbody::initial_conditions_bytes<Exec, T>(exec, world, n));
  auto const predicted = world.max(bytes);
  auto const row = [&] {
    return coir::bench::Row("step")
        .add("device", coir::device_name(exec))
        .add("transport", std::string(name_of(world.transport<Exec>())))
        .add("n", n)
        .add("bytes_predicted", predicted);
  };
  auto why = coir::bench::why_too_large<Exec>(world, bytes);
  if (why.empty() && world.size() > 1 && n > coir::nbody::Simulation<Exec, T>::most_over_ranks)
    why = "particles over ranks must be at most 2^32, 1625 along a side";
  if (!why.empty()) {
    if (!world.is_first()) return;
    if (options.json)
      row().add("skipped", why).print();
    else
      std::printf("%5lld  step left out: %s\n", static_cast<long long>(n), why.c_str());
    return;
  }
  std::int64_t held_bytes = 0;
  std::vector<double> times;
  double start_seconds = 0;
  auto const now = [&] {
    exec.fence();
    world.barrier();
    return std::chrono::steady_clock::now();
  };
  coir::distributed::Traffic sent{};
  coir::nbody::PhaseSeconds phases;
  for (bool const warm : {true, false}) {
    // Who listens slows loops down: the first simulation's memory counts.
    std::optional<coir::testing::HeldMemory> held;
    if (warm) held.emplace();
    auto const start = now();
    coir::nbody::Simulation<Exec, T> run(
        exec, world,
        coir::nbody::initial_conditions<Exec, T>(exec, world, n, static_cast<double>(n), power,
                                                 simulation.scale_factors.front()),
        power.growth(), simulation);
    auto last = now();
    start_seconds = std::chrono::duration<double>(last - start).count();
    auto const before = world.traffic();
    times.clear();
    run.advance(warm ? 2 : options.steps, [&](int) {
      auto const at = now();
      times.push_back(std::chrono::duration<double>(at - last).count());
      last = at;
    });
    sent = {world.traffic().messages - before.messages, world.traffic().bytes - before.bytes};
    phases = run.seconds();
    if (held) held_bytes = held->peak();
  }
  times.pop_back();  // the last step goes home, too
  auto const middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  double const step = *middle, count = static_cast<double>(n * n * n);
  if (options.json) {
    auto result = row();
    result.add("seconds", step)
        .add("rounds", static_cast<std::int64_t>(times.size()))
        .add("start_seconds", start_seconds)
        .add("bytes_sent", world.max(sent.bytes) / options.steps)
        .add("bytes_held", world.max(held_bytes));
    print_phases(world, phases, options.steps, &result);
    if (world.is_first()) result.print();
    return;
  }
  if (world.is_first())
    std::printf(
        "%5lld  step %9.3f ms, %8.2f M particle-steps/s, start %.3f s, %.1f MB sent per "
        "step and rank; phases, ms, mean and maximum over ranks:\n",
        static_cast<long long>(n), 1e3 * step, count / step / 1e6, start_seconds,
        static_cast<double>(sent.bytes) / options.steps / 1e6);
  print_phases(world, phases, options.steps, nullptr);
  if (world.is_first()) std::fflush(stdout);
}

template <class Exec>
void print_table(Options const& options, Group const& world) {
  std::string const transport(name_of(world.transport<Exec>()));
  if (world.is_first() && !options.json)
    std::cout << world.size() << " ranks, " << coir::device_name(Exec()) << ", "
              << coir::host_threads(Exec()) << " threads each, transport " << transport
              << ", mesh ratio " << options.ratio
              << (options.deterministic ? ", deterministic" : "") << '\n';
  for (auto const n : options.sizes) add<Exec>(world, options, n);
}

}  // namespace

int main(int argc, char** argv) {
  return coir::bench::run_on_ranks("ranks_table", argc, argv, options_of,
                                   [](auto exec, Options const& options, Group const& world) {
                                     print_table<decltype(exec)>(options, world);
                                   });
}
