// coir-nbody: a particle-mesh simulation, from the linear power spectrum to today.

#include "checkpoint.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "present.hpp"
#include "run.hpp"
#include "schedule.hpp"
#include "settings.hpp"
#include "start_from_snapshot.hpp"
#include "universe.hpp"

#include <coir/core/errors.hpp>
#include <coir/hdf5/writer.hpp>

#include <support/command_line.hpp>
#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/on_all.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::nbody {

namespace {

char const description[] =
    "Simulates how matter clusters: particles start from a random field with the linear power\n"
    "spectrum of a cosmology, and move in their own gravity on a periodic mesh. Writes pictures\n"
    "of the cosmic web, power spectra and snapshots to a folder, with a config.toml that repeats\n"
    "the run.";

char const examples[] =
    "Examples:\n"
    "  coir-nbody --particles 128 --box 200 --stepper bullfrog --steps 10 --output web\n"
    "  coir-nbody --seed 7 --omega-m 0.27 --sigma8 0.85 --outputs 0.25,0.5 --snapshots\n"
    "  coir-nbody --config web/config.toml --output again --deterministic\n"
    "  coir-nbody --particles 256 --steps 40 --checkpoint 5 --output big\n"
    "  coir-nbody --restart big\n"
    "  coir-nbody --measure web/snapshot_a1.000.hdf5 --multipoles --bins 20 --bin-spacing "
    "logarithmic\n"
    "  mpirun -n 2 coir-nbody --particles 512 --output large\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, 3 bad input file, 4 memory or disk short, 5 a force is\n"
    "no number, 6 no usable device, 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

/// A configuration and a checkpoint may be those that the run writes again; everything else that is
/// read must stay as it is.
void expects_inputs_left_alone(CommandLine const& line, Run const& run) {
  Settings const& settings = run.settings;
  FileNames const names(settings, run.schedule, run.ranks.size());
  std::vector<NamedFile> inputs{{"--noise", settings.noise},
                                {"--power-table", settings.power_table},
                                {"--start", settings.start}};
  auto const is = [](std::filesystem::path const& path, std::filesystem::path const& own) {
    return path.filename() == own.filename() &&
           same_file(path.parent_path() / ".", own.parent_path() / ".");
  };
  std::filesystem::path const config = line.option("--config").text();
  if (!is(config, names.config())) inputs.push_back({"--config", config});
  if (run.checkpoint && !is(run.checkpoint->path, names.checkpoint())) {
    inputs.push_back({"--restart", run.checkpoint->path});
    for (auto const& part : run.checkpoint->parts) inputs.push_back({"--restart", part.path});
  }
  std::vector<NamedFile> outputs{{"--report", settings.report}};
  for (auto const& path : names.all(run.schedule))
    outputs.push_back({"the run's " + path.filename().string(), path});
  expects_different_files(outputs, inputs);
}

Run new_run(distributed::Group const& ranks, CommandLine const& line, Settings settings) {
  if (!settings.start.empty()) take_settings_of_start(line, settings);
  expects_slab_in_box(settings);
  expects_bins(settings);
  return {ranks, settings, schedule_of(settings)};
}

Run run_that_goes_on(distributed::Group const& ranks, CommandLine const& line,
                     Settings const& given, Checkpoint checkpoint) {
  Settings settings = settings_to_go_on(line, given, checkpoint);
  if (!is_given(line, "output"))
    settings.output = checkpoint.path.has_parent_path() ? checkpoint.path.parent_path() : ".";
  expects_slab_in_box(settings);
  expects_bins(settings);
  if (settings.scale_factors.size() > checkpoint.scale_factors.size())  // with a later end
    checkpoint.scale_factors = settings.scale_factors;
  expects(settings.stop_after == 0 || settings.stop_after > checkpoint.steps_done,
          "--stop-after counts from the start of the run: it must be above the " +
              std::to_string(checkpoint.steps_done) + " steps that are made",
          settings.stop_after);
  Schedule const schedule = schedule_of(settings, checkpoint.scale_factors);
  return {ranks, settings, schedule, std::move(checkpoint)};
}

/// Collective.
Run run_of(distributed::Group const& ranks, CommandLine const& line, int argc, char** argv,
           Settings const& given) {
  on_all(ranks, [&] {
    expects_given_once(argc, argv);
    expects_consistent(line, given);
  });
  expects_same_options(ranks, given);
  std::optional<Checkpoint> checkpoint;
  if (!given.restart.empty()) {
    Activity const reading("reading the checkpoint");
    checkpoint = read_checkpoint(ranks, given.restart, stop_if_interrupted);
  }
  return on_all(ranks, [&] {
    Run run = checkpoint ? run_that_goes_on(ranks, line, given, std::move(*checkpoint))
                         : new_run(ranks, line, given);
    expects_inputs_left_alone(line, run);
    return run;
  });
}

/// \throws InputError if the power table isn't the one that the run began with
void expects_table_of(Checkpoint const& checkpoint, Universe const& universe) {
  if (universe.table_checksum == checkpoint.table_checksum) return;
  throw InputError(checkpoint.texts.at("power-table") + " isn't the power table that the run of " +
                   checkpoint.path.string() +
                   " began with: its bytes are others. Put the old one back, or start a new run");
}

template <class T, class Exec>
ExitCode carry_out(Exec const& exec, Run& run) {
  Settings const& settings = run.settings;
  Universe const universe = on_all(run.ranks, [&] {
    auto const make_universe = [&] { return universe_of(settings, run.schedule); };
    auto made = run.checkpoint ? blaming(run.checkpoint->path, make_universe) : make_universe();
    if (run.checkpoint) expects_table_of(*run.checkpoint, made);
    return made;
  });
  run.settings.table_checksum = universe.table_checksum;
  run.simulation.headroom = settings.headroom.value_or(headroom_for(
      universe.power, run.schedule.scale_factors.back(), settings.box, run.ranks.size()));
  constexpr std::int64_t most = coir::nbody::Simulation<Exec, T>::most_over_ranks;
  expects(run.ranks.size() == 1 || settings.particles <= most,
          "--particles must be at most " + std::to_string(most) + " over several ranks",
          settings.particles);
  MemoryPlan const memory = memory_of<T>(exec, run, universe);
  expects_memory_for(run, memory, device_identity(exec));
  bool const speaks = run.ranks.is_first() && !settings.quiet;
  auto const plan =
      plan_of(run, memory, hardware_of(exec), std::string(name_of(run.ranks.transport<Exec>())));
  if (speaks) std::cout << plan << std::flush;
  if (speaks && !run.checkpoint) {
    std::string const late = late_start_of(settings, run.schedule.scale_factors.front());
    if (!late.empty()) std::cerr << "coir-nbody: warning: " << late << '\n';
  }
  std::string const of_growth = warning_of_growth(run.simulation),
                    of_beat = warning_of_beat(settings.particles, run.mesh_side());
  std::string const of_table = universe.power.is_table()
                                   ? warning_of_table(settings, *universe.power.table())
                                   : std::string();
  for (std::string const& warning : {of_growth, of_beat, of_table})
    if (speaks && !warning.empty()) std::cerr << "coir-nbody: warning: " << warning << '\n';
  Figures const figures = simulate<T>(exec, run, universe, memory);
  auto const spread = spread_of(run.ranks, figures);
  if (!settings.report.empty())
    on_first(run.ranks, [&] { write_report(settings.report, report_of(run, figures, spread)); });
  if (speaks) std::cout << summary_of(run, figures, spread);
  return ExitCode::success;
}

/// Collective.
ExitCode measure_on(Place place, distributed::Group const& ranks, CommandLine const& line, int argc,
                    char** argv, Settings const& settings) {
  on_all(ranks, [&] {
    expects(ranks.size() == 1,
            "--measure works on one rank: start it without mpirun, not with so many", ranks.size());
    expects_given_once(argc, argv);
    expects_measuring_alone(line);
  });
  return compute_on(place, settings.precision,
                    [&]<class T>(auto const& exec, T) { return measure<T>(exec, settings); });
}

}  // namespace

}  // namespace coir::apps::nbody

int main(int argc, char** argv) {
  using namespace coir::apps::nbody;
  coir::hdf5::skip_cleanup_at_exit();
  coir::apps::CommandLine line("coir-nbody", description, examples);
  Settings settings;
  add_options(line, settings);

  return coir::apps::run_on_ranks(
      line, argc, argv, [&](coir::apps::Place place, auto const& ranks) {
        coir::apps::on_all(ranks, [&] { take_redshifts(argc, argv, settings); });
        if (!settings.measure.empty()) return measure_on(place, ranks, line, argc, argv, settings);
        Run run = run_of(ranks, line, argc, argv, settings);
        return compute_on(place, run.settings.precision,
                          [&]<class T>(auto const& exec, T) { return carry_out<T>(exec, run); });
      });
}
