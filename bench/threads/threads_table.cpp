// How each scheme of the library uses two threads: how many kernels it launches, how many threads
// did the work, and how evenly. No times: processor times of threads say it on a busy machine, too.
//
//   threads_table > FILE            prints the table
//   threads_table --compare FILE    and compares it with the one kept: 1 if it has become worse, or
//   another one
//
// Launches and threads must be those of the table. The evenness, processor time over that of the
// busiest thread, may be a quarter smaller, and processor time over time on the wall two fifths,
// where both cores are free: waking threads takes its time. What seems worse is measured again,
// three times in all.

#include <nbody/universe.hpp>
#include <support/thread_times.hpp>

#include <coir/array/all.hpp>
#include <coir/fft/plan.hpp>
#include <coir/mesh/force.hpp>
#include <coir/mesh/paint.hpp>
#include <coir/mesh/power_spectrum.hpp>
#include <coir/mesh/readout.hpp>
#include <coir/nbody/simulation.hpp>
#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/multigrid.hpp>
#include <coir/poisson/red_black.hpp>

#include <impl/Kokkos_Profiling.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace coir;
using Exec = Kokkos::DefaultHostExecutionSpace;
using coir::testing::SharedWork;

using Work = std::function<void()>;
using Add = std::function<void(std::string const& name, Work const& work)>;

struct Row {
  int launches = 0;
  int threads = 0;
  double evenness = 0;
  double over_wall = 0;
};
using Table = std::map<std::string, Row>;

// ---- what is measured ----

/// Launches of the library's kernels, by what Kokkos tells tools.
int launches_of(Work const& work) {
  static int launches;
  launches = 0;
  auto const count = [](char const* label, std::uint32_t, std::uint64_t*) {
    launches += std::string_view(label).starts_with("coir::");
  };
  using namespace Kokkos::Tools::Experimental;
  set_begin_parallel_for_callback(count);
  set_begin_parallel_reduce_callback(count);
  set_begin_parallel_scan_callback(count);
  work();
  set_begin_parallel_for_callback(nullptr);
  set_begin_parallel_reduce_callback(nullptr);
  set_begin_parallel_scan_callback(nullptr);
  return launches;
}

/// As often as it takes for processor times to tell.
Row measured(Work const& work) {
  constexpr double enough = 0.1;  // seconds of the busiest thread
  work();                         // plans, pools and page tables
  Row row;
  row.launches = launches_of(work);
  int calls = 1;
  for (;; calls *= 4) {
    auto const shared = coir::testing::share_of_threads([&] {
      for (int call = 0; call < calls; ++call) work();
    });
    row.threads = shared.threads;
    row.evenness = shared.evenness();
    row.over_wall = shared.processor / shared.wall;
    if (shared.busiest >= enough) return row;
  }
}

