// coir-offload: where offloading to a device pays, and what a wrong guess costs.

#include "figures.hpp"
#include "fleet.hpp"
#include "model.hpp"
#include "present.hpp"

#include <compare/comparison.hpp>

#include <compare/json_place.hpp>
#include <support/command_line.hpp>
#include <support/config_file.hpp>
#include <support/interrupt.hpp>
#include <support/options.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace coir::apps::offload {

namespace {

char const description[] =
    "Tells where offloading to a device pays: from which size on, with how many operations for\n"
    "each value that is carried, and what is gained or lost at most. The limits of the cores and\n"
    "the device are measured ones or told by options, and each is shown with where it is from.";

char const examples[] =
    "Examples:\n"
    "  coir-info --measure --json > machine.json        # of a build with a device\n"
    "  coir-offload --host cores.json --device machine.json --bytes '24*n' --in '16*n' --out '8*n' "
    "\\\n"
    "    --repeats 100 --output offload.html\n"
    "  coir-offload --host-flops 1e12 --device-flops 3e13 --to-device 25e9 --to-host 25e9 \\\n"
    "    --launch-seconds 5e-6 --flops '2*n^3' --in '16*n^2' --out '8*n^2' --to 1e5\n"
    "  coir-offload --compare compare.json --row jacobi,plain --in '8*n' --out '4*n' --repeats 50\n"
    "  coir-offload --compare compare.json --fleet jobs.json --output fleet.html\n"
    "\n"
    "LAW is how a quantity grows with the size n: a sum of terms like 2*n^3 or 5*n*log2(n).\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, or a figure that the work needs isn't known, 3 a file is\n"
    "missing or malformed, 4 memory or disk short, 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by\n"
    "SIGHUP.";

/// The command line, read.
struct OffloadSettings {
  MachineFigures figures;
  std::filesystem::path host, device, comparison, fleet, output, report;
  std::string host_build, device_build, precision = "double", row;
  OffloadWork work;
  std::optional<double> from, to;
  double stop_after = 1;
  bool quiet = false;
};

Option add_law(CommandLine& line, std::string const& name, Law& law, std::string const& help) {
  auto const set = [=, &law](std::string const& text) {
    auto const read = law_in(text);
    expects(read.has_value(), name + " must be " + law_example, in_quotes(text));
    law = *read;
  };
  return line.add_option(name, set, help).type_name("LAW");
}

void add_machine(CommandLine& line, OffloadSettings& settings) {
  add_file(line, "--host", settings.host,
           "Limits of the cores, as coir-info --measure --json printed them");
  add_file(line, "--device", settings.device, "Limits of the device, likewise");
  auto const comparison = add_file(
      line, "--compare", settings.comparison,
      "A compare.json of coir-compare: limits, flop rates of its matrix products, and rows");
  for (auto const& [name, text, help] :
       {std::tuple("--host-build", &settings.host_build, "The build there that is the cores"),
        std::tuple("--device-build", &settings.device_build, "The build there that is the device")})
    line.add_option(name, *text, help).type_name("NAME").needs(comparison);
  add_choice(
      line, "--precision", settings.precision,
      std::vector<std::pair<std::string, std::string>>{{"double", "double"}, {"float", "float"}},
      "Of the matrix products, and of a value that is carried: 8 or 4 bytes\n(default double)");
  for (auto const& info : figure_infos()) {
    std::string const name = std::string("--") + info.key;
    auto const set = [name, &info, &figures = settings.figures](std::string const& text) {
      if (name == "--launch-seconds" && parse_number(name, text) == 0)
        throw PreconditionError(name + " must be a number above 0, not " + in_quotes(text) +
                                ": for work that launches nothing say --launches 0");
      figures[info.key] = Figure{parse_positive_number(name, text), false, name};
    };
    line.add_option(name, set, "The " + std::string(info.title) + " in " + info.unit + ", told")
        .type_name("X");
  }
}

void add_work(CommandLine& line, OffloadSettings& settings) {
  OffloadWork& work = settings.work;
  auto const row = line.add_option("--row", settings.row,
                                   "A work that both builds of --compare measured, in place of\n"
                                   "--flops, --bytes and --launches; n is the size there")
                       .type_name("WORK")
                       .needs(line.option("--compare"));
  add_law(line, "--flops", work.flops, "Operations of a pass").excludes(row);
  add_law(line, "--bytes", work.bytes, "Bytes that a pass moves in memory").excludes(row);
  work.launches = *law_in("1");
  add_law(line, "--launches", work.launches, "Kernels that a pass launches (default 1)")
      .excludes(row);
  add_law(line, "--in", work.in, "Bytes carried to the device before the first pass (default 0)");
  add_law(line, "--out", work.out, "Bytes carried back after the last pass (default 0)");
  add_whole_number(line, "--repeats", work.repeats, "Passes while the data are there (default 1)",
                   1, most_repeats);
  auto const add_size = [&](std::string const& name, std::optional<double>& size,
                            std::string const& help) {
    auto const set = [name, &size](std::string const& text) {
      size = parse_number(name, text);
      expects(*size >= 1 && *size <= 1e15, name + " must be a size from 1 to 1e15",
              in_quotes(text));
    };
    line.add_option(name, set, help).type_name("N");
  };
  add_size("--from", settings.from, "The smallest n (default 1, or the smallest measured)");
  add_size("--to", settings.to, "The largest n (default 1e6, or the largest measured)");
}

void add_options(CommandLine& line, OffloadSettings& settings) {
  add_machine(line, settings);
  add_work(line, settings);
  auto const fleet =
      add_file(line, "--fleet", settings.fleet, "Kinds of jobs with their shares, as JSON");
  for (char const* const name : {"--row", "--flops", "--bytes", "--launches", "--in", "--out",
                                 "--repeats", "--from", "--to"})
    fleet.excludes(line.option(name));
  add_positive_number(line, "--stop-after", settings.stop_after,
                      "When a job of the fleet goes from the device to the cores, in times of its\n"
                      "time there (default 1)")
      .needs(fleet);
  add_file(line, "--output", settings.output, "Write a page with plots (.html)");
  add_file(line, "--report", settings.report, "Write all figures as JSON");
  line.add_flag("--quiet", settings.quiet, "Print nothing but errors");
  add_config_file(line);
}

/// Finds options that contradict each other or are missing, and outputs that can't be written,
/// before any work.
void expects_consistent(CommandLine const& line, OffloadSettings const& settings) {
  bool const has_work =
      !settings.work.flops.is_zero() || !settings.work.bytes.is_zero() || !settings.row.empty();
  expects(has_work || !settings.fleet.empty(),
          "say what the work does: --flops or --bytes, --row of a comparison, or --fleet "
          "(see coir-offload --help)");
  if (!settings.output.empty())
    expects(settings.output.extension() == ".html", "--output must name a file that ends in .html",
            in_quotes(settings.output.string()));
  expects_good_files({{"--output", settings.output}, {"--report", settings.report}},
                     {{"--host", settings.host},
                      {"--device", settings.device},
                      {"--compare", settings.comparison},
                      {"--fleet", settings.fleet},
                      {"--config", line.option("--config").text()}});
}

/// The sizes asked for, of those that there are.
std::pair<double, double> range_of(OffloadSettings const& settings, OffloadWork const& work) {
  double const lowest = work.measured ? work.measured->host.front().first : 1;
  double const highest = work.measured ? work.measured->host.back().first : 1e15;
  double const from = settings.from.value_or(lowest);
  double const to = settings.to.value_or(work.measured ? highest : std::max(1e6, from));
  for (auto const& [name, size] : {std::pair("--from", from), std::pair("--to", to)})
    expects(size >= lowest && size <= highest,
            std::string(name) + " must be from " + exact_text(lowest) + " to " +
                exact_text(highest) + (work.measured ? ", the sizes that were measured" : ""),
            size);
  expects(from <= to, "--from must be no larger than --to",
          exact_text(from) + " and " + exact_text(to));
  return {from, to};
}

ExitCode show(OffloadSettings settings) {
  say_of_files("nothing was written");
  std::optional<compare::Comparison> comparison;
  std::optional<Builds> builds;
  std::string const file = settings.comparison.string();
  if (!settings.host.empty()) add_info(settings.figures, Side::host, settings.host);
  if (!settings.device.empty()) add_info(settings.figures, Side::device, settings.device);
  if (!settings.comparison.empty()) {
    comparison = compare::read_comparison(settings.comparison);
    builds = builds_in(*comparison, settings.host_build, settings.device_build, file);
    add_comparison(settings.figures, *comparison, *builds, "matmul," + settings.precision, file);
  }
  auto const measured = [&](std::string const& row) {
    expects(builds.has_value(), "needs a comparison: name one by --compare");
    return measured_in(*comparison, *builds, row, file);
  };

  std::optional<Answer> answer;
  std::optional<FleetAnswer> fleet;
  if (settings.fleet.empty()) {
    OffloadWork& work = settings.work;
    work.name = settings.row.empty() ? "the work" : settings.row;
    if (!settings.row.empty()) try {
        work.measured = measured(settings.row);
      } catch (PreconditionError const& error) {
        throw PreconditionError(std::string("--row ") + error.what());
      }
    expects_known(settings.figures, work);
    auto const [from, to] = range_of(settings, work);
    answer =
        answer_for(work, settings.row.empty() ? "told by options" : "measured: " + file,
                   speeds_of(settings.figures), from, to, settings.precision == "float" ? 4 : 8);
  } else {
    std::string const remedy = "name a file that describes jobs";
    auto jobs = fleet_in(read_text(settings.fleet, remedy), settings.fleet.string(), measured);
    try {
      for (Job const& job : jobs) expects_known(settings.figures, job.work);
      fleet = answer_for(std::move(jobs), speeds_of(settings.figures), settings.stop_after);
    } catch (PreconditionError const& error) {
      throw PreconditionError(settings.fleet.string() + ": " + error.what());
    }
  }

  stop_if_interrupted();
  if (!settings.output.empty()) {
    io::write_file(settings.output, page_of(settings.figures, answer, fleet));
    say_of_files("what was written is whole");
  }
  if (!settings.report.empty()) {
    write_report(settings.report, offload_report(settings.figures, answer, fleet));
    say_of_files("what was written is whole");
  }
  if (!settings.quiet) std::cout << text_of(settings.figures, answer, fleet);
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::offload

int main(int argc, char** argv) {
  using namespace coir::apps::offload;
  coir::apps::CommandLine line("coir-offload", description, examples);
  OffloadSettings settings;
  add_options(line, settings);
  return coir::apps::run_without_kokkos(line, argc, argv, [&] {
    expects_consistent(line, settings);
    return show(settings);
  });
}
