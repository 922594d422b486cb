#include "present.hpp"

#include "work_set.hpp"

#include <support/text.hpp>
#include <support/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace coir::apps::compare {

namespace {

std::string bandwidth(std::optional<double> const& value) {
  return value ? with_unit(*value, "B/s") : "";
}

std::string times_text(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, ratio >= 99.5 ? "%.0f" : ratio >= 9.95 ? "%.1f" : "%.2f", ratio);
  return text;
}

std::string limit_words(Limit limit) {
  return limit == Limit::copy        ? "share of copy"
         : limit == Limit::to_device ? "share of limit to device"
                                     : "share of limit to host";
}

/// Whether any row of a work has something.
template <class Has>
bool any_point(Panel const& panel, Has const& has) {
  for (auto const& line : panel.lines)
    for (auto const& point : line.points)
      if (point && has(*point)) return true;
  return false;
}

bool has_joules(Analysis const& analysis, Contestant const& contestant) {
  for (auto const& panel : analysis.panels)
    for (auto const& line : panel.lines)
      for (auto const& point : line.points)
        if (point && point->row->joules && point->row->machine == contestant.machine->name &&
            point->row->build == contestant.build->name)
          return true;
  return false;
}

std::string time_cell(std::optional<Point> const& point) {
  return point ? with_unit(point->row->seconds, "s") : "";
}

}  // namespace

std::string size_words(std::string const& numbers, double size) {
  auto const parts = split(numbers, '/');
  auto const side = [&](SizeFrom from) { return size_of(from, numbers) == size; };
  if (side(SizeFrom::first)) return count_text(size);
  if (side(SizeFrom::square) && (parts.size() == 1 || parts.front() == parts.back()))
    return parts.front() + "^2";
  if (side(SizeFrom::cube)) return parts.front() + "^3";
  if (side(SizeFrom::product)) return joined(parts, " x ");
  return count_text(size);
}

std::string overtaking_words(Overtaking const& overtaking, std::string const& unit) {
  std::string const size = count_text(overtaking.size) + " " + unit;
  switch (overtaking.kind) {
    case Overtaking::always: return "at every size";
    case Overtaking::never: return "never";
    case Overtaking::from: return "from " + size + " on";
    case Overtaking::until: return "up to " + size;
    case Overtaking::unknown: break;
  }
  return "";
}

SizeLine const& telling_line(Panel const& panel) {
  auto const has_all = [](SizeLine const& line) {
    return std::all_of(line.points.begin(), line.points.end(),
                       [](auto const& point) { return point.has_value(); });
  };
  auto const has_first = [](SizeLine const& line) { return line.points.front().has_value(); };
  auto const& lines = panel.lines;
  if (auto const line = std::find_if(lines.rbegin(), lines.rend(), has_all); line != lines.rend())
    return *line;
  if (auto const line = std::find_if(lines.rbegin(), lines.rend(), has_first); line != lines.rend())
    return *line;
  return lines.back();
}

Grid machines_grid(Analysis const& analysis) {
  Grid grid{{"", "backend", "kernels run on", "threads", "memory", "copy", "triad", "launch",
             "to device", "to host"},
            {}};
  for (auto const& [machine, build, label] : analysis.contestants) {
    Limits const& limits = build->limits;
    grid.rows.push_back({label, build->backend, build->device,
                         build->threads > 0 ? std::to_string(build->threads) : "",
                         build->memory > 0 ? with_unit(build->memory, "B") : "",
                         bandwidth(limits.copy), bandwidth(limits.triad),
                         limits.launch ? with_unit(*limits.launch, "s") : "",
                         bandwidth(limits.to_device), bandwidth(limits.to_host)});
  }
  return grid;
}

