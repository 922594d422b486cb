#include "present.hpp"

#include <support/text.hpp>
#include <support/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace coir::apps::compare {

namespace {

std::string limit_words(std::string const& limit) {
  return "share of " + (limit.starts_with("to_") ? "limit to " + limit.substr(3) : limit);
}

/// A mark behind times of which the rounds differ by more than most_spread.
char const* mark_of(Row const& row) { return spread_of(row) > most_spread ? " !" : ""; }

/// Without the columns in which no row has anything.
Grid without_empty_columns(Grid grid) {
  for (std::size_t c = grid.headings.size(); c-- > 1;) {
    auto const is_empty = [c](auto const& row) { return row[c].empty(); };
    if (!std::all_of(grid.rows.begin(), grid.rows.end(), is_empty)) continue;
    auto const at = static_cast<std::ptrdiff_t>(c);
    grid.headings.erase(grid.headings.begin() + at);
    for (auto& row : grid.rows) row.erase(row.begin() + at);
  }
  return grid;
}

bool is_of_bytes(std::string const& unit) { return unit.starts_with("bytes"); }

/// "1024", and "16.4 k" of sizes with more digits than that.
std::string size_text(double size) {
  return size < 10000 && size == std::floor(size) ? exact_text(size) : count_text(size);
}

std::string time_cell(std::optional<Point> const& point) {
  return point ? with_unit(point->row->seconds, "s") + mark_of(*point->row) : "";
}

/// "16.4 k and 65.5 k cells", "1.05 MB to 4.19 MB"
std::string range_words(double low, double high, std::string const& unit,
                        std::string const& between) {
  auto const text = [&](double size) {
    return is_of_bytes(unit) ? without_zeros(with_unit(size, "B")) : size_text(size);
  };
  return (low == high ? text(low) : text(low) + between + text(high)) +
         (is_of_bytes(unit) ? "" : " " + unit);
}

}  // namespace

std::string times_text(double ratio) {
  char text[32];
  char const* const format = ratio >= 99999.5 ? "%.2e"
                             : ratio >= 99.5  ? "%.0f"
                             : ratio >= 9.95  ? "%.1f"
                                              : "%.2f";
  std::snprintf(text, sizeof text, format, ratio);
  return text;
}

std::string share_text(Point const& point) {
  if (!point.share) return "";
  return percent(*point.share) + (*point.share > 1 ? ", cached" : "");
}

std::string unit_words(std::string const& unit) { return is_of_bytes(unit) ? "bytes" : unit; }

std::string size_words(std::string const& numbers, double size) {
  auto const parts = split(numbers, '/');
  auto const side = [&](SizeFrom from) { return size_of(from, numbers) == size; };
  if (side(SizeFrom::first)) return size_text(size);
  if (side(SizeFrom::square) && (parts.size() == 1 || parts.front() == parts.back()))
    return parts.front() + "^2";
  if (side(SizeFrom::cube)) return parts.front() + "^3";
  if (side(SizeFrom::product)) return joined(parts, " x ");
  return count_text(size);
}

std::string size_words(Panel const& panel, SizeLine const& line) {
  return is_of_bytes(panel.work->unit) ? without_zeros(with_unit(line.size, "B"))
                                       : size_words(line.size_text, line.size);
}

