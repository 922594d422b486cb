#include "options.hpp"

#include "setting_list.hpp"

#include <coir/core/errors.hpp>
#include <coir/distributed/together.hpp>
#include <coir/nbody/linear_growth.hpp>

#include <support/config_file.hpp>
#include <support/options.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace coir::apps::nbody {

namespace {

/// The option of a setting, below no heading.
Option option_of(CommandLine& line, Setting const& setting, Settings& settings) {
  std::string const name = "--" + setting.name;
  if (setting.kind == SettingKind::flag) {
    auto const set = [setting, &settings](bool on) {
      setting.set(settings, on ? "true" : "false");
    };
    return line.add_flag(name, set, setting.help);
  }
  if (setting.kind == SettingKind::list) {
    auto const set = [setting, &settings](std::vector<std::string> const& texts) {
      setting.set(settings, joined(texts, ","));
    };
    return line.add_list(name, set, setting.help)
        .type_name(setting.type_name)
        .expected(1, 1'000'000);
  }
  auto const set = [setting, &settings](std::string const& text) { setting.set(settings, text); };
  return line.add_option(name, set, setting.help).type_name(setting.type_name);
}

}  // namespace

void add_setting(CommandLine& line, Setting const& setting, Settings& settings) {
  option_of(line, setting, settings).group(setting.group);
  // Flags that are on by default have a --no-... beside them.
  if (setting.kind == SettingKind::flag && setting.text(settings) == "true")
    line.add_flag(
            "--no-" + setting.name,
            [setting, &settings](bool none) { setting.set(settings, none ? "false" : "true"); },
            "None of these")
        .group(setting.group);
}

void add_options(CommandLine& line, Settings& settings) {
  line.leave_out_short_help();  // beside --h
  for (auto const& setting : setting_list()) add_setting(line, setting, settings);
  auto const set_redshifts = [&settings](std::vector<std::string> const& texts) {
    settings.redshifts.clear();
    for (auto const& text : split(joined(texts, ","), ',')) {
      double const z = parse_number("--redshifts", text);
      expects(z > -1, "--redshifts must be above -1", z);
      settings.redshifts.push_back(z);
    }
  };
  line.add_list("--redshifts", set_redshifts, "Redshifts to write at, in place of --outputs")
      .type_name("Z,Z,...")
      .expected(1, 1'000'000)
      .group("Output");
  add_path(line, "--output", settings.output, "FOLDER",
           "Where to write; made if it isn't there (default nbody, or with --restart its folder)")
      .group("Output");
  add_path(line, "--report", settings.report, "FILE", "Write figures as JSON").group("Output");
  add_path(line, "--restart", settings.restart, "FILE|FOLDER",
           "Go on from a checkpoint, with its settings")
      .group("Output");
  add_path(
      line, "--measure", settings.measure, "SNAPSHOT",
      "Make no run: write the spectrum of a snapshot in GADGET's format, and with --multipoles "
      "and --density\nthese, to --output")
      .group("Output");
  add_whole_number(line, "--stop-after", settings.stop_after,
                   "Stop after step N, with a checkpoint to go on from", 1, 1'000'000)
      .group("Output");
  line.add_option(
          "--headroom",
          [&settings](std::string const& text) {
            double const share = parse_number("--headroom", text);
            expects(share >= 0 && share <= 10, "--headroom must be from 0 to 10", share);
            settings.headroom = share;
          },
          "Under mpirun: the share by which a rank's particles may exceed an even share before its "
          "memory grows\n(default: what 5 standard deviations of linear theory need)")
      .type_name("SHARE")
      .group("Output");
  std::vector<std::string> inputs;
  for (auto const& setting : setting_list())
    if (setting.kind == SettingKind::path) inputs.push_back("--" + setting.name);
  add_config_file(line, inputs);
  add_progress_and_quiet(line, settings.progress, settings.quiet);
}

std::string given_as(CommandLine const& line, std::string const& name) {
  std::vector<std::string> options{"--" + name, "--no-" + name};
  if (name == "outputs") options.emplace_back("--redshifts");
  for (auto const& option : options)
    if (line.has(option) && line.is_given(option)) return option;
  return "";
}

bool is_given(CommandLine const& line, std::string const& name) {
  return !given_as(line, name).empty();
}

void expects_consistent(CommandLine const& line, Settings const& settings) {
  auto const given = [&](std::string const& name) { return is_given(line, name); };
  for (std::string const name : {"steps", "a-start", "a-end", "spacing"})
    expects(!given("scale-factors") || !given(name),
            "--scale-factors already says when steps are: leave --" + name + " out");
  expects(!given("sigma8") || !given("A-s"),
          "the amplitude is given by --sigma8 or by --A-s, not by both: leave one out");
  for (std::string const name :
       {"lpt", "seed", "fixed-amplitude", "inverted", "noise", "white-noise"})
    expects(settings.start.empty() || !given(name),
            "with --start the particles come from a snapshot: leave --" + name + " out");
  for (std::string const name : {"seed", "white-noise"})
    expects(settings.noise.empty() || !given(name),
            "with --noise the random field comes from a file: leave --" + name + " out");
  expects(!given("power-table") || !given("transfer"),
          "--power-table takes the place of --transfer: leave one out");
  for (std::string const name : {"omega-b", "n-s", "t-cmb"})
    expects(!given("power-table") || !given(name),
            "--" + name + " has no effect with --power-table, which has its own: leave it out");
  expects(!given("power-table") || !given("A-s"),
          "--A-s has no effect with --power-table: leave it out, or use --renormalise --sigma8");
  for (std::string const name : {"renormalise", "table-redshift"})
    expects(!(name == "renormalise" ? settings.renormalise : given(name)) ||
                !settings.power_table.empty(),
            "--" + name + " is for --power-table: add it, or leave --" + name + " out");
  expects(!given("power-table") || !given("sigma8") || settings.renormalise,
          "--sigma8 has no effect on a --power-table as it is: add --renormalise, or leave it out");
  std::string const fault = coir::nbody::false_structure(simulation_options(settings, {}));
  expects(fault.empty() || settings.allow_false_structure,
          fault + "; or add --allow-false-structure, to compare with codes that have it");
}

