#include "plot.hpp"

#include "present.hpp"

#include <compare/chart.hpp>
#include <support/units.hpp>

#include <algorithm>

namespace coir::apps::compare {

namespace {

/// "4.2 ms, 64^3, 58 % of the limit"
std::string tip_of(Panel const& panel, SizeLine const& line, Point const& point,
                   std::string const& label) {
  std::string tip =
      label + ": " + with_unit(point.row->seconds, "s") + ", " + size_words(panel, line);
  if (spread_of(*point.row) > 1)
    tip += ", slowest round / fastest " + times_text(spread_of(*point.row));
  if (point.share) tip += ", " + share_text(point) + " of the limit";
  return tip;
}

}  // namespace

std::string time_plot(Panel const& panel, Analysis const& analysis, std::string const& id) {
  Chart chart{
      panel.work->title + ": time of a call against size", unit_words(panel.work->unit), {}, {}};
  for (std::size_t c = 0; c < analysis.contestants.size(); ++c) {
    ChartLine drawn{analysis.contestants[c].label, {}, {}};
    for (auto const& line : panel.lines) {
      auto const& point = line.points[c];
      if (!point) continue;
      auto const& rounds = point->row->rounds;
      auto const [fastest, slowest] = std::minmax_element(rounds.begin(), rounds.end());
      drawn.points.push_back({line.size, point->row->seconds,
                              tip_of(panel, line, *point, drawn.label),
                              rounds.empty() ? 0 : *fastest, rounds.empty() ? 0 : *slowest});
      if (point->limit_seconds) drawn.limit.emplace_back(line.size, *point->limit_seconds);
    }
    chart.lines.push_back(std::move(drawn));
    Overtaking const& one = panel.overtakings[c];
    if (one.kind == Overtaking::from || one.kind == Overtaking::until)
      chart.crossings.push_back({one.low, chart.lines[c].label,
                                 " is faster " + overtaking_words(one, panel.work->unit),
                                 one.high});
  }
  return time_chart(chart, id);
}

std::string speed_up_plot(Analysis const& analysis) {
  if (analysis.contestants.size() < 2) return {};
  std::string const& first = analysis.contestants.front().label;
  RatioChart chart{"How many times as fast as " + first, first, {}};
  for (auto const& panel : analysis.panels) {
    SizeLine const& line = telling_line(panel);
    RatioStrip strip{panel.work->title + ", " + size_words(panel, line), {}};
    for (std::size_t c = 1; c < analysis.contestants.size(); ++c)
      if (auto const ratio = speed_up(line, c))
        strip.dots.push_back(
            {c, *ratio,
             analysis.contestants[c].label + ": " + times_text(*ratio) + " times as fast"});
    if (!strip.dots.empty()) chart.strips.push_back(std::move(strip));
  }
  return chart.strips.empty() ? "" : ratio_chart(chart);
}

}  // namespace coir::apps::compare
