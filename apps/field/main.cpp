// coir-field: finds the start of a universe that grows into a given density.

#include "options.hpp"
#include "present.hpp"
#include "run.hpp"
#include "settings.hpp"

#include <nbody/shared_folder.hpp>

#include <coir/core/machine.hpp>
#include <coir/distributed/together.hpp>

#include <support/command_line.hpp>
#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/on_all.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>

#include <iostream>
#include <string_view>
#include <vector>

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
    "  mpirun -n 2 coir-field density.npy --side 512   (on two GPUs)\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, 3 bad input file, 4 memory or disk short, 5 a loss is\n"
    "no number, 6 no usable device, 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

/// Collective.
FieldRun run_of(distributed::Group const& ranks, FieldSettings const& settings) {
  Activity const reading("reading " + settings.target_file().string());
  bool const one_gradient = !settings.gradient_of.empty();
  return on_all(ranks, [&] {
    return FieldRun(ranks, settings,
                    read_target(settings.target_file(), settings.universe.particles,
                                settings.contrast, one_gradient));
  });
}

/// Collective.
template <class T, class Exec>
ExitCode carry_out(Exec const& exec, distributed::Group const& ranks,
                   FieldSettings const& settings) {
  say_of_files("nothing was written");
  FieldFigures figures;
  figures.hardware = hardware_of(exec);
  FieldRun const run = run_of(ranks, settings);
  figures.predicted = memory_of<T>(exec, run);
  expects_memory_for(run, figures.predicted, device_identity(exec));
  stop_all_if_interrupted(ranks);
  bool const speaks = ranks.is_first() && !settings.quiet;
  if (speaks) std::cout << plan_of(run, figures.predicted, figures.hardware) << std::flush;

  FileNames const names(settings);
  nbody::SharedFolder const folder(ranks, settings.output, names.all().front());
  on_first(ranks, [&] { expects_good_files({{"--report", settings.report}}); });
  {
    FieldSearch<Exec, T> work(exec, run);
    if (!settings.gradient_of.empty()) {
      work.write_gradient(names, figures);
    } else {
      work.search(names, figures);
      work.show(names, figures);
    }
  }
  if (!settings.report.empty())
    on_first(ranks, [&] { write_report(settings.report, field_report(run, figures)); });
  if (speaks) std::cout << summary_of(run, figures);
  return ExitCode::success;
}

/// Ranks with other options would wait for each other. Collective.
void expects_same_command(distributed::Group const& ranks, int argc, char** argv) {
  std::vector<distributed::Setting> words{{"number of words on the command line", argc}};
  for (int n = 1; n < argc; ++n) words.emplace_back("command line", std::string_view(argv[n]));
  distributed::expects_alike(ranks, words);
}

}  // namespace

}  // namespace coir::apps::field

int main(int argc, char** argv) {
  using namespace coir::apps::field;
  coir::apps::CommandLine line("coir-field", description, examples);
  FieldSettings settings;
  add_options(line, settings);

  return coir::apps::run_on_ranks(
      line, argc, argv, [&](coir::apps::Place place, auto const& ranks) {
        expects_same_command(ranks, argc, argv);
        coir::apps::on_all(ranks, [&] { expects_consistent(line, settings); });
        return compute_on(place, settings.universe.precision, [&]<class T>(auto const& exec, T) {
          return carry_out<T>(exec, ranks, settings);
        });
      });
}
