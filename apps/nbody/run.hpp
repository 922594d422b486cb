#pragma once

/// \file
/// A run: its universe, its memory, its particles, its steps.

#include "checkpoint.hpp"
#include "fields.hpp"
#include "options.hpp"
#include "outputs.hpp"
#include "schedule.hpp"
#include "settings.hpp"
#include "universe.hpp"

#include <coir/core/loops.hpp>
#include <coir/core/math.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/timing.hpp>
#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/memory_plan.hpp>
#include <support/output_folder.hpp>
#include <support/progress.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace coir::apps::nbody {

using Exec = Kokkos::DefaultExecutionSpace;

/// What is to be done.
struct Run {
  Settings settings;
  Schedule schedule;
  std::optional<Checkpoint> checkpoint;

  int first_step() const { return checkpoint ? checkpoint->steps_done : 0; }
  /// The step to stop after.
  int last_step() const {
    return settings.stop_after > 0 ? std::min(settings.stop_after, schedule.steps())
                                   : schedule.steps();
  }
  std::int64_t count() const {
    return settings.particles * settings.particles * settings.particles;
  }
};

/// How it went.
struct Figures {
  int steps = 0;                     ///< made in this run
  double a = 0;                      ///< reached
  double start_seconds = 0;          ///< initial conditions, or reading the checkpoint
  double seconds = 0;                ///< of the steps
  coir::nbody::PhaseSeconds phases;  ///< of these
  OutputSeconds outputs;
  MemoryPlan predicted;
};

/// What steps on a host take beside the meshes: counts of particles in bins, and numbers of those that lie in another
/// thread's part of the mesh, a quarter of them at most in what was tried.
template <class T>
std::int64_t step_bytes(Settings const& settings, std::int64_t mesh_side) {
  if (!runs_on_host<Exec>) return 0;
  Exec const exec;
  int const order = settings.assignment == mesh::Assignment::cic   ? 2
                    : settings.assignment == mesh::Assignment::tsc ? 3
                                                                   : 4;
  std::int64_t const threads = exec.concurrency();
  std::int64_t const bins_of_row = mesh_side / std::max<std::int64_t>(32, 4 * threads) + 1;
  std::int64_t const bins = mesh_side * mesh_side * bins_of_row * threads * 4;
  std::int64_t const n = settings.particles, lists = n * n * n / 4 * 8;
  return bins + ghost_bytes<Exec, T>(exec, mesh_side, order) + lists;
}

/// Memory that is held while white noise is read: a mesh of it, the file, and its numbers in the precision of the run.
template <class T>
std::int64_t noise_bytes(Run const& run) {
  std::error_code none;
  auto const file = std::filesystem::file_size(run.settings.noise, none);
  std::int64_t const n = run.settings.particles;
  return (none ? 8 * run.count() : static_cast<std::int64_t>(file)) +
         (run.count() + (runs_on_host<Exec> ? n * n * (n + 2) : run.count())) *
             std::int64_t(sizeof(T));
}

/// The memory that a run needs at most.
template <class T>
MemoryPlan memory_of(Run const& run) {
  Exec const exec;
  Settings const& s = run.settings;
  auto const options = simulation_options(s, run.schedule.scale_factors);
  std::int64_t const side = coir::nbody::Simulation<Exec, T>::mesh_side(s.particles, options);
  std::int64_t const held = coir::nbody::Simulation<Exec, T>::bytes(exec, s.particles, options);
  std::int64_t const start =
      run.checkpoint ? 0 : coir::nbody::initial_conditions_bytes<Exec, T>(exec, s.particles);
  Bytes const outputs = Outputs<Exec, T>::bytes(exec, s);
  std::int64_t const noise = run.checkpoint || s.noise.empty() ? 0 : noise_bytes<T>(run);
  // HDF5's own, and what it leaves in the heap between what others left there.
  bool const writes_particles = s.snapshots || s.checkpoint > 0 || s.stop_after > 0;
  std::int64_t const hdf5 = writes_particles ? 4 << 20 : 0;
  MemoryPlan plan{resident_bytes(), bytes_beside(3 * run.count() * std::int64_t(sizeof(T))), 0};
  if (runs_on_host<Exec>) {
    plan.host +=
        std::max({start, noise, held + std::max(step_bytes<T>(s, side), outputs.device) + hdf5});
  } else {
    plan.device = std::max(start, held + outputs.device);
    plan.host += std::max(noise, outputs.host + hdf5);
  }
  return plan;
}

