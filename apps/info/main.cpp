// coir-info: what this build of coir has, what machine it is on, and what that machine can do at
// best.

#include "print.hpp"
#include "watch.hpp"

#include <support/command_line.hpp>
#include <support/options.hpp>
#include <support/run.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace {

char const description[] =
    "Prints the versions, backends and devices of this build, and on request measures the "
    "machine's\n"
    "limits, which the speeds of the other applications are compared with. With --watch it stays "
    "and\n"
    "prints what the host and each NVIDIA device do.";

char const examples[] =
    "Examples:\n"
    "  coir-info\n"
    "  coir-info --measure\n"
    "  coir-info --measure --json > machine.json\n"
    "  mpirun -n 2 coir-info --measure\n"
    "  coir-info --watch\n"
    "  coir-info --watch 10 --samples 360 > night.txt\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, 4 memory or disk short, 6 no usable device,\n"
    "130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

using coir::apps::info::WatchSettings;

/// Whether Kokkos is to be left alone: to watch a device it must not be started, which would take
/// some of its memory.
bool is_to_watch(int argc, char** argv) {
  return std::any_of(argv + std::min(argc, 1), argv + argc, [](std::string_view argument) {
    return argument == "--watch" || argument.starts_with("--watch=");
  });
}

double parse_interval(std::string const& text) {
  double const seconds = coir::apps::parse_number("--watch", text);
  coir::expects(seconds >= WatchSettings::shortest && seconds <= WatchSettings::longest,
                "--watch must be from 0.1 to 86400 seconds", "'" + text + "'");
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  coir::apps::CommandLine line("coir-info", description, examples);
  bool measure = false;
  bool json = false;
  auto const measuring =
      line.add_flag("--measure", measure,
                    "Measure bandwidths, launch latency and transfer rates; takes about a second");
  line.add_flag("--json", json, "Print JSON instead of text");
  WatchSettings settings;
  auto const set_interval = [&settings](std::string const& text) {
    if (!text.empty()) settings.interval = parse_interval(text);
  };
  auto const watch =
      line.add_option("--watch", set_interval,
                      "Print load, memory, power, temperature and clock of the host and of "
                      "NVIDIA devices every so\n"
                      "many seconds, 1 without a number, until Ctrl-C")
          .expected(0, 1)
          .type_name("[SECONDS]")
          .excludes(measuring);
  coir::apps::add_whole_number(line, "--samples", settings.samples, "Watch so many times and end",
                               1)
      .needs(watch);

  if (is_to_watch(argc, argv)) {
    auto const refuse = [](std::string const&) {
      throw coir::PreconditionError("--watch computes nothing: leave --backend out");
    };
    line.add_option("--backend", refuse, "");
    return coir::apps::run_without_kokkos(line, argc, argv, [&] {
      settings.json = json;
      coir::apps::info::watch(settings);
      return coir::apps::ExitCode::success;
    });
  }
  return coir::apps::run_on_ranks(
      line, argc, argv, [&](coir::apps::Place place, coir::distributed::Group const& world) {
        return coir::apps::print_description(place, world, measure, json);
      });
}
