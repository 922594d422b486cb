// coir-shallow: shallow water on a rotating plane.

#include "checkpoint.hpp"
#include "outputs.hpp"
#include "settings.hpp"
#include "start.hpp"

#include <coir/core/machine.hpp>
#include <coir/core/memory.hpp>
#include <coir/core/resident.hpp>
#include <coir/core/timing.hpp>
#include <coir/core/version.hpp>
#include <coir/io/atomic_path.hpp>
#include <coir/io/format.hpp>
#include <coir/shallow/model.hpp>

#include <support/command_line.hpp>
#include <support/compute_on.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/memory_plan.hpp>
#include <support/on_all.hpp>
#include <support/options.hpp>
#include <support/output_folder.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>
#include <support/text.hpp>
#include <support/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::shallow {

namespace {

char const description[] =
    "Simulates shallow water on a rotating plane: a jet that meanders, a vortex, a dam that\n"
    "breaks, or a tsunami over a bottom from a file. Writes pictures of the surface and the\n"
    "vorticity, and the water's mass and energy over time, to a folder.";

char const examples[] =
    "Examples:\n"
    "  coir-shallow --steps 8000 --outputs 2000,4000,6000 --output jet\n"
    "  coir-shallow --start dam --size 256x128 --cell 1 --depth 2 --steps 600 --output dam\n"
    "  coir-shallow --start tsunami --topography bay.png --size 400x300 --cell 500 --output wave\n"
    "  coir-shallow --size 3600x1800 --steps 5000 --checkpoint 1000 --output large\n"
    "  coir-shallow --restart large/checkpoint.hdf5 --steps 8000 --output large\n"
    "  mpirun -n 2 coir-shallow --size 3600x1800 --output large\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, 3 bad input file, 4 memory or disk short, 5 a cell lost\n"
    "its water, 6 no usable device, 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.\n"
    "Kokkos' own arguments (--kokkos-...) are passed on to it.";

constexpr std::int64_t most_cells = 1'000'000;  // along a side

std::vector<std::pair<std::string, Start>> const starts = {{"jet", Start::jet},
                                                           {"vortex", Start::vortex},
                                                           {"dam", Start::dam},
                                                           {"tsunami", Start::tsunami}};

void parse_size(std::string const& text, Settings& s) {
  auto const x = text.find_first_of("xX");
  expects(x != std::string::npos, "--size takes columns and rows, as in 360x180", in_quotes(text));
  s.columns =
      static_cast<int>(parse_whole_number("--size: columns", text.substr(0, x), 2, most_cells));
  s.rows = static_cast<int>(parse_whole_number("--size: rows", text.substr(x + 1), 1, most_cells));
}

void add_options(CommandLine& line, Settings& s) {
  std::vector<Option> of_model;
  auto const model = [&](Option option) { of_model.push_back(option); };
  model(add_choice(line, "--start", s.start, starts, "What to begin with (default jet)"));
  model(line.add_option(
                "--size", [&s](std::string const& text) { parse_size(text, s); },
                "Cells (default 360x180)")
            .type_name("COLUMNSxROWS"));
  model(add_positive_number(line, "--cell", s.cell, "Side of a cell in m (default 5000)"));
  model(add_positive_number(line, "--depth", s.depth, "At rest, in m (default 100)"));
  model(add_positive_number(line, "--dt", s.dt,
                            "Time step in s (default: a wave crosses an eighth of a cell,\n"
                            "or less where the start needs that)"));
  model(add_positive_number(line, "--gravity", s.gravity, "In m/s^2 (default 9.81)"));
  model(add_number(line, "--f0", s.f0,
                   "Coriolis parameter at the southern end in 1/s\n"
                   "(default: jet and vortex 2e-4, others 0)"));
  model(add_number(line, "--beta", s.beta, "Its slope in 1/(m s) (default: jet 2e-11)"));
  model(add_number(line, "--viscosity", s.viscosity,
                   "In m^2/s (default: jet and vortex 2e-7 cell^2, others\n"
                   "0.01 sqrt(gravity depth) cell)"));
  model(add_number(line, "--drag", s.drag, "Friction at the bottom in 1/s (default 0)"));
  model(
      add_number(line, "--epsilon", s.epsilon, "Damping of Adams-Bashforth's steps (default 0.1)"));
  model(add_choice(
      line, "--walls", s.walls,
      std::vector<std::pair<std::string, Walls>>{
          {"none", Walls::none}, {"x", Walls::x}, {"y", Walls::y}, {"both", Walls::both}},
      "Axes at whose ends there are walls (default: jet y,\n"
      "others both); the others are periodic"));
  model(line.add_flag("--compatible", s.compatible,
                      "Compute as mpi4jax's demo does, its slip in the viscosity included"));
  model(add_number(line, "--amplitude", s.amplitude,
                   "Of the start: speed of the jet in m/s (default 10), or height\n"
                   "in m (default: vortex 0.01, dam 0.2, tsunami 0.05 of the depth)"));
  model(add_positive_number(line, "--radius", s.radius,
                            "Of a vortex or tsunami in m (default 0.08, 0.04 of the\n"
                            "shorter side)"));
  model(add_number(line, "--x", s.place_x, "Its middle, 0 to 1 from the west (default 0.5)"));
  model(add_number(line, "--y", s.place_y, "Its middle, 0 to 1 from the south (default 0.5)"));
  model(add_file(line, "--topography", s.topography,
                 "Height of the bottom: .npy in m, the first row in the south,\n"
                 "or .png, black at 0, the north on top"));
  model(add_positive_number(line, "--relief", s.relief,
                            "Height of white in a .png, in m (default 0.9 of the depth)"));
  model(add_choice(line, "--precision", s.precision,
                   std::vector<std::pair<std::string, Precision>>{{"float", Precision::float32},
                                                                  {"double", Precision::float64}},
                   "Kind of number (default float)"));
  add_whole_number(line, "--steps", s.steps, "To make, from the start on (default 2000)", 1);
  line.add_option(
          "--outputs",
          [&s](std::string const& text) {
            for (auto const& part : split(text, ','))
              s.outputs.push_back(parse_whole_number("--outputs", part, 0,
                                                     std::numeric_limits<std::int64_t>::max()));
          },
          "Steps at which to write pictures, beside the last one")
      .type_name("N,N,...");
  line.add_flag("--npy", s.npy, "Write the fields of pictures as .npy, too");
  add_whole_number(line, "--totals", s.totals, "Steps between lines of totals.txt (default 100)",
                   1);
  add_whole_number(line, "--checkpoint", s.checkpoint, "Write checkpoint.hdf5 every so many steps",
                   1);
  auto const restart =
      add_file(line, "--restart", s.restart, "Go on from a checkpoint, which has the model");
  for (auto const& option : of_model) restart.excludes(option);
  add_path(line, "--output", s.output, "FOLDER", "Where to write (default shallow)");
  add_file(line, "--report", s.report, "Write figures as JSON");
  add_progress_and_quiet(line, s.progress, s.quiet);
}

/// Numbers with which a formula would overflow are refused by name.
void expects_in_range(Settings const& s) {
  constexpr double least = 1e-12, most = 1e12;
  struct Range {
    char const* name;
    std::optional<double> value;
    double from, to;
  };
  for (auto const& [name, value, from, to] :
       {Range{"--cell", s.cell, least, most}, Range{"--depth", s.depth, least, most},
        Range{"--gravity", s.gravity, least, most}, Range{"--dt", s.dt, least, most},
        Range{"--radius", s.radius, least, most}, Range{"--relief", s.relief, least, most},
        Range{"--amplitude", s.amplitude, -most, most}, Range{"--f0", s.f0, -most, most},
        Range{"--beta", s.beta, -most, most}, Range{"--viscosity", s.viscosity, 0, most},
        Range{"--drag", s.drag, 0, most}, Range{"--epsilon", s.epsilon, 0, 1},
        Range{"--x", s.place_x, 0, 1}, Range{"--y", s.place_y, 0, 1}})
    expects(!value || (*value >= from && *value <= to),
            std::string(name) + " must be from " + in_words(from) + " to " + in_words(to),
            value.value_or(0));
}

void expects_consistent(Settings const& s) {
  expects(s.topography.empty() || io::format_of_name(s.topography) != io::Format::unknown,
          "--topography must name a file that ends in .png or .npy",
          in_quotes(s.topography.string()));
  expects(!s.relief || io::format_of_name(s.topography) == io::Format::png,
          "--relief is for a --topography that ends in .png: leave it out");
  expects_in_range(s);
  bool const has_place = s.start == Start::vortex || s.start == Start::tsunami;
  for (auto const& [name, value] :
       {std::pair("--radius", s.radius), std::pair("--x", s.place_x), std::pair("--y", s.place_y)})
    expects(!value || has_place,
            std::string(name) + " is for --start vortex or tsunami: leave it out");
  for (std::int64_t const step : s.outputs)
    expects(step <= s.steps, "--outputs must be up to --steps, which is " + std::to_string(s.steps),
            step);
  auto const output = (std::filesystem::absolute(s.output) / "any").lexically_normal();
  for (auto const& [name, path] :
       {std::pair("--report", &s.report), std::pair("--topography", &s.topography)})
    expects(path->empty() || std::filesystem::absolute(*path).lexically_normal().parent_path() !=
                                 output.parent_path(),
            std::string(name) +
                " must lie outside of the folder --output, whose files a run "
                "replaces",
            in_quotes(path->string()));
  expects_good_files({{"--report", s.report}},
                     {{"--topography", s.topography}, {"--restart", s.restart}});
}

/// A run from its start or a checkpoint. Collective.
Checkpoint beginning_of(Settings& s, distributed::Group const& ranks) {
  return on_all(ranks, [&] {
    expects_consistent(s);
    Checkpoint begin;
    if (!s.restart.empty()) {
      begin = read_checkpoint(s.restart);
      s.depth = begin.depth;
      s.precision = begin.precision;
      s.rows = begin.parameters.rows;
      s.columns = begin.parameters.columns;
      expects(s.steps > begin.steps,
              "--steps counts from the start of the run: it must be above the " +
                  std::to_string(begin.steps) + " steps of the checkpoint",
              s.steps);
      return begin;
    }
    begin.parameters = parameters_of(s);
    begin.depth = s.depth;
    begin.precision = s.precision;
    coir::shallow::expects_good(begin.parameters);
    if (!s.topography.empty()) begin.bottom = topography_of(s);
    return begin;
  });
}

/// Makes the time step shorter that nobody asked for, where the start needs it. Collective.
void shorten_default_step(Settings const& s, StartState const& start,
                          distributed::Group const& ranks, Parameters& p) {
  double depth = 0, speed = 0;
  for (double const h : start.h) depth = std::max(depth, h);
  for (Table const* const velocities : {&start.u, &start.v})
    for (double const v : *velocities) speed = std::max(speed, std::abs(v));
  double const limit = coir::shallow::longest_stable_step(p, ranks.max(depth), ranks.max(speed));
  if (!s.dt && p.dt > limit) p.dt = 0.9 * limit;  // flows may speed up
}

/// \throws PreconditionError unless dt is stable for the depth and the speed that there are
void expects_stable(Parameters const& p, coir::shallow::Totals const& totals) {
  double const limit =
      coir::shallow::longest_stable_step(p, totals.largest_depth, totals.largest_speed);
  expects(p.dt <= limit,
          "--dt must be at most " + in_words(limit) + " s, up to which steps are stable", p.dt);
}

/// What the names of a run's totals and strip have behind them.
std::string from_where(Checkpoint const& begin) {
  return begin.steps == 0 ? "" : "_from_" + std::to_string(begin.steps);
}

/// The files that a run is going to write into its folder.
std::vector<std::filesystem::path> files_of(Settings const& s, Checkpoint const& begin) {
  std::string const from = from_where(begin);
  std::vector<std::filesystem::path> files{s.output / ("totals" + from + ".txt"),
                                           s.output / ("strip" + from + ".png")};
  if (s.checkpoint > 0) files.push_back(s.output / "checkpoint.hdf5");
  auto steps = s.outputs;
  steps.push_back(s.steps);
  std::erase_if(steps, [&](auto step) { return begin.steps > 0 && step <= begin.steps; });
  for (std::int64_t const step : steps)
    for (char const* const field : {"surface", "vorticity", "potential_vorticity"}) {
      files.push_back(s.output / file_name(field, step, ".png"));
      if (s.npy) files.push_back(s.output / file_name(field, step, ".npy"));
    }
  return files;
}

struct Figures {
  std::int64_t steps = 0;
  double seconds = 0, mass_change = 0, energy_change = 0, triad = 0;
};

/// Makes steps until `end`, with all outputs on the way. Collective.
template <class Exec, class T>
Figures simulate(coir::shallow::Model<Exec, T>& model, Settings const& s, Checkpoint const& begin) {
  auto const& ranks = model.group();
  bool const speaks = ranks.is_first();
  Strip strip;
  TotalsText text;
  auto const first = model.totals();
  text.add(model.steps(), static_cast<double>(model.steps()) * begin.parameters.dt, first);
  std::string const from = from_where(begin);
  auto const write_totals = [&] {
    io::write_file(s.output / ("totals" + from + ".txt"), text.text());
  };
  ProgressLine line("shallow", "steps", speaks ? s.progress : ProgressMode::never);
  auto const is_output = [&](std::int64_t step) {
    return step == s.steps ||
           std::find(s.outputs.begin(), s.outputs.end(), step) != s.outputs.end();
  };
  if (begin.steps == 0 && is_output(0)) write_fields(model, s, begin.bottom, strip);
  Figures figures;
  Exec const exec;
  while (model.steps() < s.steps) try {
      // A few steps at a time, so that the user can stop it.
      std::int64_t next = std::min(s.steps, model.steps() + 10);
      for (std::int64_t const step : s.outputs)
        if (step > model.steps()) next = std::min(next, step);
      for (std::int64_t const every : {s.totals, s.checkpoint})
        if (every > 0) next = std::min(next, (model.steps() / every + 1) * every);
      Stopwatch const watch(exec);
      model.advance(next - model.steps());
      figures.seconds += watch.seconds();
      line.update(model.steps(), s.steps);
      if (share_interrupt(ranks))
        throw Failure(ExitCode::interrupted, "stopped after " + counted(model.steps(), "steps") +
                                                 "; files that were written are whole");
      if (model.steps() % s.totals == 0 || model.steps() == s.steps)
        text.add(model.steps(), static_cast<double>(model.steps()) * begin.parameters.dt,
                 model.totals());
      if (is_output(model.steps())) write_fields(model, s, begin.bottom, strip);
      if (s.checkpoint > 0 && model.steps() % s.checkpoint == 0) {
        write_checkpoint(model, begin, s.output / "checkpoint.hdf5");
        on_first(ranks, write_totals);
      }
    } catch (...) {  // on all ranks
      if (ranks.is_first()) write_totals();
      throw;
    }
  on_first(ranks, [&] {
    write_totals();
    strip.write(s.output / ("strip" + from + ".png"));
  });
  auto const last = model.totals();
  figures.steps = s.steps - begin.steps;
  figures.mass_change = last.mass / first.mass - 1;
  figures.energy_change = last.energy / first.energy - 1;
  return figures;
}

double bytes_of(Settings const& s, Figures const& figures) {
  double const size = s.precision == Precision::float32 ? 4 : 8;
  return 16 * size * s.rows * s.columns * static_cast<double>(figures.steps) / figures.seconds;
}

Report report_of(Settings const& s, Checkpoint const& begin, Figures const& figures,
                 Hardware const& hardware, MemoryPlan const& memory, int ranks) {
  Report report;
  report["application"] = "coir-shallow";
  report["version"] = version;
  report["kokkos_version"] = kokkos_version();
  report_hardware(report, hardware);
  report["ranks"] = ranks;
  report["precision"] = float_or_double(s.precision);
  report["rows"] = s.rows;
  report["columns"] = s.columns;
  report["dt"] = begin.parameters.dt;
  report["steps"] = figures.steps;
  report["seconds"] = figures.seconds;
  report["cells_per_second"] =
      double(s.rows) * s.columns * static_cast<double>(figures.steps) / figures.seconds;
  report["bandwidth_share"] =
      figures.triad > 0 ? Report(bytes_of(s, figures) / figures.triad) : Report(nullptr);
  report["mass_change"] = figures.mass_change;
  report["energy_change"] = figures.energy_change;
  report_memory(report, memory);
  return report;
}

std::string summary_of(Settings const& s, Checkpoint const& begin, Figures const& figures,
                       Hardware const& hardware) {
  double const rate =
      double(s.rows) * s.columns * static_cast<double>(figures.steps) / figures.seconds;
  std::string text = std::to_string(s.columns) + " x " + std::to_string(s.rows) + " cells, " +
                     counted(figures.steps, "steps") + " of " + in_words(begin.parameters.dt) +
                     " s in " + with_unit(figures.seconds, "s") + ", " + with_unit(rate, "cell/s");
  if (figures.triad > 0)
    text += " (at 16 numbers a cell and step " + percent(bytes_of(s, figures) / figures.triad) +
            " of the triad bandwidth)";
  return text + "\ncomputed on " + hardware.text() + "\nmass changed by " +
         in_words(figures.mass_change) + " of itself, energy by " +
         in_words(figures.energy_change) + "\n";
}

/// The memory of the model and of fields on their way to files.
template <class T, class Exec>
MemoryPlan memory_of(Exec const&, Settings const& s, Checkpoint const& begin,
                     distributed::Group const& ranks) {
  std::int64_t const cells = std::int64_t(s.rows) * s.columns, size = sizeof(T);
  std::int64_t const rows = distributed::share_of(s.rows, ranks.rank(), ranks.size()).count;
  std::int64_t const own = rows * s.columns;
  std::int64_t const model =
      coir::shallow::Model<Exec, T>::bytes(ranks, begin.parameters, !begin.bottom.empty());
  std::int64_t const host =
      (ranks.is_first() ? cells * (2 * size + 8) : 0) + own * (3 * 8 + 2 * size);
  MemoryPlan plan{resident_bytes(), bytes_beside(own * size, ranks)};
  plan.host += host;
  if (runs_on_host<Exec>)
    plan.host += model + own * size;
  else
    plan.device = model + 4 * own * size;
  return with_what_was_read(plan);
}

/// A rank's rows as a field of the model's type, in its memory.
template <class Model>
auto to_field(Model const& model, Table const& table) {
  using Field = typename Model::Field;
  using T = typename Field::value_type;
  auto const rows = static_cast<std::size_t>(model.rows().count);
  HostField<T> const host("host", rows, static_cast<std::size_t>(model.parameters().columns));
  std::transform(table.begin(), table.end(), host.data(),
                 [](double x) { return static_cast<T>(x); });
  Field const field("field", host.extent(0), host.extent(1));
  copy_contiguous(field, host);
  return field;
}

template <class T, class Exec>
ExitCode carry_out(Exec const& exec, Settings const& s, Checkpoint& begin,
                   distributed::Group const& ranks) {
  say_of_files("nothing was written");
  MemoryPlan const memory = memory_of<T>(exec, s, begin, ranks);
  expects_memory(
      ranks, memory,
      "a model of " + std::to_string(s.columns) + " x " + std::to_string(s.rows) + " cells",
      device_identity(exec));
  std::optional<OutputFolder> folder;
  on_first(ranks, [&] {
    auto const files = files_of(s, begin);
    folder.emplace(s.output, files.front());
    for (auto const& file : files) io::AtomicPath{file};  // can it be written?
  });
  std::optional<StartState> start;
  if (s.restart.empty()) {
    auto const rows = distributed::share_of(s.rows, ranks.rank(), ranks.size());
    start = on_all(ranks, [&] { return start_of(s, rows, begin.bottom); });
    shorten_default_step(s, *start, ranks, begin.parameters);
  }
  coir::shallow::Model<Exec, T> model(exec, ranks, begin.parameters);
  if (!begin.bottom.empty()) {
    auto const first = begin.bottom.begin() + model.rows().first * s.columns;
    model.set_bottom(to_field(model, Table(first, first + model.rows().count * s.columns)));
  }
  if (start) {
    model.set(to_field(model, start->h), to_field(model, start->u), to_field(model, start->v));
    start.reset();
  } else {
    read_fields(model, begin, s.restart);
  }
  auto const totals = model.totals();
  // A run that goes on may have sped up since its start.
  if (s.restart.empty()) on_all(ranks, [&] { expects_stable(begin.parameters, totals); });
  say_of_files("what was written is whole");
  Figures figures = simulate(model, s, begin);
  bool const fits_cache =
      ranks.all(9 * std::int64_t(sizeof(T)) * s.rows * s.columns <= last_level_cache_bytes(exec));
  if (!fits_cache && (!s.quiet || !s.report.empty()))
    figures.triad = ranks.sum(measure_triad_bandwidth(exec).value_or(0));
  Hardware const hardware = hardware_of(exec);
  on_first(ranks, [&] {
    if (!s.report.empty())
      write_report(s.report, report_of(s, begin, figures, hardware, memory, ranks.size()));
  });
  if (!s.quiet && ranks.is_first()) std::cout << summary_of(s, begin, figures, hardware);
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::shallow

int main(int argc, char** argv) {
  using namespace coir::apps::shallow;
  coir::hdf5::skip_cleanup_at_exit();
  coir::apps::CommandLine line("coir-shallow", description, examples);
  Settings settings;
  add_options(line, settings);
  std::vector<std::string> const arguments(argv + 1, argv + argc);

  return coir::apps::run_on_ranks(
      line, argc, argv, [&](coir::apps::Place place, auto const& ranks) {
        coir::distributed::expects_alike(
            ranks, {{"command line", coir::apps::one_line(coir::apps::joined(arguments, " "))}});
        Checkpoint begin = beginning_of(settings, ranks);
        return compute_on(place, settings.precision, [&]<class T>(auto const& exec, T) {
          return carry_out<T>(exec, settings, begin, ranks);
        });
      });
}