void expects_measuring_alone(CommandLine const& line) {
  static std::set<std::string> const taken{"mesh-ratio",  "assignment", "precision",
                                           "multipoles",  "density",    "bins",
                                           "bin-spacing", "k-min",      "k-max"};
  for (auto const& setting : setting_list())
    expects(taken.contains(setting.name) || !is_given(line, setting.name),
            "--measure makes no run, and has no use for " + given_as(line, setting.name) +
                ": leave it out");
  for (std::string const name : {"restart", "stop-after", "headroom", "report"})
    expects(!is_given(line, name),
            "--measure makes no run, and has no use for --" + name + ": leave it out");
}

void expects_bins(Settings const& settings) {
  expects(settings.bins > 0 || !settings.logarithmic_bins,
          "--bin-spacing logarithmic needs the number of bins: add --bins");
  if (settings.bins == 0 && settings.k_min == 0 && settings.k_max == 0) return;
  double const fundamental = 2 * std::numbers::pi / settings.box;
  double const cells =
      std::max(1.0, std::round(static_cast<double>(settings.particles) * settings.mesh_ratio));
  double const low = settings.k_min > 0 ? settings.k_min : fundamental,
               high = settings.k_max > 0 ? settings.k_max : fundamental * cells / 2;
  expects(low < high,
          "--k-min must be below --k-max, which are the fundamental and the Nyquist frequency, " +
              in_words(fundamental) + " and " + in_words(fundamental * cells / 2) +
              " h/Mpc, unless given",
          in_words(low) + " and " + in_words(high));
}

void expects_slab_in_box(Settings const& settings) {
  expects(settings.slab() <= settings.box,
          "--slab-thickness must be at most the box, " + in_words(settings.box) + " Mpc/h",
          settings.slab());
}

namespace {

/// How often an option is on the command line itself.
std::ptrdiff_t times_given(int argc, char const* const* argv, std::string const& name) {
  return std::count_if(argv + 1, argv + argc, [&](std::string_view argument) {
    return argument == name || argument.starts_with(name + "=");
  });
}

}  // namespace

void take_redshifts(int argc, char const* const* argv, Settings& settings) {
  bool const has_outputs = times_given(argc, argv, "--outputs") > 0;
  expects(!has_outputs || times_given(argc, argv, "--redshifts") == 0,
          "--outputs and --redshifts name the same: leave one out");
  if (settings.redshifts.empty() || has_outputs) return;
  settings.outputs.clear();
  for (double const z : settings.redshifts) settings.outputs.push_back(1 / (1 + z));
}

void expects_given_once(int argc, char const* const* argv) {
  auto const times = [&](std::string const& name) { return times_given(argc, argv, name); };
  expects(times("--redshifts") <= 1, "--redshifts was given " +
                                         std::to_string(times("--redshifts")) +
                                         " times: give it once, with commas between its values");
  for (auto const& setting : setting_list()) {
    std::string const name = "--" + setting.name;
    if (setting.kind == SettingKind::list)
      expects(times(name) <= 1, name + " was given " + std::to_string(times(name)) +
                                    " times: give it once, with commas between its values");
    expects(times(name) == 0 || times("--no-" + setting.name) == 0,
            name + " and --no-" + setting.name + " contradict each other: leave one out");
  }
}

void expects_same_options(distributed::Group const& ranks, Settings const& settings) {
  std::vector<distributed::Setting> all;
  auto const add = [&](std::string const& name, std::string const& text) {
    all.emplace_back("--" + name, text.empty() ? "not given" : one_line(text));
  };
  for (auto const& setting : setting_list()) add(setting.name, setting.text(settings));
  add("output", settings.output.string());
  add("report", settings.report.string());
  add("restart", settings.restart.string());
  add("measure", settings.measure.string());
  add("stop-after", settings.stop_after > 0 ? std::to_string(settings.stop_after) : "");
  add("headroom", settings.headroom ? exact_text(*settings.headroom) : "");
  distributed::expects_alike(ranks, all);
}

std::string remedy_for_amplitude(Settings const& settings) {
  std::string const amplitude = !settings.power_table.empty() && !settings.renormalise
                                    ? "a smaller P in " + settings.power_table.string()
                                : settings.cosmology.sigma8 > 0 ? "a smaller --sigma8"
                                                                : "a smaller --A-s";
  return amplitude + ", or --box, --h, --n-s and the like closer to their defaults";
}

}  // namespace coir::apps::nbody
