#include "analysis.hpp"

#include "work_set.hpp"

#include <support/text.hpp>

#include <algorithm>
#include <cmath>

namespace coir::apps::compare {

namespace {

std::optional<double> limit_of(Build const& build, Limit limit) {
  switch (limit) {
    case Limit::copy: return build.limits.copy;
    case Limit::to_device: return build.limits.to_device;
    case Limit::to_host: return build.limits.to_host;
    case Limit::none: break;
  }
  return {};
}

Point point_of(Row const& row, WorkInfo const& work, Build const& build) {
  Point point{&row, {}};
  auto const limit = limit_of(build, limit_named(work.limit));
  if (limit && row.bytes) point.limit_seconds = *row.bytes / *limit;
  return point;
}

SizeLine& line_for(Panel& panel, Row const& row, std::size_t contestants) {
  for (auto& line : panel.lines)
    if (line.size_text == row.size_text) return line;
  panel.lines.push_back({row.size_text, row.size, {}});
  panel.lines.back().points.resize(contestants);
  return panel.lines.back();
}

Curve curve_of(Panel const& panel, std::size_t contestant) {
  Curve curve;
  for (auto const& line : panel.lines)
    if (auto const& point = line.points[contestant])
      curve.emplace_back(line.size, point->row->seconds);
  return curve;
}

Panel panel_of(WorkInfo const& work, Comparison const& comparison,
               std::vector<Contestant> const& contestants) {
  Panel panel{&work, {}, {}};
  for (auto const& row : comparison.rows)
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      auto const& [machine, build, label] = contestants[c];
      if (row.work == work.name && row.machine == machine->name && row.build == build->name)
        line_for(panel, row, contestants.size()).points[c] = point_of(row, work, *build);
    }
  std::stable_sort(panel.lines.begin(), panel.lines.end(),
                   [](SizeLine const& a, SizeLine const& b) { return a.size < b.size; });
  panel.overtakings.resize(contestants.size());
  for (std::size_t c = 1; c < contestants.size(); ++c)
    panel.overtakings[c] = overtaking(curve_of(panel, 0), curve_of(panel, c));
  return panel;
}

/// Rows that one machine measured and another didn't.
std::vector<std::string> differences(Comparison const& comparison) {
  std::vector<std::string> notes;
  if (comparison.machines.size() < 2) return notes;
  for (auto const& machine : comparison.machines) {
    std::vector<std::string> missing;
    for (auto const& work : comparison.works) {
      std::vector<std::string> sizes;
      auto const is_of = [&](Row const& row, std::string const& size) {
        return row.machine == machine.name && row.work == work.name && row.size_text == size;
      };
      for (auto const& row : comparison.rows) {
        if (row.work != work.name || std::count(sizes.begin(), sizes.end(), row.size_text) > 0)
          continue;
        auto const same = [&](Row const& other) { return is_of(other, row.size_text); };
        if (std::none_of(comparison.rows.begin(), comparison.rows.end(), same))
          sizes.push_back(row.size_text);
      }
      for (auto const& size : sizes) missing.push_back(work.name + "/" + size);
    }
    if (!missing.empty())
      notes.push_back(machine.name + " (" + machine.set + " set) has not measured " +
                      joined(missing, ", ") + "; others have.");
  }
  return notes;
}

}  // namespace

Overtaking overtaking(Curve const& first, Curve const& other) {
  // Logarithms of common sizes, and of how many times as long the other one takes there.
  std::vector<std::pair<double, double>> ratios;
  for (auto const& [size, seconds] : first)
    for (auto const& [other_size, other_seconds] : other)
      if (size == other_size)
        ratios.emplace_back(std::log(size), std::log(other_seconds / seconds));
  std::sort(ratios.begin(), ratios.end());
  if (ratios.empty()) return {Overtaking::unknown, 0};

  bool const ahead_at_last = ratios.back().second < 0;
  for (std::size_t n = ratios.size() - 1; n-- > 0;) {
    auto const [size, ratio] = ratios[n];
    if ((ratio < 0) == ahead_at_last) continue;
    auto const [next_size, next_ratio] = ratios[n + 1];
    double const crossing = size + (next_size - size) * ratio / (ratio - next_ratio);
    return {ahead_at_last ? Overtaking::from : Overtaking::until, std::exp(crossing)};
  }
  return {ahead_at_last ? Overtaking::always : Overtaking::never, 0};
}

std::optional<double> speed_up(SizeLine const& line, std::size_t contestant) {
  auto const& first = line.points.front();
  auto const& other = line.points[contestant];
  if (!first || !other) return {};
  return first->row->seconds / other->row->seconds;
}

Analysis analyse(Comparison const& comparison) {
  Analysis analysis;
  bool const several = comparison.machines.size() > 1;
  for (auto const& machine : comparison.machines)
    for (auto const& build : machine.builds)
      analysis.contestants.push_back(
          {&machine, &build, several ? machine.name + ": " + build.name : build.name});
  for (auto const& work : comparison.works) {
    Panel panel = panel_of(work, comparison, analysis.contestants);
    if (!panel.lines.empty()) analysis.panels.push_back(std::move(panel));
  }
  analysis.notes = differences(comparison);
  return analysis;
}

}  // namespace coir::apps::compare
