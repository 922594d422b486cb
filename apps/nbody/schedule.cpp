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

/// Scale factors this close are the same: an output at 0.3 is the end of a step to 0.30000000000000004.
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
            "--outputs must be from the start to the end, a = " + range_text(scale_factors),
            exact_text(output));
    scale_factors.insert(std::upper_bound(scale_factors.begin(), scale_factors.end(), output),
                         output);
  }
  return with_outputs(std::move(scale_factors), settings.outputs);
}

Schedule schedule_of(Settings const& settings, std::vector<double> const& scale_factors) {
  for (double const output : settings.outputs)
    expects(index_of(scale_factors, output) >= 0,
            "--outputs of a --restart must be at ends of its steps, which lead from a = " +
                range_text(scale_factors) + ": start a new run for others",
            exact_text(output));
  return with_outputs(scale_factors, settings.outputs);
}

bool is_end_of_step(std::vector<double> const& scale_factors, double a) {
  return index_of(scale_factors, a) >= 0;
}

FileNames::FileNames(Settings const& settings, Schedule const& schedule, int ranks)
    : folder_(settings.output), ranks_(ranks) {
  auto const is_enough = [&] {
    std::set<std::filesystem::path> names;
    for (int const index : schedule.outputs) {
      double const a = schedule.scale_factors[static_cast<std::size_t>(index)];
      char text[64];
      std::snprintf(text, sizeof text, "%.*f", digits_, a);
      if (std::abs(std::stod(text) - a) > 0.01 * a || !names.insert(text).second) return false;
    }
    return true;
  };
  while (digits_ < 17 && !is_enough()) ++digits_;
}

std::vector<std::filesystem::path> FileNames::all(Schedule const& schedule) const {
  std::vector<std::filesystem::path> names{config(), checkpoint()};
  if (ranks_ > 1)
    for (char const letter : checkpoint_letters)
      for (int rank = 0; rank < ranks_; ++rank)
        names.push_back(checkpoint_part(checkpoint(), letter, rank));
  for (int const index : schedule.outputs) {
    double const a = schedule.scale_factors[static_cast<std::size_t>(index)];
    names.push_back(at("power", a, ".txt"));
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
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits_, a);
  return folder_ / (what + "_a" + text + ending);
}

}  // namespace coir::apps::nbody
