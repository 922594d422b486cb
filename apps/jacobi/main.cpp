// coir-jacobi: rebuilds a picture from its Laplacian.

#include "present.hpp"
#include "problem.hpp"
#include "settings.hpp"
#include "solve.hpp"

#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/distributed/group.hpp>
#include <coir/distributed/together.hpp>
#include <coir/io/format.hpp>
#include <coir/io/npy.hpp>
#include <coir/io/png.hpp>

#include <support/command_line.hpp>
#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/on_all.hpp>
#include <support/options.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>
#include <support/text.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::jacobi {

namespace {

char const description[] =
    "Rebuilds a picture from its Laplacian: L u = b with u = 0 outside, where L is the sum of the\n"
    "four neighbours less four times the cell.\n"
    "\n"
    "INPUT is a photograph (.png) or an array (.npy). Its Laplacian is taken, the "
    "photograph\n"
    "is forgotten, rebuilt by the scheme of your choice, and compared with what it was.";

char const examples[] =
    "Examples:\n"
    "  coir-jacobi photo.png --compare\n"
    "  coir-jacobi photo.png --scheme multigrid --output rebuilt.png --report run.json\n"
    "  coir-jacobi laplacian.png --laplacian --offset 128 --scale 4 --output rebuilt.png\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, 3 bad input file, 4 memory or disk short, 5 not finite\n"
    "or tolerance not reached, 6 no usable device, 130 stopped by Ctrl-C, 143 by\n"
    "SIGTERM, 129 by SIGHUP.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

void add_options(CommandLine& line, JacobiSettings& settings) {
  add_file(line, "INPUT", settings.input, "A photograph (.png) or an array (.npy)").required();
  line.add_flag("--laplacian", settings.input_is_laplacian, "INPUT is the Laplacian itself");
  add_number(line, "--offset", settings.offset,
             "With --laplacian: the value in INPUT that stands for 0 (default 0)");
  add_number(line, "--scale", settings.scale,
             "With --laplacian: b is this times (value - offset) (default 1)");
  auto const scheme = add_choice(line, "--scheme", settings.scheme, schemes,
                                 "How to solve (default auto: Jacobi, the faster way)");
  add_whole_number(line, "--sweeps", settings.sweeps,
                   "The most sweeps, iterations of cg or cycles of multigrid (default:\n"
                   "Jacobi 150000, red-black 4 times the longer side, others 50); direct\n"
                   "has none",
                   0, 1'000'000'000'000);
  add_positive_number(line, "--tolerance", settings.tolerance,
                      "Stop at this relative residual, below 1 (default: cg, multigrid and\n"
                      "direct 1e-5, in double 1e-10; the others make all their sweeps)");
  add_choice(line, "--start", settings.start,
             std::vector<std::pair<std::string, Start>>{{"laplacian", Start::laplacian},
                                                        {"zero", Start::zero}},
             "What to start from (default laplacian); direct needs no start");
  add_choice(line, "--precision", settings.precision,
             std::vector<std::pair<std::string, Precision>>{{"float", Precision::float32},
                                                            {"double", Precision::float64}},
             "Kind of number (default float)");
  add_file(line, "--output", settings.output,
           "Write the rebuilt picture: .png or .npy; with --compare\n"
           "that of direct, or of multigrid where a build has no direct");
  add_file(line, "--output-laplacian", settings.output_laplacian,
           "Write the Laplacian: .npy as it is, .png as b / 4 + 128\n"
           "(of a picture of 16 bits, b / 4 + 32768)");
  add_file(line, "--report", settings.report, "Write figures as JSON; with --compare a list");
  add_whole_number(line, "--repeat", settings.repeat,
                   "Timed runs, of which the median counts (default 1)", 1, 1'000'000);
  line.add_flag("--compare", settings.compare, "Run every scheme and print one table")
      .excludes(scheme);
  add_progress_and_quiet(line, settings.progress, settings.quiet);
}

/// Whether a scheme solves for rows that several ranks share.
bool is_over_ranks(Scheme scheme) {
  return scheme == Scheme::automatic || scheme == Scheme::plain || scheme == Scheme::blocked ||
         scheme == Scheme::red_black || scheme == Scheme::multigrid;
}

/// Options that contradict each other, and outputs that can't be written, found before any work.
void expects_consistent(distributed::Group const& ranks, JacobiSettings const& settings) {
  expects(ranks.size() == 1 || !settings.compare,
          "--compare runs schemes that are for one rank: leave it out, or start one rank instead "
          "of " +
              std::to_string(ranks.size()));
  expects(ranks.size() == 1 || is_over_ranks(settings.scheme),
          "--scheme must be plain, blocked, red-black or multigrid on " +
              std::to_string(ranks.size()) + " ranks: take one of these, or start one rank",
          jacobi_scheme_name(settings.scheme));
  expects(!settings.tolerance || *settings.tolerance < 1, "--tolerance must be below 1",
          settings.tolerance.value_or(0));
  expects(settings.scale != 0, "--scale must not be 0");
  expects(settings.input_is_laplacian || (settings.offset == 0 && settings.scale == 1),
          "--offset and --scale are for --laplacian: add it, or leave them out");
  expects(settings.scheme != Scheme::cg || poisson::has_conjugate_gradients(),
          "--scheme must be another one: this build has no Kokkos Kernels with sparse matrices, "
          "which cg needs",
          "cg");
  expects(settings.scheme != Scheme::direct || poisson::has_direct(),
          "--scheme must be another one: this build has no Fourier transforms, which direct needs",
          "direct");
  if (settings.sweeps && settings.scheme == Scheme::direct)
    expects(*settings.sweeps == 1, "--sweeps must be 1 for direct, which solves once: leave it out",
            *settings.sweeps);
  if (settings.sweeps && (settings.compare || settings.scheme == Scheme::multigrid))
    expects(*settings.sweeps >= 1 && *settings.sweeps <= 1'000'000,
            "--sweeps must be from 1 to 1000000 for multigrid, which counts cycles",
            *settings.sweeps);
  for (auto const& [name, path] : {std::pair("--output", settings.output),
                                   std::pair("--output-laplacian", settings.output_laplacian)})
    expects(path.empty() || io::format_of_name(path) != io::Format::unknown,
            std::string(name) + " must name a file that ends in .png or .npy",
            in_quotes(path.string()));
  expects_good_files({{"--output", settings.output},
                      {"--output-laplacian", settings.output_laplacian},
                      {"--report", settings.report}},
                     {{"INPUT", settings.input}});
}

template <class Field>
void write_field(std::filesystem::path const& path, Field const& field, int bits) {
  if (io::format_of_name(path) == io::Format::npy) return io::write_npy(path, field);
  io::write_png(path, field, bits);
}

/// b as it is, or as a picture: zero is the middle grey, and four levels of b are one of grey.
template <class Field>
void write_laplacian(std::filesystem::path const& path, Field const& source, int bits) {
  using T = typename Field::value_type;
  if (io::format_of_name(path) == io::Format::npy) return io::write_npy(path, source);
  T const middle = bits == 8 ? 128 : 32768;
  io::write_png(path, source, bits, [=](T b) { return middle + b / T(4); });
}

void write_report(std::filesystem::path const& path, std::vector<JacobiOutcome> const& outcomes,
                  JacobiFacts const& facts, bool as_list) {
  Report report = Report::array();
  for (auto const& outcome : outcomes) report.push_back(jacobi_report(outcome, facts));
  apps::write_report(path, as_list ? report : report.front());
}

std::string iterations_in_words(JacobiOutcome const& outcome) {
  return counted(outcome.result.iterations, iterations_of(outcome.scheme)) + " of " +
         jacobi_scheme_name(outcome.scheme);
}

/// \throws Failure if there is no result
void expects_a_result(JacobiOutcome const& outcome, Precision precision) {
  using poisson::StoppedBy;
  if (outcome.result.stopped_by == StoppedBy::interrupted)
    throw Failure(ExitCode::interrupted,
                  "stopped after " + iterations_in_words(outcome) + "; nothing was written");
  if (outcome.result.stopped_by == StoppedBy::not_finite)
    throw Failure(ExitCode::numerical,
                  "the result is not finite after " + iterations_in_words(outcome) +
                      ": scale the input down" +
                      (precision == Precision::float32 ? ", or use --precision double" : ""));
}

/// \throws Failure if a tolerance was asked for and not reached
void expects_tolerance(JacobiOutcome const& outcome, JacobiSettings const& settings) {
  if (!settings.tolerance || outcome.result.converged) return;
  bool const more_helps = outcome.result.stopped_by == poisson::StoppedBy::sweeps;
  throw Failure(ExitCode::numerical,
                "the relative residual is " + in_words(outcome.result.relative_residual) +
                    " after " + iterations_in_words(outcome) + ", above --tolerance " +
                    in_words(*settings.tolerance) + ": " +
                    (more_helps ? "allow more --sweeps, or raise it"
                                : "rounding ends it here; use --precision double, or raise it"));
}

/// Writes a file by `write`, unless somebody has asked the program to stop before.
template <class Write>
void write_file(std::filesystem::path const& path, Write const& write) {
  Activity const writing("writing " + path.string());
  stop_if_interrupted();
  say_of_files("what was written is whole");
  write();
}

/// Gives `write` all ranks' rows of a field on the first rank, if there is a file to write.
template <class Exec, class T, class Field, class Write>
void write_all_rows(Exec const& exec, distributed::Group const& ranks,
                    Problem<Exec, T> const& problem, std::filesystem::path const& path,
                    Field const& own, Write const& write) {
  if (path.empty()) return;
  if (ranks.size() == 1) return write_file(path, [&] { write(own); });
  auto const all = on_first_rank(exec, ranks, own, problem);
  on_first(ranks, [&] { write_file(path, [&] { write(all); }); });
}

/// Runs the schemes and writes the fields, of which nothing is left when it returns. Collective.
template <class T, class Exec>
std::vector<JacobiOutcome> solve_and_write(Exec const& exec, distributed::Group const& ranks,
                                           JacobiSettings const& settings, JacobiFacts& facts) {
  auto const problem = on_all(ranks, [&] { return make_problem<T>(exec, ranks, settings); });
  on_all(ranks, [] { stop_if_interrupted(); });
  distributed::expects_alike(ranks, {{"rows", problem.all_rows},
                                     {"columns", problem.columns()},
                                     {"--scheme", jacobi_scheme_name(settings.scheme)},
                                     {"--output", settings.output.string()},
                                     {"--output-laplacian", settings.output_laplacian.string()},
                                     {"--repeat", settings.repeat}});
  facts = {problem.all_rows,
           problem.columns(),
           settings.precision,
           hardware_of(exec),
           ranks.size(),
           {},
           {},
           problem.had_colours};
  auto const u = on_all(ranks, [&] {
    return new_grid<Exec, T>("the result", problem.rows() + 2, problem.columns() + 2);
  });
  std::vector<JacobiOutcome> outcomes;
  for (Scheme const scheme : schemes_to_run(settings)) {
    outcomes.push_back(solve(exec, ranks, scheme, problem, u, settings));
    expects_a_result(outcomes.back(), settings.precision);
  }
  write_all_rows(exec, ranks, problem, settings.output_laplacian, problem.source,
                 [&](auto const& source) {
                   write_laplacian(settings.output_laplacian, source, problem.bits);
                 });
  write_all_rows(exec, ranks, problem, settings.output, inside_of(u),
                 [&](auto const& field) { write_field(settings.output, field, problem.bits); });
  return outcomes;
}

/// Measures the bandwidth where a report or a text shows a share of it.
template <class T, class Exec>
void measure_bandwidth(Exec const& exec, JacobiSettings const& settings, JacobiFacts& facts) {
  std::int64_t const field = std::int64_t(facts.rows) * facts.columns * std::int64_t(sizeof(T));
  Scheme const first = schemes_to_run(settings).front();
  if (!makes_sweeps(first)) {
    facts.without_bandwidth = jacobi_scheme_name(first) + " makes no sweeps";
  } else if (facts.ranks > 1) {
    facts.without_bandwidth = "several ranks share it";
  } else if (3 * field <= last_level_cache_bytes(exec)) {
    facts.without_bandwidth = "the fields fit into the cache";
  } else if (!settings.quiet || !settings.report.empty()) {
    Activity const measuring("measuring the bandwidth");
    facts.triad_bandwidth = measure_triad_bandwidth(exec);
    if (!facts.triad_bandwidth)
      facts.without_bandwidth =
          "it takes " + readable_bytes(2 * triad_bytes(exec)) + " of free memory";
  }
}

template <class T, class Exec>
ExitCode rebuild(Exec const& exec, distributed::Group const& ranks,
                 JacobiSettings const& settings) {
  say_of_files("nothing was written");
  JacobiFacts facts;
  auto const outcomes = solve_and_write<T>(exec, ranks, settings, facts);
  // Measuring takes a while, so it waits for the results.
  measure_bandwidth<T>(exec, settings, facts);
  on_first(ranks, [&] {
    // Written after a signal, too: it takes no time.
    if (!settings.report.empty()) {
      Activity const writing("writing " + settings.report.string());
      write_report(settings.report, outcomes, facts, settings.compare);
      say_of_files("what was written is whole");
    }
    stop_if_interrupted();
    if (!settings.quiet)
      std::cout << (settings.compare ? table_of(outcomes, facts)
                                     : summary_of(outcomes.front(), facts));
  });
  for (auto const& outcome : outcomes) expects_tolerance(outcome, settings);
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::jacobi

int main(int argc, char** argv) {
  using namespace coir::apps::jacobi;
  coir::apps::CommandLine line("coir-jacobi", description, examples);
  JacobiSettings settings;
  add_options(line, settings);

  return coir::apps::run_on_ranks(
      line, argc, argv, [&](coir::apps::Place place, coir::distributed::Group const& ranks) {
        coir::apps::on_all(ranks, [&] { expects_consistent(ranks, settings); });
        return compute_on(place, settings.precision, [&]<class T>(auto const& exec, T) {
          return rebuild<T>(exec, ranks, settings);
        });
      });
}
