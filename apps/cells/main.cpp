// coir-cells: angular power spectra of a survey, and what they say about its parameters.

#include "chains.hpp"
#include "pictures.hpp"
#include "present.hpp"
#include "settings.hpp"
#include "survey.hpp"

#include <coir/array/npy.hpp>
#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <support/command_line.hpp>
#include <support/config_file.hpp>
#include <support/exit_codes.hpp>
#include <support/interrupt.hpp>
#include <support/options.hpp>
#include <support/output_folder.hpp>
#include <support/report.hpp>
#include <support/run.hpp>
#include <support/same_file.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace coir::apps::cells {

namespace {

char const description[] =
    "Angular power spectra of galaxies' counts and shapes in bins of redshift, their derivatives "
    "by\n"
    "all parameters of the survey, and the Fisher matrix: how well each parameter can be measured.";

char const examples[] =
    "Examples:\n"
    "  coir-cells --config apps/cells/des_y1.toml\n"
    "  coir-cells --free omega_m sigma8 w0 --f-sky 0.3 --output wide\n"
    "  coir-cells --counts-z 0.3 0.6 0.9 --counts-bias 1.5 --shapes-z 0.5 1 1.5 --bins 20\n"
    "  coir-cells --shapes-z 0.5 1 --shapes-density 10 --free omega_m sigma8\n"
    "  coir-cells --prior m1=0.02 h=0.05 --report errors.json\n"
    "  coir-cells --config apps/cells/des_y1.toml --chains 1000 --sampler chees\n"
    "  coir-cells --config apps/cells/des_y1.toml --chains 2 --restart des_y1 --draws 4000\n"
    "\n"
    "Exit codes: 0 done, 2 wrong option, or parameters that can't be told apart, 3 bad\n"
    "configuration, 4 memory or disk short, 130 stopped by Ctrl-C, 143 by SIGTERM, 129 by\n"
    "SIGHUP. Kokkos' own arguments (--kokkos-...) are passed on to it.";

Option add_numbers(CommandLine& line, std::string const& name, std::vector<double>& list,
                   std::string const& help) {
  auto const set = [=, &list](std::vector<std::string> const& texts) {
    list.clear();
    for (auto const& text : texts) list.push_back(parse_number(name, text));
  };
  return line.add_list(name, set, help).type_name("X...").expected(1, 64);
}

void add_prior(CommandLine& line, CellsSettings& settings) {
  auto const set = [&settings](std::vector<std::string> const& texts) {
    for (auto const& text : texts) {
      auto const at = text.find('=');
      expects(at != std::string::npos, "--prior takes NAME=WIDTH, as in h=0.05", in_quotes(text));
      settings.priors[text.substr(0, at)] = parse_positive_number("--prior", text.substr(at + 1));
    }
  };
  line.add_list("--prior", set, "Widths of Gaussian priors, as in h=0.05")
      .type_name("NAME=X...")
      .expected(1, 64)
      .group("Parameters");
}

/// \param kind  "counts" or "shapes"
void add_bins(CommandLine& line, std::string const& kind, BinsSettings& bins,
              std::string const& width) {
  std::string const survey = "Survey", option = "--" + kind;
  add_numbers(line, option + "-z", bins.z, "Mean redshifts of the bins of " + kind).group(survey);
  add_numbers(line, option + "-width", bins.width, "Their deviations (default " + width + ")")
      .group(survey);
  add_file(line, option + "-table", bins.file, "n(z) of the bins, in place of these").group(survey);
}

void add_options(CommandLine& line, CellsSettings& settings) {
  line.leave_out_short_help();  // beside --h
  auto& p = settings.universe;
  std::string const universe = "Universe", survey = "Survey";
  for (auto const& [name, value, help] :
       {std::tuple{"--omega-m", &p.omega_m, "Matter (default 0.3)"},
        {"--omega-b", &p.omega_b, "Baryons (default 0.05)"},
        {"--h", &p.h, "H0 / (100 km/s/Mpc) (default 0.7)"},
        {"--n-s", &p.n_s, "Spectral index (default 0.96)"},
        {"--sigma8", &p.sigma8, "Amplitude (default 0.8)"},
        {"--omega-k", &p.omega_k, "Curvature, positive if open (default 0)"},
        {"--w0", &p.w0, "Dark energy today (default -1)"},
        {"--wa", &p.wa, "Its change by 1 - a (default 0)"}})
    add_number(line, name, *value, help).group(universe);
  add_choice(
      line, "--matter", settings.power.matter,
      std::vector<std::pair<std::string, cosmology::MatterPower>>{
          {"halofit", cosmology::MatterPower::halofit}, {"linear", cosmology::MatterPower::linear}},
      "P(k, a) (default halofit)")
      .group(universe);
  auto& counts = settings.counts;
  auto& shapes = settings.shapes;
  add_bins(line, "counts", counts.bins, "0.05");
  add_numbers(line, "--counts-bias", counts.bias, "Their biases").group(survey);
  add_numbers(line, "--counts-density", counts.density, "Their galaxies per square arc minute")
      .group(survey);
  add_bins(line, "shapes", shapes.bins, "0.15");
  add_numbers(line, "--shapes-m", shapes.m, "Their multiplicative biases (default 0.012)")
      .group(survey);
  add_numbers(line, "--shapes-shift", shapes.shift, "Shifts of their n(z) (default 0)")
      .group(survey);
  add_numbers(line, "--shapes-density", shapes.density, "Their galaxies per square arc minute")
      .group(survey);
  add_number(line, "--sigma-e", shapes.sigma_e, "Dispersion of an ellipticity (default 0.27)")
      .group(survey);
  add_number(line, "--alignment", shapes.alignment, "Intrinsic alignment (default 0.5)")
      .group(survey);
  add_number(line, "--eta", shapes.eta, "Its power of 1 + z (default 0)").group(survey);
  add_number(line, "--l-min", settings.l_min, "Where bins of l begin (default 20)").group(survey);
  add_number(line, "--l-max", settings.l_max, "Where they end (default 3000)").group(survey);
  add_whole_number(line, "--bins", settings.bins, "Bins of l (default 50)", 1, 10'000)
      .group(survey);
  add_number(line, "--f-sky", settings.f_sky, "The share of the sky (default 0.032)").group(survey);
  add_file(line, "--data", settings.data,
           "Measured spectra, as spectra.txt has them (default: own)")
      .group(survey);
  line.add_list("--free", settings.free,
                "Parameters that vary: omega_m, ..., wa, alignment, eta, bias1, m1, shift1, ...\n"
                "(default: all but omega_k and wa)")
      .type_name("NAME...")
      .expected(1, 64)
      .group("Parameters");
  add_prior(line, settings);
  add_path(line, "--output", settings.output, "FOLDER",
           "Where to write; made if it isn't there (default cells)")
      .group("Output");
  add_path(line, "--report", settings.report, "FILE", "Write the covariance as JSON")
      .group("Output");
  std::string const chains = "Chains";
  add_whole_number(line, "--chains", settings.chains,
                   "Also draw from the posterior, by so many chains (default 0)", 0, 100'000)
      .group(chains);
  add_choice(line, "--sampler", settings.sampler,
             std::vector<std::pair<std::string, Sampler>>{{"nuts", Sampler::nuts},
                                                          {"chees", Sampler::chees}},
             "nuts: a chain a thread; chees: all at once, also on a GPU (default nuts)")
      .group(chains);
  add_whole_number(line, "--warmup", settings.warmup, "Draws that tune the sampler (default 500)",
                   10, 10'000'000)
      .group(chains);
  add_whole_number(line, "--draws", settings.draws, "Draws of each chain (default 1000)", 4,
                   10'000'000)
      .group(chains);
  add_whole_number(line, "--seed", settings.seed, "What they depend on (default 1)", 0)
      .group(chains);
  add_path(line, "--restart", settings.restart, "FOLDER",
           "Go on with the chains of an earlier run, whose --output it was")
      .group(chains);
  add_config_file(line, {"--counts-table", "--shapes-table", "--data"});
  add_progress_and_quiet(line, settings.progress, settings.quiet);
}

/// Draws, writes them, and says what they are worth.
std::string draw(Place place, CellsSettings const& settings, Forecast const& result,
                 inference::Chains so_far) {
  auto const begin = std::chrono::steady_clock::now();
  inference::Chains const chains = [&] {
    Activity const drawing("drawing");
    say_of_files("what was written is whole, and --restart " + settings.output.string() +
                 " goes on with the draws until then");
    return draw_chains(place, settings, result, std::move(so_far));
  }();
  double const hours =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 3600;
  std::int64_t const count = chains.state.empty() ? 0 : chains.draws.extent(1);
  auto const n = static_cast<std::int64_t>(result.parameters.size());
  if (count >= 4) {
    Activity const writing("writing " + (settings.output / "draws.npy").string());
    save(settings.output / "draws.npy", chains.draws);
    std::vector<std::vector<double>> all;
    for (std::int64_t k = 0; k < chains.draws.extent(0) * count; ++k)
      all.emplace_back(chains.draws.data() + k * n, chains.draws.data() + (k + 1) * n);
    io::write_file(settings.output / "triangle.svg", triangle_of(result, all));
  }
  stop_if_interrupted();
  auto const summary = inference::summarise(chains);
  double worst = summary.parameters.front().ess_bulk;
  for (auto const& of : summary.parameters) worst = std::min(worst, of.ess_bulk);
  std::string const an_hour =
      settings.restart.empty() ? ", " + short_text(worst / hours) + " an hour with warm-up" : "";
  return "\n" + inference::to_text(summary, result.parameters) +
         "\nThe worst effective sample size is " + short_text(worst) + an_hour + ".\n";
}

struct OutputFile {
  std::filesystem::path path;
  std::string text;
};

/// Whether bins of a kind were given: by a list, or by a table. The command line's overrule those
/// of a configuration, which may be of the other form.
bool takes_bins(CommandLine const& line, std::string const& kind, BinsSettings& bins) {
  bool const table_here = line.is_on_command_line(kind + "-table");
  if (!line.is_given(kind + "-table")) return line.is_given(kind + "-z");
  if (!table_here && line.is_on_command_line(kind + "-z")) {
    bins.file.clear();
    return true;
  }
  for (char const* const other : {"-z", "-width"}) {
    bool const is_overruled = table_here && !line.is_on_command_line(kind + other);
    expects(is_overruled || !line.is_given(kind + other),
            kind + "-table says where galaxies are: leave " + kind + other + " out");
  }
  return true;
}

ExitCode carry_out(Place place, CommandLine const& line, CellsSettings given) {
  say_of_files("nothing was written");
  // Who gives bins of one kind alone has no others.
  bool const counts = takes_bins(line, "--counts", given.counts.bins),
             shapes = takes_bins(line, "--shapes", given.shapes.bins);
  if (counts && !shapes) given.shapes.bins.z.clear();
  if (shapes && !counts) given.counts.bins.z.clear();
  expects(given.l_min >= 2, "--l-min must be at least 2", given.l_min);
  expects(given.l_max > given.l_min, "--l-max must be above --l-min, " + in_words(given.l_min),
          given.l_max);
  CellsSettings const settings = with_whole_lists(given);
  std::vector<NamedFile> outputs = {{"--report", settings.report}};
  std::vector<std::string> names = {"spectra.txt", "derivatives.txt", "fisher.txt", "spectra.svg",
                                    "triangle.svg"};
  if (settings.chains > 0) names.insert(names.end(), {"draws.npy", "chains/newest.txt"});
  for (std::string const place : {"chains/0/", "chains/1/"})  // of an earlier run
    if (settings.chains > 0 && std::filesystem::is_directory(settings.output / place))
      for (char const* const name : {"draws.npy", "statistics.npy", "state.npy"})
        names.push_back(place + name);
  for (auto const& name : names) outputs.push_back({"the run's " + name, settings.output / name});
  expects_different_files(outputs, {{"--config", line.option("--config").text()},
                                    {"--counts-table", settings.counts.bins.file},
                                    {"--shapes-table", settings.shapes.bins.file},
                                    {"--data", settings.data}});
  OutputFolder const folder(settings.output, settings.output / "spectra.txt");
  std::optional<OutputFolder> of_chains;
  if (settings.chains > 0)
    of_chains.emplace(settings.output / "chains", settings.output / "chains" / "newest.txt");
  expects_good_files(outputs);
  expects(settings.chains > 0 || settings.restart.empty(),
          "--restart goes on with chains: give --chains, too, as in the earlier run");

  Forecast const result = forecast(settings);
  auto so_far = chains_to_go_on_with(settings, result);
  stop_if_interrupted();
  for (auto const& [path, text] : {OutputFile{"spectra.txt", spectra_text(result)},
                                   {"derivatives.txt", derivatives_text(result)},
                                   {"fisher.txt", fisher_text(result)},
                                   {"spectra.svg", picture_of_spectra(result)},
                                   {"triangle.svg", triangle_of(result)}}) {
    Activity const writing("writing " + (settings.output / path).string());
    io::write_file(settings.output / path, text);
    say_of_files("what was written is whole");
  }
  std::string const drawn =
      settings.chains > 0 ? draw(place, settings, result, std::move(so_far)) : "";
  if (!settings.report.empty()) write_report(settings.report, cells_report(result));
  if (!settings.quiet)
    std::cout << summary_of(result) << drawn
              << "\nSpectra, derivatives, the Fisher matrix and pictures are in "
              << settings.output.string() << "\n";
  return ExitCode::success;
}

}  // namespace

}  // namespace coir::apps::cells

int main(int argc, char** argv) {
  using namespace coir::apps::cells;
  coir::apps::CommandLine line("coir-cells", description, examples);
  CellsSettings settings;
  add_options(line, settings);

  return coir::apps::run(line, argc, argv,
                         [&](coir::apps::Place place) { return carry_out(place, line, settings); });
}
