#include "present.hpp"

#include <compare/chart.hpp>
#include <compare/html_page.hpp>
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

/// Time against size on logarithmic axes, a line for each contestant and a dashed one for its
/// limit.
///
/// \param id  letters and digits that no other plot of the page has
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

/// How many times as fast as the first contestant the others are at the sizes of the overview, a
/// line for each work. Empty if there is one contestant.
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

std::string legend(Analysis const& analysis) {
  std::string html = "<ul class=\"legend\">\n";
  for (std::size_t c = 0; c < analysis.contestants.size(); ++c) {
    auto const& contestant = analysis.contestants[c];
    html += "<li>" + line_sample(c) +
            escaped(contestant.label + " (" + contestant.build->backend + ", " +
                    contestant.build->device + ")") +
            "</li>\n";
  }
  return html + "<li>" + limit_sample() +
         "the limit of its machine, where memory or transfers set one; bars reach from the fastest "
         "round to the "
         "slowest, and a grey band holds the sizes between which one overtakes the "
         "other</li>\n</ul>\n";
}

/// What the lines of a work's plot are; those without a row aren't there.
std::string plot_legend(Panel const& panel, Analysis const& analysis) {
  std::string html;
  for (std::size_t c = 0; c < analysis.contestants.size(); ++c) {
    auto const has_point = [c](SizeLine const& line) { return line.points[c].has_value(); };
    if (std::any_of(panel.lines.begin(), panel.lines.end(), has_point))
      html += "<li>" + line_sample(c) + escaped(analysis.contestants[c].label) + "</li>\n";
  }
  return "<ul class=\"legend\">\n" + html + "</ul>\n";
}

std::string card(Panel const& panel, Analysis const& analysis, std::string const& id) {
  std::string html = "<figure>\n<h3>" + escaped(panel.work->title) + "</h3>\n";
  std::string const table = page_table(panel_grid(panel, analysis), "sizes");
  if (panel.lines.size() < 2) return html + table + "</figure>\n";
  html += time_plot(panel, analysis, id);
  if (analysis.contestants.size() > 1) html += plot_legend(panel, analysis);
  return html + "<details>\n<summary>All sizes, in " + escaped(unit_words(panel.work->unit)) +
         "</summary>\n" + table + "</details>\n</figure>\n";
}

std::string lead(Analysis const& analysis) {
  std::string html;
  auto const lines = findings(analysis);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    bool const is_doubt = n + 1 == lines.size() && analysis.noise.restless > 0;
    html += std::string("<p class=\"lead") + (is_doubt ? " doubt" : "") + "\">" +
            escaped(lines[n]) + "</p>\n";
  }
  for (auto const& doubt : doubts(analysis))
    html += "<p class=\"lead doubt\">" + escaped(doubt) + "</p>\n";
  return html;
}

}  // namespace

std::string page_of(Comparison const& comparison) {
  Analysis const analysis = analyse(comparison);
  std::string html = begin_page("coir-compare");
  html += "<h1>coir-compare</h1>\n<p class=\"soft\">" + escaped(headline(comparison)) + "</p>\n" +
          lead(analysis);
  html +=
      "<h2>Machines</h2>\n" + page_table(machines_grid(analysis), "machines") + legend(analysis);
  html += "<h2>In short</h2>\n";
  if (auto const plot = speed_up_plot(analysis); !plot.empty())
    html += "<figure>\n<h3>How many times as fast as " +
            escaped(analysis.contestants.front().label) + "</h3>\n" + plot + "</figure>\n";
  html += page_table(overview_grid(analysis), "overview");
  if (analysis.contestants.size() > 1)
    html += "<h3 class=\"later\">" + escaped(overtaking_title(analysis)) + "</h3>\n" +
            page_table(overtaking_grid(analysis), "overview");
  html += page_list(explanations(analysis));
  std::string group;
  int cards = 0;
  for (auto const& panel : analysis.panels) {
    if (panel.work->group != group) {
      html += (group.empty() ? "" : "</div>\n") + ("<h2>" + escaped(panel.work->group)) +
              "</h2>\n<div class=\"cards\">\n";
      group = panel.work->group;
    }
    html += card(panel, analysis, std::to_string(++cards));
  }
  if (!group.empty()) html += "</div>\n";
  auto const left_out = left_out_lines(comparison);
  if (!left_out.empty() || !analysis.notes.empty()) {
    html += "<h2>Left out</h2>\n";
    if (!analysis.notes.empty()) html += page_list(analysis.notes);
    if (!left_out.empty()) html += page_list(left_out);
  }
  return html + end_page();
}

}  // namespace coir::apps::compare