inline void expects_memory_for(Run const& run, MemoryPlan const& plan) {
  expects_memory(plan, "a run of " + std::to_string(run.settings.particles) +
                           "^3 particles on a mesh of " +
                           std::to_string(coir::nbody::Simulation<Exec, float>::mesh_side(
                               run.settings.particles,
                               simulation_options(run.settings, run.schedule.scale_factors))) +
                           "^3 cells");
}

template <class T>
coir::nbody::Particles<Exec, T> particles_of(Run& run, cosmology::LinearPower<double> const& power,
                                             Poll const& poll) {
  if (run.checkpoint) return read_particles<Exec, T>(*run.checkpoint, run.settings, poll);
  coir::nbody::LptOptions options;
  options.order = run.settings.lpt;
  options.noise = run.settings.random;
  options.noise_file = run.settings.noise.string();
  return coir::nbody::initial_conditions<Exec, T>(Exec{}, run.settings.particles, run.settings.box,
                                                  power, run.schedule.scale_factors.front(),
                                                  options);
}

/// Counts numbers that are infinite or not a number.
template <class T>
struct CountNotFinite {
  T const* number;
  KOKKOS_FUNCTION void operator()(std::int64_t n, std::int64_t& count) const {
    count += math::abs(number[n]) <= Kokkos::reduction_identity<T>::min() ? 0 : 1;
  }
};

template <class T>
std::int64_t not_finite(
    Kokkos::View<T* [3], Kokkos::LayoutRight, typename Exec::memory_space> const& vectors) {
  std::int64_t count = 0;
  reduce("coir::apps::nbody::not_finite", Exec{},
         box<1, std::int64_t>({static_cast<std::int64_t>(vectors.size())}),
         CountNotFinite<T>{vectors.data()}, Kokkos::Sum<std::int64_t>(count));
  return count;
}

/// \throws NumericalError if a momentum isn't finite, or a particle has moved so far that it has no place in the box
template <class T>
void expects_finite(Settings const& settings, coir::nbody::Particles<Exec, T> const& particles,
                    int steps_done, double a) {
  std::string const when =
      " after " + std::to_string(steps_done) + " steps, at a = " + in_words(a) + ": use ";
  // What is wrong at the start is wrong with the universe; later steps may be too long as well.
  std::string const remedy =
      (steps_done > 0 ? "more --steps, " : "") + remedy_for_amplitude(settings);
  std::string const double_precision =
      settings.precision == Precision::float32 ? "--precision double, " : "";
  if (std::int64_t const bad = not_finite<T>(particles.momentum); bad > 0)
    throw NumericalError(std::to_string(bad) + " components of momenta aren't finite" + when +
                         double_precision + remedy);
  if (std::int64_t const bad = not_finite<T>(particles.position); bad > 0)
    throw NumericalError(std::to_string(bad) +
                         " coordinates of particles have moved by more than 4096 boxes at once" +
                         when + remedy);
}

/// Where a run could go on from if it ended now.
struct GoOn {
  std::filesystem::path path{};  ///< empty: there is no checkpoint
  int step = 0;
};

inline std::string promise_of(GoOn const& go_on) {
  return go_on.path.empty() ? "what was written is whole"
                            : "--restart " + go_on.path.string() + " goes on from step " +
                                  std::to_string(go_on.step);
}

/// \throws Failure if the user asked the program to stop
inline void expects_no_interrupt(Run const& run, int steps_done, GoOn const& go_on) {
  if (interrupted())
    throw Failure(ExitCode::interrupted, "stopped after " + std::to_string(steps_done) + " of " +
                                             std::to_string(run.schedule.steps()) + " steps; " +
                                             promise_of(go_on));
}

/// Writes outputs. Where these can't be written, for want of memory or of space on a disk, the particles are kept.
///
/// \param keep  writes a checkpoint and says how to go on
/// \throws ResourceError with what was wrong, and how to go on if the particles could be kept
template <class Write, class Keep>
void write_or_keep(Write const& write, Keep const& keep) {
  std::string wrong;
  try {
    return write();
  } catch (ResourceError const& error) {
    wrong = error.what();
  } catch (std::bad_alloc const&) {
    wrong = "out of memory while an output was written";
  } catch (std::runtime_error const& error) {
    wrong = error.what();  // Kokkos' word for the same
    if (wrong.find("llocat") == std::string::npos) throw;
  }
  std::string how;
  try {
    how = keep();
  } catch (ResourceError const&) {
    throw ResourceError(wrong);
  }
  throw ResourceError(wrong + "; the particles are kept: " + how);
}

