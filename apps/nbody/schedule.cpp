#include "schedule.hpp"

#include "setting_list.hpp"

#include <coir/core/errors.hpp>

#include <support/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace coir::apps::nbody {

namespace {

constexpr double earliest =
    1e-5;  // long before there are structures, and where growth functions are exact

/// Scale factors this close are the same: an output at 0.3 is the end of a step to
/// 0.30000000000000004.
bool same(double a, double b) { return std::abs(a - b) <= 1e-6 * b; }

std::string range_text(std::vector<double> const& a) {
  return exact_text(a.front()) + " to " + exact_text(a.back());
}

std::vector<double> steps_of(Settings const& settings) {
  double const start =
      settings.scale_factors.empty() ? settings.a_start : settings.scale_factors.front();
  expects(start >= earliest, "a run must start at a = " + exact_text(earliest) + " or later",
          exact_text(start));
  if (settings.scale_factors.empty()) {
    expects(settings.a_start < settings.a_end,
            "--a-start must be below --a-end, " + exact_text(settings.a_end), settings.a_start);
    return coir::nbody::scale_factors(settings.a_start, settings.a_end, settings.steps,
                                      settings.spacing);
  }
  auto const& a = settings.scale_factors;
  expects(a.size() >= 2, "--scale-factors must name the start and the end of a step at least");
  for (std::size_t n = 1; n < a.size(); ++n)
    expects(a[n] > a[n - 1],
            "--scale-factors must rise: what follows " + exact_text(a[n - 1]) + " must be above it",
            exact_text(a[n]));
  return a;
}

int index_of(std::vector<double> const& scale_factors, double output) {
  auto const found = std::lower_bound(scale_factors.begin(), scale_factors.end(), output,
                                      [](double a, double b) { return a < b && !same(a, b); });
  return found == scale_factors.end() || !same(*found, output)
             ? -1
             : static_cast<int>(found - scale_factors.begin());
}

Schedule with_outputs(std::vector<double> scale_factors, std::vector<double> const& outputs) {
  std::set<int> indices{static_cast<int>(scale_factors.size()) - 1};
  for (double const output : outputs) indices.insert(index_of(scale_factors, output));
  return {std::move(scale_factors), {indices.begin(), indices.end()}};
}

}  // namespace

Schedule schedule_of(Settings const& settings) {
  std::vector<double> scale_factors = steps_of(settings);
  for (double const output : settings.outputs) {
    if (index_of(scale_factors, output) >= 0) continue;
    expects(output > scale_factors.front() && output < scale_factors.back(),
            "--outputs, or --redshifts, must be from the start to the end, a = " +
                range_text(scale_factors),
            "a = " + exact_text(output));
    scale_factors.insert(std::upper_bound(scale_factors.begin(), scale_factors.end(), output),
                         output);
  }
  return with_outputs(std::move(scale_factors), settings.outputs);
}

Schedule schedule_of(Settings const& settings, std::vector<double> const& scale_factors) {
  for (double const output : settings.outputs)
    expects(
        index_of(scale_factors, output) >= 0,
        "--outputs, or --redshifts, of a --restart must be at ends of its steps, which lead from "
        "a = " +
            range_text(scale_factors) + ": start a new run for others",
        "a = " + exact_text(output));
  return with_outputs(scale_factors, settings.outputs);
}

int steps_asked_for(Settings const& settings) {
  return settings.scale_factors.empty() ? settings.steps
                                        : static_cast<int>(settings.scale_factors.size()) - 1;
}

