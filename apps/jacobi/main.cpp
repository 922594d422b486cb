// coir-jacobi: rebuilds a picture from its Laplacian.

#include "present.hpp"
#include "problem.hpp"
#include "settings.hpp"
#include "solve.hpp"

#include <coir/io/atomic_file.hpp>
#include <coir/io/format.hpp>
#include <coir/io/image.hpp>
#include <coir/io/npy.hpp>

#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/options.hpp>
#include <support/report.hpp>
#include <support/run.hpp>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

namespace coir::apps::jacobi {

namespace {

char const description[] =
    "Rebuilds a picture from its Laplacian: L u = b with u = 0 outside, where L is the sum of the\n"
    "four neighbours less four times the cell.\n"
    "\n"
    "INPUT is a photograph (.png, .pgm) or an array (.npy). Its Laplacian is taken, the photograph is\n"
    "forgotten, rebuilt by the scheme of your choice, and compared with what it was.";

char const examples[] =
    "Examples:\n"
    "  coir-jacobi photo.png --compare\n"
    "  coir-jacobi photo.png --scheme multigrid --output rebuilt.png --report run.json\n"
    "  coir-jacobi laplacian.png --laplacian --offset 128 --scale 4 --output rebuilt.png\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, 3 bad input file, 4 memory or disk short, 5 not finite or\n"
    "tolerance not reached, 6 no usable device, 130 stopped by Ctrl-C.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

void add_options(CLI::App& app, Settings& settings, bool& quiet, bool& progress) {
  app.add_option("INPUT", settings.input, "A photograph (.png, .pgm) or an array (.npy)")->required();
  app.add_flag("--laplacian", settings.input_is_laplacian, "INPUT is the Laplacian itself");
  add_number(app, "--offset", settings.offset,
             "With --laplacian: the value in INPUT that stands for zero (default 0)");
  add_number(app, "--scale", settings.scale,
             "With --laplacian: the source is this times (value - offset) (default 1)");
  add_choice(app, "--scheme", settings.scheme, schemes, "How to solve (default auto: Jacobi, the faster way)");
  add_whole_number(app, "--sweeps", settings.sweeps,
                   "The most sweeps, or cycles of multigrid (default 150000 for Jacobi, 4 times the "
                   "longer side for red-black, 50 for multigrid)",
                   0, 1'000'000'000'000);
  add_positive_number(app, "--tolerance", settings.tolerance,
                      "Stop at this relative residual, below 1 (default: none; multigrid 1e-5, in double "
                      "1e-10)");
  add_choice(app, "--start", settings.start,
             std::vector<std::pair<std::string, Start>>{{"laplacian", Start::laplacian},
                                                        {"zero", Start::zero}},
             "What to start from (default laplacian)");
  add_choice(app, "--precision", settings.precision,
             std::vector<std::pair<std::string, Precision>>{{"float", Precision::single},
                                                            {"double", Precision::twofold}},
             "Kind of number (default float)");
  app.add_option("--output", settings.output, "Write the rebuilt picture: .png, .pgm or .npy");
  app.add_option("--output-laplacian", settings.output_laplacian,
                 "Write the Laplacian: .npy as it is, .png or .pgm as 128 + b / 4");
  app.add_option("--report", settings.report, "Write figures as JSON; with --compare a list");
  add_whole_number(app, "--repeat", settings.repeat, "Timed runs, of which the median counts (default 1)",
                   1, 1'000'000);
  app.add_flag("--compare", settings.compare, "Run every scheme and print one table");
  auto* const show = app.add_flag("--progress", progress, "Show progress also where there is no terminal");
  app.add_flag("--quiet", quiet, "Show no progress and print nothing but errors")->excludes(show);
}

/// Options that contradict each other, and outputs that can't be written, found before any work.
void expects_consistent(Settings const& settings) {
  expects(!settings.tolerance || *settings.tolerance < 1, "--tolerance must be below 1",
          settings.tolerance.value_or(0));
  expects(settings.scale != 0, "--scale must not be 0");
  expects(settings.input_is_laplacian || (settings.offset == 0 && settings.scale == 1),
          "--offset and --scale go with --laplacian");
  for (auto const& path : {settings.output, settings.output_laplacian}) {
    if (path.empty()) continue;
    expects(io::format_of_name(path) != io::Format::unknown,
            "an output must end in .png, .pgm or .npy", path.string());
  }
  for (auto const& path : {settings.output, settings.output_laplacian, settings.report})
    if (!path.empty()) io::AtomicFile{path};  // leaves no trace unless it can't be written
}

template <class T>
void write_field(std::filesystem::path const& path, Grid<T> const& field, int bits) {
  if (io::format_of_name(path) == io::Format::npy)
    io::write_npy(path, field);
  else
    io::write_image(path, field, bits);
}

/// b as a picture: zero in the middle, and four levels of b to one of grey.
template <class T>
Grid<T> laplacian_picture(Grid<T> const& source) {
  Grid<T> const picture("picture", source.extent(0), source.extent(1));
  for_each("coir::apps::jacobi/picture", Exec{},
           box({int(source.extent(0)), int(source.extent(1))}),
           KOKKOS_LAMBDA(int i, int j) { picture(i, j) = T(128) + source(i, j) / T(4); });
  return picture;
}

template <class T>
ExitCode rebuild(Settings const& settings, bool quiet) {
  InterruptGuard const guard;
  Problem<T> const problem = make_problem<T>(settings);
  Setting const setting{problem.rows(), problem.columns(), settings.precision, measure_limits(Exec{})};
  if (!settings.output_laplacian.empty()) {
    bool const array = io::format_of_name(settings.output_laplacian) == io::Format::npy;
    write_field(settings.output_laplacian,
                array ? problem.source : laplacian_picture(problem.source), 8);
  }

  std::vector<Scheme> wanted{settings.scheme};
  if (settings.compare)
    wanted = {Scheme::plain, Scheme::blocked, Scheme::red_black, Scheme::multigrid};
  Grid<T> const u("u", problem.source.extent(0) + 2, problem.source.extent(1) + 2);
  std::vector<Outcome> outcomes;
  for (Scheme const scheme : wanted) {
    Outcome const outcome = solve(scheme, problem, u, settings);
    using poisson::StoppedBy;
    if (outcome.result.stopped_by == StoppedBy::interrupted)
      throw Failure(ExitCode::interrupted,
                    "stopped after " + std::to_string(outcome.result.iterations) +
                        (scheme == Scheme::multigrid ? " cycles" : " sweeps") + " of " +
                        name_of(outcome.scheme) + "; nothing was written");
    if (outcome.result.stopped_by == StoppedBy::not_finite)
      throw Failure(ExitCode::numerical,
                    "the result of " + name_of(outcome.scheme) + " after " +
                        std::to_string(outcome.result.iterations) +
                        " iterations is not finite; scale the input, or use --precision double");
    outcomes.push_back(outcome);
  }

  if (!settings.output.empty()) write_field(settings.output, inside_of(u), problem.bits);
  if (!settings.report.empty()) {
    Report report = Report::array();
    for (auto const& outcome : outcomes) report.push_back(report_of(outcome, setting));
    write_report(settings.report, settings.compare ? report : report.front());
  }
  if (!quiet) {
    if (settings.compare)
      std::cout << table_of(outcomes, setting);
    else
      std::cout << summary_of(outcomes.front(), setting);
  }
  for (auto const& outcome : outcomes)
    if (settings.tolerance && !outcome.result.converged)
      throw Failure(ExitCode::numerical,
                    name_of(outcome.scheme) + " reached a relative residual of " +
                        in_words(outcome.result.relative_residual) + ", not --tolerance " +
                        in_words(*settings.tolerance) +
                        "; allow more --sweeps, or use --precision double");
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::jacobi

int main(int argc, char** argv) {
  using namespace coir::apps::jacobi;
  CLI::App app{description, "coir-jacobi"};
  app.footer(examples);
  Settings settings;
  bool quiet = false;
  bool progress = false;
  add_options(app, settings, quiet, progress);

  return coir::apps::run(app, argc, argv, [&] {
    if (quiet) settings.progress = coir::apps::ProgressMode::never;
    if (progress) settings.progress = coir::apps::ProgressMode::always;
    expects_consistent(settings);
    return settings.precision == Precision::single ? rebuild<float>(settings, quiet)
                                                   : rebuild<double>(settings, quiet);
  });
}