/// Makes the particles and the steps, and writes everything but the report.
///
/// \throws Failure if the user stopped it, and as the library
template <class T>
Figures simulate(Run& run, Universe const& universe, MemoryPlan const& predicted) {
  Exec const exec;
  Settings const& settings = run.settings;
  FileNames const names(settings, run.schedule);
  OutputFolder const folder(settings.output, names.config());
  if (!settings.report.empty()) io::AtomicFile{settings.report};  // can it be written?
  GoOn go_on;
  int done = run.first_step();
  // What takes longer than half a second between two of these is ended from outside, with the same promise.
  Poll const poll = [&] { expects_no_interrupt(run, done, go_on); };
  auto const goes_on_from = [&](std::filesystem::path const& path, int step) {
    go_on = {path, step};
    say_of_files(promise_of(go_on));
  };
  if (run.checkpoint) goes_on_from(run.checkpoint->path, run.first_step());

  Stopwatch<Exec> watch(exec);
  auto particles = [&] {
    Activity const starting(run.checkpoint ? "reading the checkpoint" : "making the start");
    return particles_of<T>(run, universe.power, poll);
  }();
  Figures figures;
  figures.predicted = predicted;
  figures.start_seconds = watch.seconds();
  poll();
  expects_finite<T>(settings, particles, run.first_step(),
                    run.schedule.scale_factors[static_cast<std::size_t>(run.first_step())]);
  io::write_file(names.config(), config_text(settings));

  Activity const stepping("making steps");
  coir::nbody::Simulation<Exec, T> simulation(
      exec, std::move(particles), universe.power.growth(),
      simulation_options(settings, run.schedule.scale_factors), run.first_step());
  Outputs<Exec, T> outputs(exec, settings, names, universe.power);
  {
    std::int64_t const per_step = run.count();
    ProgressLine line(std::string(name_of(settings.stepper)), "particle-steps", settings.progress);
    auto const after_step = [&](int made) {
      done = made;
      line.update((done - run.first_step()) * per_step,
                  (run.last_step() - run.first_step()) * per_step,
                  "step " + std::to_string(done) + " of " + std::to_string(run.schedule.steps()));
      poll();
    };
    auto const& at = run.schedule.outputs;
    auto const write_checkpoint_here = [&] {
      Activity const writing("writing a checkpoint");
      Stopwatch<Exec> const taken(exec);
      write_checkpoint<Exec, T>(names.checkpoint(), settings, run.schedule.scale_factors, done,
                                simulation.particles(), poll);
      outputs.seconds().io += taken.seconds();
      goes_on_from(names.checkpoint(), done);
    };
    bool at_start = true;
    for (;;) {
      if (std::binary_search(at.begin(), at.end(), done))
        write_or_keep(
            [&] {
              Activity const writing("writing outputs");
              outputs.write(simulation.particles(), simulation.a(), poll);
            },
            [&] {
              if (go_on.path.empty() || go_on.step < done) write_checkpoint_here();
              return "--restart " + go_on.path.string() + " goes on from here";
            });
      bool const is_due = settings.checkpoint > 0 &&
                          (done % settings.checkpoint == 0 || done == run.schedule.steps());
      if (!at_start && (is_due || done == settings.stop_after)) write_checkpoint_here();
      at_start = false;
      poll();
      if (done >= run.last_step()) break;

      // Where the particles are looked at is part of the arithmetic: positions and momenta meet there in time.
      int next = run.last_step();
      if (auto const output = std::upper_bound(at.begin(), at.end(), done); output != at.end())
        next = std::min(next, *output);
      if (settings.checkpoint > 0)
        next = std::min(next, (done / settings.checkpoint + 1) * settings.checkpoint);
      watch.restart();
      simulation.advance(next - done, after_step);
      figures.seconds += watch.seconds();
      expects_finite<T>(settings, simulation.particles(), simulation.steps_done(), simulation.a());
    }
  }
  figures.steps = simulation.steps_done() - run.first_step();
  figures.a = simulation.a();
  figures.phases = simulation.seconds();
  figures.outputs = outputs.seconds();
  return figures;
}

}  // namespace coir::apps::nbody