std::string overtaking_words(Overtaking const& overtaking, std::string const& unit) {
  auto const& [kind, low, high, is_ahead] = overtaking;
  std::string const range =
      range_words(low, high, unit, kind == Overtaking::unclear ? " to " : " and ");
  switch (kind) {
    case Overtaking::always: return "at every size";
    case Overtaking::never: return "never";
    case Overtaking::from: return "from between " + range + " on";
    case Overtaking::until: return "up to between " + range;
    case Overtaking::unclear:
      return "rounds differ " + std::string(low == high ? "at " : "from ") + range +
             (!is_ahead   ? ""
              : *is_ahead ? ", faster beyond"
                          : ", slower beyond");
    case Overtaking::once: return "not told by one round";
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
  Grid grid{{"", "backend", "kernels run on", "threads", "memory", "last cache", "copy", "triad",
             "update", "read", "launch", "to device", "to host"},
            {}};
  auto const bytes = [](double count) { return count > 0 ? with_unit(count, "B") : ""; };
  for (auto const& [machine, build, label] : analysis.contestants) {
    std::vector<std::string> row{label,
                                 build->backend,
                                 build->device,
                                 build->threads > 0 ? std::to_string(build->threads) : "",
                                 bytes(build->memory),
                                 bytes(build->cache)};
    for (std::string const key : limit_keys) {
      auto const limit = build->limits.find(key);
      row.push_back(limit == build->limits.end()
                        ? ""
                        : with_unit(limit->second, key == "launch_seconds" ? "s" : "B/s"));
    }
    grid.rows.push_back(std::move(row));
  }
  return without_empty_columns(std::move(grid));
}

Grid overview_grid(Analysis const& analysis) {
  std::size_t const contestants = analysis.contestants.size();
  Grid grid{{"work", "size"}, {}};
  for (auto const& contestant : analysis.contestants) grid.headings.push_back(contestant.label);
  if (contestants == 1) grid.headings.emplace_back("share of limit");
  for (auto const& panel : analysis.panels) {
    SizeLine const& line = telling_line(panel);
    std::vector<std::string> row{panel.work->title, size_words(panel, line)};
    for (std::size_t c = 0; c < contestants; ++c) {
      auto const ratio = c > 0 ? speed_up(line, c) : std::nullopt;
      row.push_back((ratio ? times_text(*ratio) + " x, " : "") + time_cell(line.points[c]));
    }
    if (contestants == 1) {
      auto const& point = line.points.front();
      row.push_back(point ? share_text(*point) : "");
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
  Grid grid{{"size", "on", "time", "slowest round / fastest", limit_words(panel.work->limit),
             "rate", "energy", "times as fast"},
            {}};
  for (auto const& line : panel.lines)
    for (std::size_t c = 0; c < analysis.contestants.size(); ++c) {
      if (!line.points[c]) continue;
      Row const& row = *line.points[c]->row;
      auto const ratio = c > 0 ? speed_up(line, c) : std::nullopt;
      grid.rows.push_back(
          {size_words(panel, line), several ? analysis.contestants[c].label : "",
           with_unit(row.seconds, "s"),
           row.rounds.size() > 1 ? times_text(spread_of(row)) + mark_of(row) : "",
           share_text(*line.points[c]), row.flops ? with_unit(*row.flops, "flop/s") : "",
           row.joules ? with_unit(*row.joules, "J") : "", ratio ? times_text(*ratio) : ""});
    }
  return without_empty_columns(std::move(grid));
}

namespace {

/// Which rows were faster than the limits beside them though they don't stay in a cache; empty if
/// none was.
std::string beyond_text(Analysis const& analysis) {
  std::size_t count = 0;
  Point const* most = nullptr;
  Panel const* of = nullptr;
  for (auto const& panel : analysis.panels)
    for (auto const& line : panel.lines)
      for (auto const& point : line.points) {
        if (!point || point->beyond <= 1) continue;
        ++count;
        if (most != nullptr && point->beyond <= most->beyond) continue;
        most = &*point;
        of = &panel;
      }
  if (count == 0) return {};
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", most->beyond);
  return counted(static_cast<int>(count), "rows") +
         " moved bytes faster than the limit that was measured beforehand, by up to " + text +
         " times (" + most->row->build + ", " + of->work->name + "/" + most->row->size_text +
         "): memory's speed changes with what else uses it. Their share is 100 %.";
}

/// Whether any row of a contestant has energy.
bool has_joules(Analysis const& analysis, Contestant const& contestant) {
  auto const place = static_cast<std::size_t>(&contestant - analysis.contestants.data());
  for (auto const& panel : analysis.panels)
    for (auto const& line : panel.lines)
      if (auto const& point = line.points[place]; point && point->row->joules) return true;
  return false;
}

}  // namespace

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
      "Times are of one call that is waited for, medians over rounds in which all columns of a "
      "machine took turns.",
      "The share of a limit is the time that the bytes of a call, each array counted once, would "
      "take at the rate of memory in "
      "the way that the work moves them (copy: one array read, another written; triad: several "
      "read, one written; update: one "
      "read and written in place; read), or of the link, by the time it took. The limit is "
      "measured before the rows of each "
      "program in each round.",
      "Above 100 % is only what stays in a cache, which the limits of memory don't hold "
      "(\"cached\"): calls of less than "
      "four times the last cache, and works that do several sweeps in a pass."};
  if (analysis.noise.restless > 0)
    lines.push_back("! marks times of which the slowest round took more than " +
                    exact_text(most_spread) + " times as long as the fastest.");
  if (auto text = beyond_text(analysis); !text.empty()) lines.push_back(std::move(text));
  if (analysis.contestants.size() > 1)
    lines.push_back("Times as fast (x) is against " + analysis.contestants.front().label +
                    ". One overtakes it between two sizes at which all "
                    "rounds agree on who is faster; with several crossings the last one counts.");
  std::vector<std::string> without;
  for (auto const& contestant : analysis.contestants)
    if (!has_joules(analysis, contestant)) without.push_back(contestant.label);
  if (without.size() < analysis.contestants.size())
    lines.emplace_back(
        "Energy of a call is its time by the mean power while its benchmark ran, of the processors "
        "or, where kernels run on a "
        "device, of the device alone, idle power included, by their own counters.");
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