Grid overview_grid(Analysis const& analysis) {
  std::size_t const contestants = analysis.contestants.size();
  Grid grid{{"work", "size"}, {}};
  for (auto const& contestant : analysis.contestants) grid.headings.push_back(contestant.label);
  if (contestants == 1) grid.headings.emplace_back("share of limit");
  for (auto const& panel : analysis.panels) {
    SizeLine const& line = telling_line(panel);
    std::vector<std::string> row{panel.work->title, size_words(line.size_text, line.size)};
    for (std::size_t c = 0; c < contestants; ++c) {
      auto const ratio = c > 0 ? speed_up(line, c) : std::nullopt;
      row.push_back((ratio ? times_text(*ratio) + " x, " : "") + time_cell(line.points[c]));
    }
    if (contestants == 1) {
      auto const& point = line.points.front();
      row.push_back(point && point->share() ? percent(*point->share()) : "");
    }
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

std::string overtaking_title(Analysis const& analysis) {
  return "Where it is faster than " + analysis.contestants.front().label;
}

Grid overtaking_grid(Analysis const& analysis) {
  Grid grid{{"work"}, {}};
  for (std::size_t c = 1; c < analysis.contestants.size(); ++c)
    grid.headings.push_back(analysis.contestants[c].label);
  for (auto const& panel : analysis.panels) {
    std::vector<std::string> row{panel.work->title};
    for (std::size_t c = 1; c < analysis.contestants.size(); ++c)
      row.push_back(overtaking_words(panel.overtakings[c], panel.work->unit));
    // There is nothing to say of work that the first contestant alone has done.
    auto const is_known = [](auto const& one) { return one.kind != Overtaking::unknown; };
    if (std::any_of(panel.overtakings.begin(), panel.overtakings.end(), is_known))
      grid.rows.push_back(std::move(row));
  }
  return grid;
}

Grid panel_grid(Panel const& panel, Analysis const& analysis) {
  bool const several = analysis.contestants.size() > 1;
  bool const shares = any_point(panel, [](Point const& p) { return p.share().has_value(); });
  bool const rates = any_point(panel, [](Point const& p) { return p.row->flops.has_value(); });
  bool const joules = any_point(panel, [](Point const& p) { return p.row->joules.has_value(); });
  Grid grid{{"size"}, {}};
  if (several) grid.headings.emplace_back("on");
  grid.headings.emplace_back("time");
  if (shares) grid.headings.push_back(limit_words(limit_named(panel.work->limit)));
  if (rates) grid.headings.emplace_back("rate");
  if (joules) grid.headings.emplace_back("energy");
  if (several) grid.headings.emplace_back("times as fast");
  for (auto const& line : panel.lines) {
    std::string size = size_words(line.size_text, line.size);
    for (std::size_t c = 0; c < analysis.contestants.size(); ++c) {
      if (!line.points[c]) continue;
      Point const& point = *line.points[c];
      std::vector<std::string> row{size};
      size.clear();
      if (several) row.push_back(analysis.contestants[c].label);
      row.push_back(with_unit(point.row->seconds, "s"));
      if (shares) row.push_back(point.share() ? percent(*point.share()) : "");
      if (rates) row.push_back(point.row->flops ? with_unit(*point.row->flops, "flop/s") : "");
      if (joules) row.push_back(point.row->joules ? with_unit(*point.row->joules, "J") : "");
      if (several) {
        auto const ratio = c > 0 ? speed_up(line, c) : std::nullopt;
        row.push_back(ratio ? times_text(*ratio) : "");
      }
      grid.rows.push_back(std::move(row));
    }
  }
  return grid;
}

std::vector<std::string> left_out_lines(Comparison const& comparison) {
  bool const several = comparison.machines.size() > 1;
  std::vector<std::string> lines;
  for (auto const& row : comparison.left_out) {
    std::string const size = row.size_text.empty() ? "" : "/" + row.size_text;
    lines.push_back((several ? row.machine + ": " : "") + row.build + ", " + row.work + size +
                    (row.failed ? " failed: " : ": ") + row.why);
  }
  return lines;
}

std::vector<std::string> explanations(Analysis const& analysis) {
  std::vector<std::string> lines{
      "Times are medians over rounds in which all columns of a machine took turns, of one call "
      "that is waited for.",
      "The share of a limit is the time that the bytes of a call, each array counted once, would "
      "take at the measured "
      "bandwidth, by the time it took: above 100 % where arrays stay in a cache, or a pass does "
      "several sweeps."};
  if (analysis.contestants.size() > 1)
    lines.push_back("Times as fast (x) is against " + analysis.contestants.front().label +
                    ". One overtakes it where their times cross, interpolated between the sizes "
                    "measured on straight lines in the "
                    "logarithms of size and time; with several crossings the last one counts.");
  std::vector<std::string> without;
  for (auto const& contestant : analysis.contestants)
    if (!has_joules(analysis, contestant)) without.push_back(contestant.label);
  if (without.size() < analysis.contestants.size())
    lines.emplace_back(
        "Energy of a call is its time by the mean power while its benchmark ran, of the processors "
        "or, where kernels run "
        "on a device, of the device alone, idle power included, by their own counters.");
  if (!without.empty())
    lines.push_back("No energy of " + joined(without, ", ") +
                    ": no counter of it could be read (processors: /sys/class/powercap, mostly for "
                    "root alone; devices: "
                    "NVIDIA's by NVML).");
  return lines;
}

std::string headline(Comparison const& comparison) {
  std::vector<std::string> parts;
  for (auto const& machine : comparison.machines)
    parts.push_back(machine.name + ": " + machine.set + " set, " + std::to_string(machine.rounds) +
                    (machine.rounds == 1 ? " round" : " rounds") + ", " + machine.created);
  return joined(parts, "; ");
}

}  // namespace coir::apps::compare
