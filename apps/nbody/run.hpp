#pragma once

/// A run: its universe, its memory, its particles, its steps.

#include "balance.hpp"
#include "checkpoint.hpp"
#include "density.hpp"
#include "go_on.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "schedule.hpp"
#include "setting_list.hpp"
#include "settings.hpp"
#include "shared_folder.hpp"
#include "snapshot_files.hpp"
#include "start_from_snapshot.hpp"
#include "universe.hpp"
#include "white_noise_file.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/timing.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/memory_plan.hpp>
#include <support/on_all.hpp>
#include <support/progress.hpp>
#include <support/same_file.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

namespace coir::apps::nbody {

/// A run before it starts.
struct Run {
  distributed::Group ranks;
  Settings settings;
  Schedule schedule;
  std::optional<Checkpoint> checkpoint;
  coir::nbody::SimulationOptions simulation;

  Run(distributed::Group group, Settings const& all, Schedule const& when,
      std::optional<Checkpoint> from = {})
      : ranks(std::move(group)),
        settings(all),
        schedule(when),
        checkpoint(std::move(from)),
        simulation(simulation_options(all, when.scale_factors)) {}

  /// Cells of the force mesh along a side.
  std::int64_t mesh_side() const {
    using Exec = Kokkos::DefaultHostExecutionSpace;  // the same on all
    return coir::nbody::Simulation<Exec, float>::mesh_side(settings.particles, simulation);
  }
  int first_step() const { return checkpoint ? checkpoint->steps_done : 0; }
  /// The step to stop after.
  int last_step() const {
    return settings.stop_after > 0 ? std::min(settings.stop_after, schedule.steps())
                                   : schedule.steps();
  }
  /// Every rank that has particles writes one.
  int files_of_snapshot() const {
    return static_cast<int>(std::min<std::int64_t>(ranks.size(), settings.particles));
  }
  /// Whether it goes on from the checkpoint of the folder that it writes to.
  bool goes_on_in_its_folder() const {
    std::error_code none;
    return checkpoint &&
           std::filesystem::equivalent(
               checkpoint->path, std::filesystem::path(settings.output) / checkpoint_name, none);
  }
  std::int64_t count() const {
    return settings.particles * settings.particles * settings.particles;
  }
};

/// Figures of a run that has ended.
struct Figures {
  int steps = 0;                     ///< made in this run
  double a = 0;                      ///< reached
  double start_seconds = 0;          ///< initial conditions, or reading the checkpoint
  double seconds = 0;                ///< of the steps
  coir::nbody::PhaseSeconds phases;  ///< of these
  OutputSeconds outputs;
  MemoryPlan predicted;
  Hardware hardware;
  double exchange_seconds = 0;  ///< of all of these, what the host spent in exchanges
  std::string transport;        ///< of exchanges
};

/// A comment for config.toml where outputs add steps to those that are asked for.
inline std::string note_of_steps(Run const& run) {
  int const asked = steps_asked_for(run.settings), made = run.schedule.steps();
  if (made == asked) return "";
  return "# " + std::to_string(made) + " steps: " + std::to_string(made - asked) +
         " more than asked for, where outputs cut steps in two\n";
}

/// The memory that a run needs at most on this rank. Collective.
template <class T, class Exec>
MemoryPlan memory_of(Exec const& exec, Run const& run, Universe const& universe) {
  Settings const& s = run.settings;
  using Simulation = coir::nbody::Simulation<Exec, T>;
  auto const held = Simulation::bytes(exec, run.ranks, s.particles, run.simulation);
  std::int64_t const n = s.particles, mesh_side = run.mesh_side(), size = sizeof(T);
  // While the run starts, particles are made, and white noise is written, or this rank's planes are
  // read from a file, and held with a mesh of them and their numbers in the precision of the run.
  Bytes start;
  if (!run.checkpoint)
    start.device = coir::nbody::initial_conditions_bytes<Exec, T>(exec, run.ranks, n);
  if (s.white_noise && run.ranks.is_first()) {
    Shape<3> const shape{n, n, n};
    start.device = std::max(
        start.device, fft::bytes_in_place<T>(shape) +
                          fft::RealPlan<Exec, T, 3>::work_bytes(exec, shape, 1, plan_of_noise));
  }
  if (!run.checkpoint && !s.noise.empty()) {
    std::error_code none;
    auto const file = std::filesystem::file_size(s.noise, none);
    auto const planes = distributed::share_of(n, run.ranks.rank(), run.ranks.size()).count;
    std::int64_t const numbers = planes * n * n,
                       mesh = runs_on_host<Exec> ? planes * n * (n + 2) : numbers;
    start.host = (none ? 8 * numbers : static_cast<std::int64_t>(file) / n * planes) +
                 (numbers + mesh) * size;
  }
  double const astray = farthest_astray(universe.power, run.schedule.scale_factors.back(), s.box,
                                        s.particles, run.ranks.size());
  Bytes const outputs = Outputs<Exec, T>::bytes(exec, run.ranks, s, astray);
  std::int64_t const density = s.density ? GatheredMesh<T>().list(run.ranks, mesh_side).bytes() : 0;
  // HDF5's own, and what it leaves in the heap between what others left there.
  bool const writes_particles = s.snapshots || s.checkpoint > 0 || s.stop_after > 0;
  std::int64_t const hdf5 = writes_particles ? 4 << 20 : 0;
  std::int64_t const here = particles_of_rank(run.ranks, n).count;
  MemoryPlan plan{resident_bytes(), bytes_beside(3 * here * size, run.ranks)};
  if (runs_on_host<Exec>) {
    // Steps take counts of particles in bins, and a list of the particles that lie in another
    // thread's part of the mesh, which were a quarter of all at most in the runs tried.
    std::int64_t const threads = exec.concurrency(),
                       planes = (n + run.ranks.size() - 1) / run.ranks.size();
    std::int64_t const bins_of_row = mesh_side / std::max<std::int64_t>(32, 4 * threads) + 1;
    std::int64_t const steps =
        mesh_side * mesh_side * bins_of_row * threads * 4 + planes * n * n / 4 * 8 +
        ghost_bytes<Exec, T>(exec, mesh_side, static_cast<int>(s.assignment));
    plan.host += std::max({start.device, start.host, held.stepping + steps + hdf5,
                           held.at_rest + std::max(outputs.device, density) + hdf5});
  } else {
    plan.device = std::max({start.device, held.stepping, held.at_rest + outputs.device});
    plan.host += std::max(start.host, std::max(outputs.host, density) + hdf5);
  }
  return with_what_was_read(plan);
}

/// \param device  what tells devices apart
inline void expects_memory_for(Run const& run, MemoryPlan const& plan, std::string const& device) {
  expects_memory(run.ranks, plan,
                 "a run of " + std::to_string(run.settings.particles) +
                     "^3 particles on a mesh of " + std::to_string(run.mesh_side()) + "^3 cells",
                 device);
}

template <class T, class Exec>
coir::nbody::Particles<Exec, T> particles_of(Exec const& exec, Run& run,
                                             cosmology::LinearPower<double> const& power,
                                             Poll const& poll) {
  if (run.checkpoint)
    return read_particles<Exec, T>(run.ranks, *run.checkpoint, run.settings, poll);
  if (!run.settings.start.empty()) return read_start<Exec, T>(run.ranks, run.settings, poll);
  coir::nbody::LptOptions options;
  options.order = run.settings.lpt;
  options.noise = run.settings.random;
  options.noise_file = run.settings.noise.string();
  return coir::nbody::initial_conditions<Exec, T>(exec, run.ranks, run.settings.particles,
                                                  run.settings.box, power,
                                                  run.schedule.scale_factors.front(), options);
}

/// Counts numbers that are infinite or not a number.
template <class T>
struct CountNotFinite {
  T const* number;
  KOKKOS_FUNCTION void operator()(std::int64_t n, std::int64_t& count) const {
    constexpr T largest = std::numeric_limits<T>::max();
    count += math::abs(number[n]) <= largest ? 0 : 1;  // NaN fails the comparison
  }
};

template <class Exec, class T>
std::int64_t not_finite(
    Exec const& exec,
    Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space> const& vectors) {
  std::int64_t count = 0;
  reduce("coir::apps::nbody::not_finite", exec,
         box<1, std::int64_t>({static_cast<std::int64_t>(vectors.size())}),
         CountNotFinite<T>{vectors.data()}, Kokkos::Sum<std::int64_t>(count));
  return count;
}

/// Collective.
///
/// \throws NumericalError if a momentum isn't finite, or a particle has moved so far that it has no
///   place in the box
template <class Exec, class T>
void expects_finite(Exec const& exec, distributed::Group const& ranks, Settings const& settings,
                    coir::nbody::Particles<Exec, T> const& particles, int steps_done, double a) {
  std::string const when =
      " after " + std::to_string(steps_done) + " steps, at a = " + in_words(a) + ": use ";
  // A failure at the start is the universe's fault; later it may also be that of too long steps.
  std::string const remedy =
      (steps_done > 0 ? "more --steps, " : "") + remedy_for_amplitude(settings);
  std::string const double_precision =
      settings.precision == Precision::float32 ? "--precision double, " : "";
  if (std::int64_t const bad = ranks.sum(not_finite<Exec, T>(exec, particles.momentum)); bad > 0)
    throw NumericalError(std::to_string(bad) + " components of momenta aren't finite" + when +
                         double_precision + remedy);
  if (std::int64_t const bad = ranks.sum(not_finite<Exec, T>(exec, particles.position)); bad > 0)
    throw NumericalError(std::to_string(bad) +
                         " coordinates of particles have moved by more than 4096 boxes at once" +
                         when + remedy);
}

/// How far a run has come, and where it could go on from if it ended now.
class RunState {
 public:
  explicit RunState(Run const& run) : run_(run), steps_done_(run.first_step()) {
    if (run.checkpoint) goes_on_from(run.checkpoint->path);
  }

