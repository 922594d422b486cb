#include "analysis.hpp"

#include <support/median.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <map>

namespace coir::apps::compare {

namespace {

std::vector<double> rounds_of(Row const& row) {
  return row.rounds.empty() ? std::vector{row.seconds} : row.rounds;
}

/// Whether a call's bytes stay in a cache, in part at least: those of less than four times the last
/// cache do. The arrays of which limits are measured have that size.
bool may_stay_in_cache(Row const& row, WorkInfo const& work, Build const& build) {
  constexpr double guess = 64 << 20;
  return work.stays_in_cache || *row.bytes < 4 * (build.cache > 0 ? build.cache : guess);
}

Point point_of(Row const& row, WorkInfo const& work, Build const& build) {
  Point point{&row, {}, {}};
  if (!row.bytes) return point;
  auto const rounds = rounds_of(row);
  auto limits = row.limits;
  if (limits.size() != rounds.size()) {  // not measured in each round: one limit for all
    auto const limit = limit_of(build.limits, work.limit);
    if (!limit) return point;
    limits.assign(rounds.size(), *limit);
  }
  point.limit_seconds = *row.bytes / median_of(limits);
  std::vector<double> shares;
  for (std::size_t n = 0; n < rounds.size(); ++n)
    shares.push_back(*row.bytes / limits[n] / rounds[n]);
  double const share = median_of(shares);
  point.in_cache = is_of_memory(work.limit) && may_stay_in_cache(row, work, build);
  if (!point.in_cache) point.beyond = std::max(1., share);
  point.share = share / point.beyond;
  return point;
}

Curve curve_of(Panel const& panel, std::size_t contestant) {
  Curve curve;
  for (auto const& line : panel.lines)
    if (auto const& point = line.points[contestant])
      curve.push_back({line.size, rounds_of(*point->row)});
  return curve;
}

/// The work's rows by their contestants, in lines of rising size.
Panel panel_of(WorkInfo const& work, std::vector<Row const*> const& rows,
               std::vector<Contestant> const& contestants,
               std::map<std::string, std::size_t> const& places) {
  Panel panel{&work, {}, {}};
  std::map<std::string, std::size_t> lines;
  for (Row const* row : rows) {
    auto const contestant = places.find(row->machine + '\n' + row->build);
    if (contestant == places.end()) continue;
    auto const [line, is_new] = lines.emplace(row->size_text, panel.lines.size());
    if (is_new) {
      panel.lines.push_back({row->size_text, row->size, {}});
      panel.lines.back().points.resize(contestants.size());
    }
    std::size_t const c = contestant->second;
    panel.lines[line->second].points[c] = point_of(*row, work, *contestants[c].build);
  }
  std::stable_sort(panel.lines.begin(), panel.lines.end(),
                   [](SizeLine const& a, SizeLine const& b) { return a.size < b.size; });
  panel.overtakings.resize(contestants.size());
  for (std::size_t c = 1; c < contestants.size(); ++c)
    panel.overtakings[c] = overtaking(curve_of(panel, 0), curve_of(panel, c),
                                      contestants[c].machine == contestants[0].machine);
  return panel;
}

/// How many rows a machine lacks that others measured.
std::vector<std::string> differences(Comparison const& comparison,
                                     std::vector<Panel> const& panels) {
  std::vector<std::string> notes;
  for (auto const& machine : comparison.machines) {
    std::string first;
    int missing = 0;
    for (auto const& panel : panels)
      for (auto const& line : panel.lines)
        if (std::none_of(
                line.points.begin(), line.points.end(),
                [&](auto const& point) { return point && point->row->machine == machine.name; }) &&
            ++missing == 1)
          first = panel.work->name + "/" + line.size_text;
    if (missing > 0)
      notes.push_back(machine.name + " (" + machine.set + " set) has not measured " +
                      counted(missing, "rows") + " that others have, such as " + first + ".");
  }
  return notes;
}

Noise noise_of(std::vector<Row> const& rows) {
  Noise noise;
  std::vector<double> spreads;
  for (Row const& row : rows) {
    if (row.rounds.size() < 2) continue;
    double const spread = spread_of(row);
    spreads.push_back(spread);
    if (spread > most_spread) ++noise.restless;
    if (noise.worst != nullptr && spread <= noise.worst_spread) continue;
    noise.worst = &row;
    noise.worst_spread = spread;
  }
  noise.rows = spreads.size();
  if (!spreads.empty()) noise.typical = median_of(spreads);
  return noise;
}

enum class Lead { first, other, unclear };

/// Who is faster in all rounds. As fast isn't faster.
Lead lead_of(std::vector<double> const& first, std::vector<double> const& other, bool in_turns) {
  if (in_turns && first.size() == other.size()) {
    std::size_t ahead = 0;
    for (std::size_t n = 0; n < first.size(); ++n)
      if (other[n] < first[n]) ++ahead;
    return ahead == 0 ? Lead::first : ahead == first.size() ? Lead::other : Lead::unclear;
  }
  auto const [fastest, slowest] = std::minmax_element(first.begin(), first.end());
  auto const [others_fastest, others_slowest] = std::minmax_element(other.begin(), other.end());
  if (*others_slowest < *fastest) return Lead::other;
  return *others_fastest >= *slowest ? Lead::first : Lead::unclear;
}

}  // namespace

Overtaking overtaking(Curve const& first, Curve const& other, bool in_turns) {
  std::map<double, std::vector<double> const*> firsts;
  for (auto const& point : first) firsts[point.size] = &point.rounds;
  std::map<double, Lead> leads;
  bool is_once = false;
  for (auto const& [size, rounds] : other)
    if (auto const found = firsts.find(size); found != firsts.end()) {
      leads[size] = lead_of(*found->second, rounds, in_turns);
      is_once = is_once || found->second->size() < 2 || rounds.size() < 2;
    }
  if (leads.empty()) return {};
  if (is_once) return {Overtaking::once};

  auto const last = leads.rbegin();
  auto at = last;
  if (last->second == Lead::unclear) {
    while (std::next(at) != leads.rend() && std::next(at)->second == Lead::unclear) ++at;
    return {Overtaking::unclear, at->first, last->first};
  }
  // From the largest size down to the first at which the lead is another, or unclear.
  while (at != leads.rend() && at->second == last->second) ++at;
  bool const is_ahead = last->second == Lead::other;
  if (at == leads.rend()) return {is_ahead ? Overtaking::always : Overtaking::never};
  double const above = std::prev(at)->first;
  double const below = at->first;
  if (at->second == Lead::unclear) {
    auto lowest = at;
    while (std::next(lowest) != leads.rend() && std::next(lowest)->second == Lead::unclear)
      ++lowest;
    return {Overtaking::unclear, lowest->first, below, is_ahead};
  }
  return {is_ahead ? Overtaking::from : Overtaking::until, below, above};
}

double spread_of(Row const& row) {
  if (row.rounds.empty()) return 1;
  auto const [fastest, slowest] = std::minmax_element(row.rounds.begin(), row.rounds.end());
  return *slowest / *fastest;
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
  std::map<std::string, std::size_t> places;
  for (auto const& machine : comparison.machines)
    for (auto const& build : machine.builds) {
      places.emplace(machine.name + '\n' + build.name, analysis.contestants.size());
      analysis.contestants.push_back(
          {&machine, &build, several ? machine.name + ": " + build.name : build.name});
    }
  std::map<std::string, std::vector<Row const*>> rows;
  for (Row const& row : comparison.rows) rows[row.work].push_back(&row);
  for (auto const& work : comparison.works) {
    Panel panel = panel_of(work, rows[work.name], analysis.contestants, places);
    if (!panel.lines.empty()) analysis.panels.push_back(std::move(panel));
  }
  analysis.notes = differences(comparison, analysis.panels);
  analysis.noise = noise_of(comparison.rows);
  return analysis;
}

}  // namespace coir::apps::compare
