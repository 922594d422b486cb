#include "plot.hpp"

#include "present.hpp"

#include <support/chart.hpp>
#include <support/units.hpp>

#include <cstdio>

namespace coir::apps::compare {

namespace {

/// "4.2 ms, 64^3, 58 % of the limit"
std::string tip_of(SizeLine const& line, Point const& point, std::string const& label) {
  std::string tip = label + ": " + with_unit(point.row->seconds, "s") + ", " +
                    size_words(line.size_text, line.size);
  if (auto const share = point.share()) tip += ", " + percent(*share) + " of the limit";
  return tip;
}

}  // namespace

std::string time_plot(Panel const& panel, Analysis const& analysis, std::string const& id) {
  Chart chart{panel.work->title + ": time of a call against size", panel.work->unit, {}, {}};
  for (std::size_t c = 0; c < analysis.contestants.size(); ++c) {
    ChartLine drawn{analysis.contestants[c].label, {}, {}};
    for (auto const& line : panel.lines) {
      auto const& point = line.points[c];
      if (!point) continue;
      drawn.points.push_back({line.size, point->row->seconds, tip_of(line, *point, drawn.label)});
      if (point->limit_seconds) drawn.limit.emplace_back(line.size, *point->limit_seconds);
    }
    chart.lines.push_back(std::move(drawn));
    auto const& [kind, size] = panel.overtakings[c];
    if (kind == Overtaking::from || kind == Overtaking::until)
      chart.crossings.push_back(
          {size, chart.lines[c].label,
           (kind == Overtaking::from ? " is faster from " : " is faster up to ") +
               count_text(size)});
  }
  return time_chart(chart, id);
}

std::string speed_up_plot(Analysis const& analysis) {
  if (analysis.contestants.size() < 2) return {};
  std::string const& first = analysis.contestants.front().label;
  RatioChart chart{"How many times as fast as " + first, first, {}};
  for (auto const& panel : analysis.panels) {
    SizeLine const& line = telling_line(panel);
    RatioStrip strip{panel.work->title + ", " + size_words(line.size_text, line.size), {}};
    for (std::size_t c = 1; c < analysis.contestants.size(); ++c)
      if (auto const ratio = speed_up(line, c)) {
        char tip[64];
        std::snprintf(tip, sizeof tip, ": %.3g times as fast", *ratio);
        strip.dots.push_back({c, *ratio, analysis.contestants[c].label + tip});
      }
    if (!strip.dots.empty()) chart.strips.push_back(std::move(strip));
  }
  return chart.strips.empty() ? "" : ratio_chart(chart);
}

}  // namespace coir::apps::compare