  int steps_done() const { return steps_done_; }
  void set_steps_done(int steps) { steps_done_ = steps; }

  /// Tells the user, too.
  void goes_on_from(std::filesystem::path const& path) {
    go_on_ = {path, steps_done_};
    say_of_files(promise_of(go_on_));
  }
  GoOn const& go_on() const { return go_on_; }
  bool has_checkpoint_of_now() const { return !go_on_.path.empty() && go_on_.step >= steps_done_; }

  /// To be called at least every half second: what takes longer is ended from outside, with the
  /// same promise.
  /// \throws Failure if the user asked the program to stop
  void poll() const {
    if (interrupted()) stop();
  }
  /// poll() where all ranks are at the same place: a signal to one of them stops all. Collective.
  void poll_on_all() const {
    // Not poll(): a signal that comes after the ranks have asked each other would stop this one
    // alone.
    if (share_interrupt(run_.ranks)) stop();
  }

 private:
  [[noreturn]] void stop() const {
    throw Failure(ExitCode::interrupted, "stopped after " + std::to_string(steps_done_) + " of " +
                                             std::to_string(run_.schedule.steps()) + " steps; " +
                                             promise_of(go_on_));
  }

  Run const& run_;
  int steps_done_;
  GoOn go_on_;
};

/// The step up to which the simulation advances at once: where particles are looked at next.
inline int next_stop(Run const& run, int steps_done) {
  int next = run.last_step();
  auto const& outputs = run.schedule.outputs;
  if (auto const output = std::upper_bound(outputs.begin(), outputs.end(), steps_done);
      output != outputs.end())
    next = std::min(next, *output);
  if (int const interval = run.settings.checkpoint; interval > 0)
    next = std::min(next, (steps_done / interval + 1) * interval);
  return next;
}

inline bool is_checkpoint_due(Run const& run, int steps_done) {
  int const interval = run.settings.checkpoint;
  return steps_done == run.settings.stop_after ||
         (interval > 0 && (steps_done % interval == 0 || steps_done == run.schedule.steps()));
}

/// The particles that a run starts from, checked.
template <class T, class Exec>
coir::nbody::Particles<Exec, T> starting_particles(Exec const& exec, Run& run,
                                                   Universe const& universe, RunState const& state,
                                                   double& seconds) {
  Stopwatch<Exec> const watch(exec);
  auto particles = [&] {
    Activity const starting(run.checkpoint ? "reading the checkpoint" : "making the start");
    return particles_of<T>(exec, run, universe.power, [&] { state.poll(); });
  }();
  seconds = watch.seconds();
  state.poll_on_all();
  expects_finite(exec, run.ranks, run.settings, particles, run.first_step(),
                 run.schedule.scale_factors[static_cast<std::size_t>(run.first_step())]);
  return particles;
}

/// Makes the steps of a run, and writes its outputs and checkpoints.
template <class Exec, class T>
class Stepping {
 public:
  Stepping(Exec const& exec, Run const& run, Universe const& universe, FileNames const& names,
           RunState& state, coir::nbody::Particles<Exec, T> particles)
      : exec_(exec),
        run_(run),
        names_(names),
        state_(state),
        simulation_(exec, run.ranks, std::move(particles), universe.power.growth(), run.simulation,
                    run.first_step()),
        outputs_(exec, run.ranks, run.settings, names, universe.power,
                 run.goes_on_in_its_folder()) {}

