// coir-info: what this build of coir has, what machine it is on, and what that machine can do at best.

#include "describe.hpp"

#include <support/interrupt.hpp>
#include <support/run.hpp>

#include <iostream>

namespace {

char const description[] =
    "Prints the versions, backends and devices of this build, and on request measures the "
    "machine's\n"
    "limits, which the speeds of the other applications are compared with.";

char const examples[] =
    "Examples:\n"
    "  coir-info\n"
    "  coir-info --measure\n"
    "  coir-info --measure --json > machine.json\n"
    "\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{description, "coir-info"};
  app.footer(examples);
  bool measure = false;
  bool json = false;
  app.add_flag("--measure", measure,
               "Measure bandwidths, launch latency and transfer rates; takes about a second");
  app.add_flag("--json", json, "Print JSON instead of text");

  return coir::apps::run(app, argc, argv, [&] {
    coir::apps::Description description{coir::describe_machine(), {}};
    if (measure) {
      coir::apps::Activity const measuring("measuring the machine's limits");
      description.limits = coir::measure_limits(Kokkos::DefaultExecutionSpace{},
                                                [] { return !coir::apps::interrupted(); });
    }
    coir::apps::stop_if_interrupted();
    if (json)
      std::cout << as_json(description).dump(2) << '\n';
    else
      std::cout << as_text(description);
    return coir::apps::ExitCode::success;
  });
}
