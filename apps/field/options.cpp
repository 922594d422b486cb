#include "options.hpp"

#include "files.hpp"

#include <nbody/options.hpp>
#include <nbody/setting_list.hpp>

#include <coir/core/errors.hpp>
#include <coir/cosmology/parameters.hpp>

#include <support/config_file.hpp>
#include <support/options.hpp>
#include <support/same_file.hpp>
#include <support/text.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace coir::apps::field {

namespace {

/// The options of coir-nbody for particles, forces, time, start and universe that aren't here.
std::set<std::string> const not_here = {"particles",       "force-source",   "scale-factors",
                                        "fixed-amplitude", "inverted",       "start",
                                        "power-table",     "table-redshift", "renormalise"};

/// Help of their own for options whose defaults or meanings differ.
std::map<std::string, std::string> const own_help = {
    {"mesh-ratio", "Cells of the force mesh along a side, per particle, from 1 to 4 (default 1)"},
    {"stepper", "The integrator (default bullfrog)"},
    {"steps", "Steps from the start to the end (default 10)"},
    {"a-start", "Scale factor at the start (default 0.05)"},
    {"a-end", "Scale factor of the target, 1 today (default 1)"},
    {"seed", "What the random start of the search depends on (default 1)"},
    {"noise", "White noise to start the search from, or to take gradients at: .npy, (N, N, N)"}};

void add_options_of_nbody(CommandLine& line, nbody::Settings& settings) {
  for (nbody::Setting setting : nbody::setting_list()) {
    if (setting.group == "Output" || not_here.count(setting.name) > 0) continue;
    if (auto const help = own_help.find(setting.name); help != own_help.end())
      setting.help = help->second;
    nbody::add_setting(line, setting, settings);
  }
}

}  // namespace

void add_options(CommandLine& line, FieldSettings& settings) {
  line.leave_out_short_help();  // beside --h
  std::string const target = "Target", search = "Search", output = "Output";
  auto const file = add_path(line, "TARGET", settings.target, "FILE",
                             "A density over its mean (.npy) of shape (m, m, m), or (m, m) seen "
                             "along the third axis,\nor a picture (.png) of one");
  add_path(line, "--gradient-of", settings.gradient_of, "FILE",
           "In place of TARGET: write one gradient of its misfit, at --noise or --seed")
      .group(target)
      .excludes(file);
  line.add_flag("--check", settings.check,
                "With --gradient-of: compare the gradient with a difference of two misfits, along "
                "random noise")
      .group(target);
  add_positive_number(line, "--sigma", settings.sigma,
                      "Noise of a cell or column of the target, in units of the mean density "
                      "(default 0.2)")
      .group(target);
  line.add_option(
          "--smooth",
          [&settings](std::string const& text) {
            settings.smooth = parse_number("--smooth", text);
            expects(*settings.smooth >= 0, "--smooth must be 0 or more", *settings.smooth);
          },
          "Compare densities smoothed by a Gaussian of this deviation in Mpc/h (default: a cell of "
          "the target)")
      .type_name("X")
      .group(target);
  add_positive_number(line, "--contrast", settings.contrast,
                      "Of a picture: the density of white over that of black (default 10)")
      .group(target);

  add_whole_number(line, "--iterations", settings.iterations,
                   "Steps of the search at most (default 100)", 1, 1'000'000)
      .group(search);
  add_positive_number(line, "--tolerance", settings.tolerance,
                      "End where a step lowers the loss by this part of it or less (default 1e-5)")
      .group(search);
  line.add_flag(
          "--realisation", settings.realisation,
          "Look for a random universe that fits the target, in place of the most probable one")
      .group(search);

  add_whole_number(line, "--side", settings.universe.particles,
                   "Particles along a side, so N^3 in all (default 64)", 2, 1024)
      .group("Particles and forces");
  add_options_of_nbody(line, settings.universe);

  add_path(line, "--output", settings.output, "FOLDER",
           "Where to write; made if it isn't there (default field)")
      .group(output);
  add_path(line, "--report", settings.report, "FILE", "Write figures as JSON").group(output);
  add_whole_number(line, "--pixels", settings.pixels,
                   "Pixels of a picture along a side (default 512)", 16, 8192)
      .group(output);
  add_whole_number(line, "--frames", settings.frames,
                   "Pictures in the strip, from the start to the end (default 6)", 2, 100)
      .group(output);
  add_config_file(line, {"--noise", "--gradient-of"});
  add_progress_and_quiet(line, settings.progress, settings.quiet);
}

void expects_consistent(CommandLine const& line, FieldSettings const& settings) {
  auto const given = [&](std::string const& name) { return line.is_given(name); };
  expects(!settings.target_file().empty(),
          "name a target: coir-field TARGET, a density (.npy) or a picture (.png)");
  expects(!given("--sigma8") || !given("--A-s"),
          "the amplitude is given by --sigma8 or by --A-s, not by both: leave one out");
  expects(!given("--noise") || !given("--seed"),
          "with --noise the search starts from a file: leave --seed out");
  expects(!given("--noise") || !settings.realisation,
          "--realisation starts from the random universe of a --seed: leave --noise out");
  expects(!settings.check || !settings.gradient_of.empty(),
          "--check is of one gradient: name the target by --gradient-of, or leave --check out");
  expects(settings.gradient_of.empty() || !settings.realisation,
          "--gradient-of is of the misfit of the target as it is: leave --realisation out");
  expects(
      std::filesystem::absolute(settings.output).string().find_first_of("\r\n") ==
          std::string::npos,
      "--output must name a folder without line breaks, which coir-nbody couldn't read noise from",
      settings.output.string());
  nbody::Settings const& universe = settings.universe;
  expects(universe.a_start >= 1e-5, "--a-start must be 1e-05 or more", universe.a_start);
  expects(universe.a_start < universe.a_end,
          "--a-start must be below --a-end, " + in_words(universe.a_end), universe.a_start);
  try {
    cosmology::expects_parameters(universe.cosmology);
  } catch (PreconditionError const& error) {
    throw PreconditionError(nbody::with_option_names(error.what()));
  }
  std::vector<NamedFile> inputs = {
      {settings.gradient_of.empty() ? "TARGET" : "--gradient-of", settings.target_file()},
      {"--noise", universe.noise},
      {"--config", line.option("--config").text()}};
  std::vector<NamedFile> outputs = {{"--report", settings.report}};
  for (auto const& path : FileNames(settings).all())
    outputs.push_back({"the run's " + path.filename().string(), path});
  expects_different_files(outputs, inputs);
}

}  // namespace coir::apps::field