  void advance_to(int step, ProgressLine& line) {
    std::int64_t const per_step = run_.count();
    Stopwatch<Exec> const watch(exec_);
    make_steps(state_.go_on(), [&] {
      simulation_.advance(step - state_.steps_done(), [&](int done) {
        state_.set_steps_done(done);
        line.update(
            (done - run_.first_step()) * per_step,
            (run_.last_step() - run_.first_step()) * per_step,
            "step " + std::to_string(done) + " of " + std::to_string(run_.schedule.steps()));
        state_.poll_on_all();
      });
    });
    seconds_ += watch.seconds();
    expects_finite(exec_, run_.ranks, run_.settings, simulation_.particles(),
                   simulation_.steps_done(), simulation_.a());
  }

  void write_outputs_if_due() {
    auto const& at = run_.schedule.outputs;
    if (!std::binary_search(at.begin(), at.end(), state_.steps_done())) return;
    write_or_keep(
        [&] {
          Activity const writing("writing outputs");
          outputs_.write(simulation_.particles(), simulation_.a(), [&] { state_.poll(); });
          if (run_.settings.density) write_density_now();
        },
        [&] {
          if (!state_.has_checkpoint_of_now()) write_checkpoint_now();
          return "--restart " + state_.go_on().path.string() + " goes on from here";
        });
  }