/// Whether two threads get two processors now.
bool cores_are_free() {
  auto const spin = [] {
    auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  auto const start = std::chrono::steady_clock::now();
  std::clock_t const before = std::clock();  // of the whole process
  std::thread other(spin);
  spin();
  other.join();
  double const processor = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  std::chrono::duration<double> const wall = std::chrono::steady_clock::now() - start;
  return processor > 1.9 * wall.count();
}

// ---- the schemes ----

template <class T>
using Grid2 = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;
template <class T>
using Grid3 = Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace>;

template <class View>
View filled(View const& view) {
  for (std::size_t i = 0; i < view.size(); ++i)
    view.data()[i] = static_cast<typename View::value_type>((i * 2654435761u >> 7) % 201) - 100;
  return view;
}

void add_solvers(Add const& add) {
  using namespace coir::poisson;
  Grid2<double> const b("b", 700, 700), u("u", 702, 702);
  Grid3<double> const b3("b3", 80, 80, 80), u3("u3", 82, 82, 82);
  filled(b);
  filled(b3);
  Exec const exec;
  auto const sweeps_by = [=](JacobiScheme scheme) {
    return [=] { jacobi(exec, b, u, {.scheme = scheme, .sweeps = 64}); };
  };
  add("jacobi, plain", sweeps_by(JacobiScheme::plain));
  add("jacobi, blocked", sweeps_by(JacobiScheme::blocked));
  add("jacobi, plain, 3-D",
      [=] { jacobi(exec, b3, u3, {.scheme = JacobiScheme::plain, .sweeps = 64}); });
  add("conjugate gradients",
      [=] { conjugate_gradients(exec, b, u, {.max_iterations = 4, .tolerance = 0}); });
  add("red-black", [=] { red_black(exec, b, u, {.sweeps = 64}); });
  add("red-black, 3-D", [=] { red_black(exec, b3, u3, {.sweeps = 64}); });
  for (auto const smoother : {Smoother::red_black, Smoother::jacobi}) {
    MultigridOptions const options{.max_cycles = 4, .tolerance = 0, .smoother = smoother};
    std::string const by = smoother == Smoother::jacobi ? ", Jacobi" : "";
    add("multigrid" + by, [=] { multigrid(exec, b, u, options); });
    add("multigrid" + by + ", 3-D", [=] { multigrid(exec, b3, u3, options); });
  }
}

void add_arrays(Add const& add) {
  std::int64_t const n = 1'000'000, side = 1000;
  auto const key = random::key(7);
  Array<double, 1> const x = random::uniform<double>(key, {n});
  Array<double, 1> y = zeros<double>(n);
  Array<double, 2> const m = random::uniform<double>(key, {side, side});
  Array<double, 2> to = zeros<double>({side, side});
  add("y = sqrt(x) + exp(x)", [=]() mutable { y = sqrt(x) + exp(x); });
  add("statement, transposed", [=]() mutable { to = transpose(m) + 1.0; });
  add("statement, 10 x 100 000", [=]() mutable {
    auto rows = reshape(x, Shape<2>{10, 100'000});
    auto out = reshape(y, Shape<2>{10, 100'000});
    out = rows * rows;
  });
  add("sum(x)", [=] { static_cast<void>(sum(x)); });
  add("max(x)", [=] { static_cast<void>(max(x)); });
  add("sum(m, 0)", [=] { static_cast<void>(sum(m, 0)); });
  add("sum(m, 1)", [=] { static_cast<void>(sum(m, 1)); });
  add("cumsum(x)", [=] { static_cast<void>(cumsum(x)); });
  add("cumsum(m, 0)", [=] { static_cast<void>(cumsum(m, 0)); });
  add("cumsum(m, 1)", [=] { static_cast<void>(cumsum(m, 1)); });
  add("cumsum of 40 000",
      [part = Array<double, 1>(x(range(0, 40'000)))] { static_cast<void>(cumsum(part)); });
  add("sort(x)", [=] { static_cast<void>(sort(x)); });
  add("sort(m)", [=] { static_cast<void>(sort(m)); });
  add("argsort(x)", [=] { static_cast<void>(argsort(x)); });
  add("histogram(x)", [=] { static_cast<void>(histogram(x, 100, 0.0, 1.0)); });
  add("unique(x)", [=] { static_cast<void>(unique(x)); });
  add("random::normal", [=] { static_cast<void>(random::normal<double>(key, {n})); });
}

void add_transforms(Add const& add) {
  std::int64_t const n = 96;
  Exec const exec;
  auto const plan = std::make_shared<fft::RealPlan<Exec, double, 3>>(
      exec, Shape<3>{n, n, n}, 1, fft::PlanOptions{.effort = fft::Effort::estimate});
  Grid3<double> const real("real", n, n, n);
  filled(real);
  Grid3<Kokkos::complex<double>> const modes("modes", n, n, n / 2 + 1);
  add("real transforms, 3-D", [=] {
    plan->forward(real, modes);
    plan->backward(modes, real);
  });
}

void add_particles(Add const& add) {
  std::int64_t const side = 64;
  Exec const exec;
  auto const particles = bench::universe<Exec, float>(exec, side, 0.5, 2);
  double const box = particles.box;
  Grid3<float> const mesh("mesh", side, side, side);
  Kokkos::View<float*, Kokkos::LayoutRight, Kokkos::HostSpace> const values(
      "values", static_cast<std::size_t>(particles.count()));
  auto const position = particles.position;
  auto const paint_by = [=](mesh::PaintOptions const& options) {
    return [=] { coir::mesh::paint(exec, position, box, mesh, options); };
  };
  add("paint, cic", paint_by({}));
  add("paint, pcs, deterministic",
      paint_by({.assignment = mesh::Assignment::pcs, .deterministic = true}));
  add("paint, private meshes", paint_by({.scheme = mesh::PaintScheme::private_meshes}));
  add("readout, cic",
      [=] { coir::mesh::readout(exec, position, box, mesh, values, mesh::Assignment::cic); });
  add("power spectrum",
      [=] { static_cast<void>(coir::mesh::power_spectrum(exec, position, box, side)); });
  add("initial conditions",
      [=] { static_cast<void>(bench::universe<Exec, float>(exec, side, 0.5, 2)); });
  cosmology::Growth<double> const growth(cosmology::simple_lcdm());
  for (bool const deterministic : {false, true}) {
    nbody::SimulationOptions options;
    options.scale_factors = nbody::scale_factors(0.5, 1, 2);
    options.mesh_ratio = 1;
    options.deterministic = deterministic;
    add(deterministic ? "two steps, deterministic" : "two steps", [=] {
      nbody::Simulation<Exec, float> simulation(exec, bench::copy_of(particles), growth, options);
      simulation.advance(2);
    });
  }
}

// ---- the table ----

std::string in_words(std::string const& name, Row const& row) {
  char line[200];
  std::snprintf(line, sizeof line, "| %-26s | %8d | %7d | %8.2f | %14.2f |", name.c_str(),
                row.launches, row.threads, row.evenness, row.over_wall);
  return line;
}

Table read_table(std::string const& path) {
  Table table;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    char name[100];
    Row row;
    if (std::sscanf(line.c_str(), "| %99[^|]| %d | %d | %lf | %lf |", name, &row.launches,
                    &row.threads, &row.evenness, &row.over_wall) != 5)
      continue;
    std::string const padded(name);
    table[padded.substr(0, padded.find_last_not_of(' ') + 1)] = row;
  }
  return table;
}

/// What is worse than it was, or else nothing.
std::string worse(Row const& now, Row const& before, bool free_cores) {
  if (now.launches != before.launches)
    return std::to_string(now.launches) + " launches where there were " +
           std::to_string(before.launches);
  if (now.threads != before.threads)
    return std::to_string(now.threads) + " threads where there were " +
           std::to_string(before.threads);
  char text[100] = "";
  if (now.evenness < 0.75 * before.evenness)
    std::snprintf(text, sizeof text, "an evenness of %.2f where it was %.2f", now.evenness,
                  before.evenness);
  else if (free_cores && now.over_wall < 0.6 * before.over_wall)
    std::snprintf(text, sizeof text, "processor time %.2f times the time where it was %.2f times",
                  now.over_wall, before.over_wall);
  return text;
}

int run(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "", path = argc > 2 ? argv[2] : "";
  if (argc > 3 || argc == 2 || (!what.empty() && what != "--compare")) {
    std::cerr << "usage: " << argv[0] << " [--compare FILE]\n";
    return 2;
  }
  std::vector<std::pair<std::string, Work>> schemes;
  auto const add = [&](std::string const& name, Work const& work) {
    schemes.emplace_back(name, work);
  };
  add_solvers(add);
  add_arrays(add);
  add_transforms(add);
  add_particles(add);
  Table const before = what == "--compare" ? read_table(path) : Table{};
  std::cout << "| scheme, on two threads     | launches | threads | evenness | processor/wall |\n"
               "| --- | --- | --- | --- | --- |"
            << std::endl;
  std::vector<std::string> complaints;
  for (auto const& [name, work] : schemes) {
    Row row;
    std::string complaint;
    for (int turn = 0; turn < 3; ++turn) {
      bool const free_cores = cores_are_free();
      row = measured(work);
      if (what != "--compare") break;
      auto const old = before.find(name);
      complaint = old == before.end() ? "it isn't in " + path
                                      : worse(row, old->second, free_cores && cores_are_free());
      if (complaint.empty()) break;
    }
    std::cout << in_words(name, row) << std::endl;
    if (!complaint.empty()) complaints.push_back(name + ": " + complaint);
  }
  for (auto const& [name, row] : before)
    if (std::none_of(schemes.begin(), schemes.end(),
                     [&](auto const& scheme) { return scheme.first == name; }))
      complaints.push_back(name + ": it is in " + path + " alone");
  for (auto const& complaint : complaints) std::cerr << "worse: " << complaint << '\n';
  if (!complaints.empty()) std::cerr << "if it has to be so: " << argv[0] << " > " << path << '\n';
  return complaints.empty() ? 0 : 1;
}

/// OpenMP reads its environment before main.
void start_again_with_two_sleeping_threads(char** argv) {
  auto const set = [](char const* name, char const* value) {
    char const* const old = std::getenv(name);
    bool const is_set = old != nullptr && std::string_view(old) == value;
    setenv(name, value, 1);
    return is_set;
  };
  bool const two = set("OMP_NUM_THREADS", "2"), asleep = set("OMP_WAIT_POLICY", "passive"),
             free = set("OMP_PROC_BIND", "false");
  if (!two || !asleep || !free) execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  start_again_with_two_sleeping_threads(argv);
  try {
    int no_arguments = 1;
    Kokkos::ScopeGuard const kokkos(no_arguments, argv);
    return run(argc, argv);
  } catch (std::exception const& error) {
    std::cerr << argv[0] << ": error: " << error.what() << '\n';
    return 1;
  }
}