std::vector<double> with_later_end(Settings const& settings,
                                   std::vector<double> const& scale_factors, double a_end) {
  double const end = scale_factors.back();
  expects(a_end > end && !same(a_end, end),
          "a run that has its end at a = " + exact_text(end) +
              " can go on to a later one only: give --a-end above it, or leave it out",
          a_end);
  bool const by_ratio =
      settings.scale_factors.empty() && settings.spacing == coir::nbody::Spacing::logarithmic;
  // Outputs may have cut the last step in two.
  double const from =
      settings.scale_factors.empty() ? settings.a_start : scale_factors[scale_factors.size() - 2];
  double const steps = settings.scale_factors.empty() ? settings.steps : 1;
  double const width = (by_ratio ? std::log(end / from) : end - from) / steps;
  double const more = (by_ratio ? std::log(a_end / end) : a_end - end) / width;
  expects(more <= 1'000'000, "--a-end is more than 1000000 steps away", a_end);
  int const count = std::max(1, static_cast<int>(std::ceil(more - 1e-6)));
  auto const beyond = coir::nbody::scale_factors(
      end, a_end, count,
      by_ratio ? coir::nbody::Spacing::logarithmic : coir::nbody::Spacing::linear);
  std::vector<double> all = scale_factors;
  all.insert(all.end(), beyond.begin() + 1, beyond.end());
  return all;
}

std::string late_start_of(Settings const& settings, double a) {
  if (!settings.start.empty()) return "";
  // Higher orders grow with a: up to here they are 1 % of today's power at k = 0.3 h/Mpc, see
  // docs/nbody.md.
  double const latest = settings.lpt == 2 ? 0.1 : 0.02;
  if (a <= latest * (1 + 1e-6)) return "";
  return "perturbation theory of order " + std::to_string(settings.lpt) +
         " lacks structure at a = " + exact_text(a) +
         ", and small scales of the power spectrum stay some per cent too low: start at "
         "--a-start " +
         exact_text(latest) + " or earlier" + (settings.lpt == 1 ? ", or use --lpt 2" : "");
}

bool is_end_of_step(std::vector<double> const& scale_factors, double a) {
  return index_of(scale_factors, a) >= 0;
}

FileNames::FileNames(Settings const& settings, Schedule const& schedule, int ranks)
    : folder_(settings.output), named_by_(settings.named_by), ranks_(ranks) {
  auto const is_enough = [&] {
    std::set<std::filesystem::path> names;
    for (int const index : schedule.outputs) {
      double const a = schedule.scale_factors[static_cast<std::size_t>(index)];
      std::string const text = number_of(a);
      double const named =
          named_by_ == NamedBy::redshift ? 1 / (1 + std::stod(text)) : std::stod(text);
      if (std::abs(named - a) > 0.01 * a || !names.insert(text).second) return false;
    }
    return true;
  };
  while (digits_ < 17 && !is_enough()) ++digits_;
}

std::vector<std::filesystem::path> FileNames::all(Schedule const& schedule) const {
  std::vector<std::filesystem::path> names{config(), checkpoint(), white_noise()};
  if (ranks_ > 1)
    for (char const letter : checkpoint_letters)
      for (int rank = 0; rank < ranks_; ++rank)
        names.push_back(checkpoint_part(checkpoint(), letter, rank));
  for (int const index : schedule.outputs) {
    double const a = schedule.scale_factors[static_cast<std::size_t>(index)];
    for (char const* what : {"power", "multipoles"}) names.push_back(at(what, a, ".txt"));
    names.push_back(at("density", a, ".npy"));
    for (int rank = 0; rank < ranks_; ++rank) names.push_back(snapshot(a, ranks_, rank));
    for (char const* what : {"slab", "projection"})
      for (char const* ending : {".png", ".npy"}) names.push_back(at(what, a, ending));
  }
  return names;
}

std::filesystem::path FileNames::snapshot(double a, int files, int file) const {
  return at("snapshot", a, files > 1 ? "." + std::to_string(file) + ".hdf5" : ".hdf5");
}

std::filesystem::path FileNames::at(std::string const& what, double a,
                                    std::string const& ending) const {
  char const* const by = named_by_ == NamedBy::redshift ? "_z" : "_a";
  return folder_ / (what + by + number_of(a) + ending);
}

std::string FileNames::number_of(double a) const {
  double const number = named_by_ == NamedBy::redshift ? 1 / a - 1 : a;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits_, number);
  // Today may be -0.000 by rounding.
  std::string const found = text;
  return found.find_first_not_of("-0.") == std::string::npos && found.front() == '-'
             ? found.substr(1)
             : found;
}

}  // namespace coir::apps::nbody
