// coir-nbody: a particle-mesh simulation, from the linear power spectrum to today.

#include "checkpoint.hpp"
#include "options.hpp"
#include "present.hpp"
#include "run.hpp"
#include "schedule.hpp"
#include "settings.hpp"
#include "universe.hpp"

#include <coir/core/errors.hpp>

#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>

#include <iostream>
#include <string>
#include <utility>

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
    "\n"
    "Exit codes: 0 done, 2 wrong option, 3 bad input file, 4 memory or disk short, 5 a force is\n"
    "no number, 6 no usable device, 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

/// A configuration may be the one that the run writes again; everything else that is read must stay as it is.
void expects_inputs_left_alone(CLI::App const& app, Run const& run) {
  Settings const& settings = run.settings;
  NamedFile const report{"--report", settings.report};
  NamedFile const noise{"--noise", settings.noise}, table{"--power-table", settings.power_table};
  CLI::Option const* const config = app.get_config_ptr();
  expects_different_files({report},
                          {noise,
                           table,
                           {"--config", config->count() > 0 ? config->as<std::string>() : ""},
                           {"--restart", run.checkpoint ? run.checkpoint->path : ""}});
  for (auto const& path : FileNames(settings, run.schedule).all(run.schedule))
    for (auto const& other : {report, noise, table})
      if (path.filename() == other.path.filename())
        expects_different_files({{"the run's " + path.filename().string(), path}}, {other});
}

Run run_of(CLI::App const& app, Settings const& given) {
  expects_consistent(app, given);
  if (given.restart.empty()) {
    expects_slab_in_box(given);
    return {given, schedule_of(given)};
  }
  Checkpoint checkpoint = [&] {
    Activity const reading("reading the checkpoint");
    return read_checkpoint(given.restart, stop_if_interrupted);
  }();
  Settings settings = settings_to_go_on(app, given, checkpoint);
  if (!is_given(app, "output"))
    settings.output = checkpoint.path.has_parent_path() ? checkpoint.path.parent_path() : ".";
  expects_slab_in_box(settings);
  expects(settings.stop_after == 0 || settings.stop_after > checkpoint.steps_done,
          "--stop-after counts from the start of the run: it must be above the " +
              std::to_string(checkpoint.steps_done) + " steps that are made",
          settings.stop_after);
  Schedule const schedule = schedule_of(settings, checkpoint.scale_factors);
  return {settings, schedule, std::move(checkpoint)};
}

template <class T, class Exec>
ExitCode carry_out(Exec const& exec, Run& run) {
  Settings const& settings = run.settings;
  auto const make_universe = [&] { return universe_of(settings, run.schedule); };
  Universe const universe =
      run.checkpoint ? blaming(run.checkpoint->path, make_universe) : make_universe();
  MemoryPlan const memory = memory_of<T>(exec, run);
  expects_memory_for(run, memory);
  if (!settings.quiet) std::cout << plan_of(run, memory, hardware_of(exec)) << std::flush;
  Figures const figures = simulate<T>(exec, run, universe, memory);
  if (!settings.report.empty()) write_report(settings.report, report_of(run, figures));
  if (!settings.quiet) std::cout << summary_of(run, figures);
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::nbody

int main(int argc, char** argv) {
  using namespace coir::apps::nbody;
  CLI::App app{description, "coir-nbody"};
  app.footer(examples);
  Settings settings;
  add_options(app, settings);

  return coir::apps::run(app, argc, argv, [&](coir::apps::Place place) {
    if (settings.quiet) settings.progress = coir::apps::ProgressMode::never;
    expects_given_once(argc, argv);
    Run run = run_of(app, settings);
    expects_inputs_left_alone(app, run);
    return compute_on(place, [&](auto const& exec) {
      return run.settings.precision == Precision::float32 ? carry_out<float>(exec, run)
                                                          : carry_out<double>(exec, run);
    });
  });
}
