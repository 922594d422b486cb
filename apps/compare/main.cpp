// coir-compare: the same work on several builds and machines, side by side.

#include "comparison.hpp"
#include "measure.hpp"
#include "present.hpp"

#include <support/command_line.hpp>
#include <support/interrupt.hpp>
#include <support/options.hpp>
#include <support/output_folder.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <string>
#include <vector>

namespace coir::apps::compare {

namespace {

char const description[] =
    "Runs one set of work on several builds in turns, cores against a GPU for instance, and "
    "writes\n"
    "one report of it: times against problem size, where one overtakes the other, shares of each\n"
    "machine's limits. Reports of several machines merge into one.";

char const examples[] =
    "Examples:\n"
    "  coir-compare run build/openmp build/cuda --output here\n"
    "  coir-compare run build/openmp --set full --name workstation\n"
    "  coir-compare run build/openmp --peers numpy,jax --python venv/bin/python\n"
    "  coir-compare merge here/compare.json colleague/compare.json --output both\n"
    "  coir-compare show both/compare.json\n"
    "\n"
    "scripts/compare.sh PRESET... builds what is missing and runs the first of them.\n"
    "\n"
    "Exit codes: 0 done, 1 benchmarks failed (the report has all others), 2 wrong option, 3 no\n"
    "build or no report where one was named, 4 memory or disk short, 6 no build can run here,\n"
    "130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.";

struct CompareSettings {
  RunSettings run;
  std::vector<std::string> reports;
  std::filesystem::path merged = "compare";
  std::string shown;
};

void add_output(CommandLine& line, std::filesystem::path& path) {
  add_path(line, "--output", path, "FOLDER",
           "Folder for compare.html, compare.md and compare.json (default compare)");
}

std::string parse_name(std::string const& text) {
  auto const is_control = [](unsigned char c) { return std::iscntrl(c) != 0; };
  expects(!text.empty() && text.size() <= 60 && std::none_of(text.begin(), text.end(), is_control),
          "--name must be 1 to 60 characters on one line", "'" + text + "'");
  return text;
}

std::string parse_python(std::string const& text) {
  expects(!text.empty(), "--python must name a program, not ''");
  return text;
}

CommandLine add_run(CommandLine& line, RunSettings& settings) {
  CommandLine run = line.add_subcommand("run", "Measure builds of this machine, in turns");
  run.add_list("builds", settings.builds,
               "Folders of builds with coir-info and benchmarks, such as build/openmp;\n"
               "the first is what others are compared with")
      .required()
      .type_name("BUILD...");
  add_choice(
      run, "--set", settings.set,
      std::vector<std::pair<std::string, SetName>>{{"quick", SetName::quick},
                                                   {"full", SetName::full}},
      "What to run: quick takes minutes on two cores, full much longer there\n(default quick)");
  run.add_list(
         "--only", settings.only,
         "Only these works, jacobi,plain for instance, or jacobi for all whose names\nbegin so; an "
         "unknown one lists them")
      .type_name("WORK...");
  add_output(run, settings.output);
  add_whole_number(run, "--rounds", settings.rounds,
                   "Rounds, of which medians are taken (default 3 of quick, 2 of full)", 1, 1000);
  run.add_option(
         "--name", [&settings](auto const& text) { settings.machine = parse_name(text); },
         "What to call this machine (default its host name)")
      .type_name("NAME");
  run.add_option(
         "--peers", [&settings](auto const& text) { set_peers(settings.peers, text); },
         "Packages that do the same work as further columns: numpy, numba, jax, cupy, torch,\n"
         "cupy-kernels, numba-cuda with commas between them, none, or auto for those of the\n"
         "first five that the Python has (default auto)")
      .type_name("LIST");
  run.add_option(
         "--python", [&settings](auto const& text) { settings.peers.python = parse_python(text); },
         "A Python that has the peers' packages (default python3)")
      .type_name("FILE");
  add_progress_and_quiet(run, settings.progress, settings.quiet);
  return run;
}

std::filesystem::path json_in(std::filesystem::path const& folder) {
  return folder / "compare.json";
}

/// What a report consists of, as messages name it.
std::vector<NamedFile> files_in(std::filesystem::path const& folder) {
  std::vector<NamedFile> files;
  for (char const* const name : {"compare.json", "compare.md", "compare.html"})
    files.push_back({"--output's " + std::string(name), folder / name});
  return files;
}

std::size_t failures_of(Comparison const& comparison) {
  auto const failed = [](LeftOut const& row) { return row.failed; };
  return static_cast<std::size_t>(
      std::count_if(comparison.left_out.begin(), comparison.left_out.end(), failed));
}

void write_all(std::filesystem::path const& folder, Comparison const& comparison) {
  Activity const writing("writing to " + folder.string());
  stop_if_interrupted();
  say_of_files("what was written is whole");
  write_report(json_in(folder), to_json(comparison));  // the others can be made of it
  io::write_file(folder / "compare.md", markdown_of(comparison));
  io::write_file(folder / "compare.html", page_of(comparison));
}

ExitCode run(RunSettings& settings) {
  say_of_files("nothing was written");
  expects_different_files(files_in(settings.output));
  OutputFolder const folder(settings.output, json_in(settings.output));
  std::vector<std::string> notes;
  Comparison const comparison = measure(settings, notes);
  if (comparison.rows.empty())
    throw Failure(failures_of(comparison) > 0 ? ExitCode::unexpected : ExitCode::input,
                  "nothing was measured: " + left_out_lines(comparison).front());
  write_all(settings.output, comparison);
  if (!settings.quiet) {
    Analysis const analysis = analyse(comparison);
    std::cout << markdown_table(overview_grid(analysis)) << '\n';
    for (auto const& line : findings(analysis)) std::cout << one_line(line) << '\n';
    for (auto const& line : doubts(analysis)) std::cout << one_line(line) << '\n';
    for (auto const& note : notes) std::cout << one_line(note) << '\n';
    std::cout << "The report is in " << settings.output.string()
              << ": compare.html, compare.md, compare.json\n";
  }
  if (std::size_t const failed = failures_of(comparison); failed > 0) {
    auto const lines = left_out_lines(comparison);
    for (std::size_t n = 0; n < lines.size(); ++n)
      if (comparison.left_out[n].failed)
        std::cerr << "coir-compare: " << one_line(lines[n]) << '\n';
    throw Failure(ExitCode::unexpected,
                  std::to_string(failed) + (failed == 1 ? " benchmark" : " benchmarks") +
                      " failed, named above and in the report, which has all others");
  }
  return ExitCode::success;
}

ExitCode merge_reports(CompareSettings const& settings) {
  say_of_files("nothing was written");
  std::vector<Comparison> comparisons;
  std::vector<NamedFile> inputs;
  for (auto const& path : settings.reports) {
    comparisons.push_back(read_comparison(path));
    inputs.push_back({"a report", path});
  }
  expects_different_files(files_in(settings.merged), inputs);
  std::vector<std::string> notes;
  Comparison const merged = merge(comparisons, settings.reports, notes);
  OutputFolder const folder(settings.merged, json_in(settings.merged));
  write_all(settings.merged, merged);
  for (auto const& note : notes) std::cout << one_line(note) << '\n';
  for (auto const& note : analyse(merged).notes) std::cout << one_line(note) << '\n';
  std::cout << "The report is in " << settings.merged.string()
            << ": compare.html, compare.md, compare.json\n";
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::compare

int main(int argc, char** argv) {
  using namespace coir::apps::compare;
  coir::apps::CommandLine line("coir-compare", description, examples);
  CompareSettings settings;
  auto const run_command = add_run(line, settings.run);

  auto merge_command = line.add_subcommand("merge", "Make one report of those of several machines");
  merge_command.add_list("reports", settings.reports, "Files called compare.json")
      .required()
      .type_name("REPORT...");
  add_output(merge_command, settings.merged);

  auto show_command = line.add_subcommand("show", "Print a report as tables");
  show_command.add_option("report", settings.shown, "A file called compare.json")
      .required()
      .type_name("REPORT");

  return coir::apps::run_without_kokkos(line, argc, argv, [&] {
    if (run_command.is_chosen()) return run(settings.run);
    if (merge_command.is_chosen()) return merge_reports(settings);
    std::cout << markdown_of(read_comparison(settings.shown));
    return coir::apps::ExitCode::success;
  });
}
