// coir-field: finds the start of a universe that grows into a given density.

#include "options.hpp"
#include "present.hpp"
#include "run.hpp"
#include "settings.hpp"

#include <support/command_line.hpp>
#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>

#include <iostream>

namespace coir::apps::field {

namespace {

char const description[] =
    "Finds initial conditions that grow into a given density: white noise whose universe, "
    "simulated\n"
    "by coir-nbody's particle mesh, ends in the density of a file or looks like a picture. The "
    "noise\n"
    "is the most probable one, found by gradients through the simulation.";

char const examples[] =
    "Examples:\n"
    "  coir-field apps/field/word.png --realisation --output word\n"
    "  coir-field density.npy --side 64 --sigma 0.3 --iterations 200 --report run.json\n"
    "  coir-field photo.png --contrast 20 --output photo\n"
    "  coir-field --gradient-of density.npy --noise noise.npy --report slopes.json\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, 3 bad input file, 4 memory or disk short, 5 a loss is\n"
    "no number, 6 no usable device, 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

FieldRun run_of(FieldSettings const& settings) {
  Activity const reading("reading " + settings.target_file().string());
  bool const one_gradient = !settings.gradient_of.empty();
  return {settings, read_target(settings.target_file(), settings.universe.particles,
                                settings.contrast, one_gradient)};
}

template <class T, class Exec>
ExitCode carry_out(Exec const& exec, FieldSettings const& settings) {
  say_of_files("nothing was written");
  FieldFigures figures;
  figures.hardware = hardware_of(exec);
  FieldRun const run = run_of(settings);
  figures.predicted = memory_of<T>(exec, run);
  expects_memory_for(run, figures.predicted);
  stop_if_interrupted();
  if (!settings.quiet) std::cout << plan_of(run, figures.predicted, figures.hardware) << std::flush;

  FileNames const names(settings);
  OutputFolder const folder(settings.output, names.all().front());
  expects_good_files({{"--report", settings.report}});
  {
    FieldSearch<Exec, T> work(exec, run);
    if (!settings.gradient_of.empty()) {
      work.write_gradient(names, figures);
    } else {
      work.search(names, figures);
      work.show(names, figures);
    }
  }
  if (!settings.report.empty()) write_report(settings.report, field_report(run, figures));
  if (!settings.quiet) std::cout << summary_of(run, figures);
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::field

int main(int argc, char** argv) {
  using namespace coir::apps::field;
  coir::apps::CommandLine line("coir-field", description, examples);
  FieldSettings settings;
  add_options(line, settings);

  return coir::apps::run(line, argc, argv, [&](coir::apps::Place place) {
    expects_consistent(line, settings);
    return compute_on(place, settings.universe.precision,
                      [&]<class T>(auto const& exec, T) { return carry_out<T>(exec, settings); });
  });
}