  void write_checkpoint_if_due() {
    if (is_checkpoint_due(run_, state_.steps_done())) write_checkpoint_now();
  }

  void add_to(Figures& figures) {
    figures.steps = simulation_.steps_done() - run_.first_step();
    figures.a = simulation_.a();
    figures.seconds = seconds_;
    figures.phases = simulation_.seconds();
    figures.outputs = outputs_.seconds();
    figures.exchange_seconds = run_.ranks.exchange_seconds();
    figures.transport = name_of(run_.ranks.transport<Exec>());
  }

 private:
  void write_density_now() {
    Stopwatch<Exec> const taken(exec_);
    write_density<Exec, T>(exec_, run_.ranks, simulation_,
                           names_.at("density", simulation_.a(), ".npy"));
    outputs_.seconds().io += taken.seconds();
  }

  void write_checkpoint_now() {
    Activity const writing("writing a checkpoint");
    Stopwatch<Exec> const taken(exec_);
    write_checkpoint<Exec, T>(run_.ranks, names_.checkpoint(), run_.settings,
                              run_.schedule.scale_factors, state_.steps_done(),
                              simulation_.particles(), [&] { state_.poll(); });
    outputs_.seconds().io += taken.seconds();
    state_.goes_on_from(names_.checkpoint());
  }

  Exec exec_;
  Run const& run_;
  FileNames const& names_;
  RunState& state_;
  coir::nbody::Simulation<Exec, T> simulation_;
  Outputs<Exec, T> outputs_;
  double seconds_ = 0;
};

/// \throws ResourceError if files of an earlier run on another number of ranks would be mixed with
/// this one's. A run that goes on in its folder replaces them.
inline void expects_folder_without_other_snapshots(Run const& run, FileNames const& names) {
  if (!run.settings.snapshots || run.goes_on_in_its_folder()) return;
  for (int const step : run.schedule.outputs)
    if (step >= run.first_step() && step <= run.last_step())
      expects_no_other_snapshot_files(names,
                                      run.schedule.scale_factors[static_cast<std::size_t>(step)],
                                      run.files_of_snapshot());
}

/// Makes the particles and the steps, and writes everything but the report. Collective.
///
/// \throws Failure if the user stopped it, and as the library
template <class T, class Exec>
Figures simulate(Exec const& exec, Run& run, Universe const& universe,
                 MemoryPlan const& predicted) {
  Settings const& settings = run.settings;
  FileNames const names(settings, run.schedule, run.ranks.size());
  SharedFolder const folder(run.ranks, settings.output, names.config());
  on_first(run.ranks, [&] { expects_folder_without_other_snapshots(run, names); });
  on_first(run.ranks, [&] { expects_good_files({{"--report", settings.report}}); });
  if (settings.white_noise && !run.goes_on_in_its_folder())
    on_first(run.ranks, [&] {
      write_white_noise<T>(exec, settings.particles, settings.random, names.white_noise());
    });
  RunState state(run);
  Figures figures;
  figures.predicted = predicted;
  figures.hardware = hardware_of(exec);
  std::optional particles =
      starting_particles<T>(exec, run, universe, state, figures.start_seconds);
  on_first(run.ranks, [&] {
    // An earlier run's, which --restart would take for this one's until there is another.
    if (!run.goes_on_in_its_folder()) remove_checkpoint(names.checkpoint());
    io::write_file(names.config(), note_of_steps(run) + config_text(settings, settings.output));
  });

  Activity const stepping("making steps");
  Stepping<Exec, T> steps(exec, run, universe, names, state, std::move(*particles));
  // A Kokkos::View that was moved from holds its memory still, which over ranks particles soon
  // leave.
  particles.reset();
  {
    ProgressLine line(std::string(name_of(settings.stepper)), "particle-steps",
                      run.ranks.is_first() ? settings.progress : ProgressMode::never);
    steps.write_outputs_if_due();
    state.poll_on_all();
    while (state.steps_done() < run.last_step()) {
      steps.advance_to(next_stop(run, state.steps_done()), line);
      steps.write_outputs_if_due();
      steps.write_checkpoint_if_due();
      state.poll_on_all();
    }
  }
  steps.add_to(figures);
  return figures;
}

}  // namespace coir::apps::nbody
