#include <compare/chart.hpp>

#include <compare/html_page.hpp>
#include <support/units.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace coir::apps {

namespace {

std::string colour(std::size_t style) {
  return "var(--c" + std::to_string(style % chart_styles) + ")";
}

/// To a tenth.
std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string xy(double x, double y) { return coordinate(x) + " " + coordinate(y); }

/// The outlines of markers around (0, 0): circle, square, triangle, diamond, triangle, cross,
/// triangles.
constexpr std::array<char const*, chart_styles> outlines = {
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z",
    "M-4 -4L4 -4L4 4L-4 4Z",
    "M0 -5.4L5 3.6L-5 3.6Z",
    "M0 -5.8L5.8 0L0 5.8L-5.8 0Z",
    "M0 5.4L5 -3.6L-5 -3.6Z",
    "M-1.8 -5.4h3.6v3.6h3.6v3.6h-3.6v3.6h-3.6v-3.6h-3.6v-3.6h3.6Z",
    "M5.4 0L-3.6 5L-3.6 -5Z",
    "M-5.4 0L3.6 5L3.6 -5Z"};

std::string marker(std::size_t style, double x, double y, std::string const& tip) {
  return "<path class=\"marker\" fill=\"" + colour(style) + "\" transform=\"translate(" + xy(x, y) +
         ")\" d=\"" + outlines[style % chart_styles] + "\"><title>" + tip + "</title></path>\n";
}

std::string polyline(std::vector<std::array<double, 2>> const& points, std::string const& kind,
                     std::size_t style) {
  std::string d;
  for (auto const& [x, y] : points) d += (d.empty() ? "M" : "L") + xy(x, y);
  return "<path class=\"" + kind + "\" stroke=\"" + colour(style) + "\" d=\"" + d + "\"/>\n";
}

std::string text_at(double x, double y, std::string const& kind, std::string const& anchor,
                    std::string const& text) {
  return "<text class=\"" + kind + "\" x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) +
         "\" text-anchor=\"" + anchor + "\">" + text + "</text>\n";
}

/// A rectangle with these corners.
std::string rectangle(double x1, double y1, double x2, double y2, std::string const& attributes) {
  return "<path" + attributes + " d=\"M" + xy(x1, y1) + "H" + coordinate(x2) + "V" +
         coordinate(y2) + "H" + coordinate(x1) + "Z\"/>\n";
}

std::string rule(double x1, double y1, double x2, double y2, std::string const& kind) {
  return "<path class=\"" + kind + "\" d=\"M" + xy(x1, y1) + "L" + xy(x2, y2) + "\"/>\n";
}

/// A logarithmic axis.
struct Axis {
  double lowest, highest;  // logarithms to base 10
  double begin, end;       // on the page

  double at(double value) const {
    return begin + (end - begin) * (std::log10(value) - lowest) / (highest - lowest);
  }

  /// Round values: powers of ten, with 2 and 5 times these where there are few, and without some
  /// where there are many.
  std::vector<double> ticks() const {
    double const decades = highest - lowest;
    std::vector<double> steps{1};
    if (decades < 1.3)
      steps = {1, 1.5, 2, 3, 4, 5, 7};
    else if (decades < 3)
      steps = {1, 2, 5};
    int const every = decades < 7 ? 1 : decades < 13 ? 2 : 3;
    std::vector<double> values;
    for (int power = static_cast<int>(std::floor(lowest)); power <= highest; ++power)
      for (double const step : steps) {
        double const value = step * std::pow(10., power);
        bool const is_inside = std::log10(value) >= lowest && std::log10(value) <= highest;
        if (is_inside && power % every == 0) values.push_back(value);
      }
    return values;
  }
};

/// The axis that holds the values, with a margin.
Axis axis_for(std::vector<double> const& values, double begin, double end) {
  double const lowest = std::log10(*std::min_element(values.begin(), values.end()));
  double const highest = std::log10(*std::max_element(values.begin(), values.end()));
  double const margin = std::max(0.06 * (highest - lowest), 0.12);
  return {lowest - margin, highest + margin, begin, end};
}

// Narrow enough that letters stay readable on a telephone, where pages are 390 points wide.
constexpr double width = 400, height = 290, left = 60, right = 12, top = 10, bottom = 44;

/// "0.5 x", "20 k x"
std::string ratio_text(double ratio) {
  if (ratio >= 1) return count_text(ratio) + " x";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g x", ratio);
  return text;
}

std::string frame(Axis const& x, Axis const& y, std::string const& unit) {
  std::string svg;
  for (double const value : y.ticks()) {
    double const at = y.at(value);
    svg += rule(x.begin, at, x.end, at, "grid");
    svg +=
        text_at(x.begin - 7, at + 4, "tick", "end", quantity(without_zeros(with_unit(value, "s"))));
  }
  for (double const value : x.ticks()) {
    double const at = x.at(value);
    svg += rule(at, y.begin, at, y.end, "grid");
    svg += text_at(at, y.begin + 16, "tick", "middle", escaped(count_text(value)));
  }
  svg += rule(x.begin, y.begin, x.end, y.begin, "axis");
  svg += rule(x.begin, y.begin, x.begin, y.end, "axis");
  svg += text_at((x.begin + x.end) / 2, y.begin + bottom - 8, "name", "middle", escaped(unit));
  return svg;
}

}  // namespace

std::string time_chart(Chart const& chart, std::string const& id) {
  std::vector<double> sizes, times;
  for (auto const& line : chart.lines)
    for (auto const& point : line.points) {
      sizes.push_back(point.size), times.push_back(point.seconds);
      if (point.slowest > point.fastest)
        times.push_back(point.fastest), times.push_back(point.slowest);
    }
  Axis const x = axis_for(sizes, left, width - right);
  Axis const y = axis_for(times, height - bottom, top);

  std::string const clip = "clip-" + id;
  std::string svg = "<svg viewBox=\"0 0 " + xy(width, height) + "\" role=\"img\" aria-label=\"" +
                    escaped(chart.title) + "\">\n<clipPath id=\"" + clip + "\">" +
                    rectangle(x.begin, y.begin, x.end, y.end, "") + "</clipPath>\n";
  std::string notes;
  for (auto const& [size, label, words, to] : chart.crossings) {
    double const at = x.at(size);
    if (to > size)
      svg += rectangle(at, y.begin, x.at(to), y.end, " class=\"band\"");
    else
      svg += rule(at, y.begin, at, y.end, "crossing");
    notes += "<li>" + escaped(label + words) + "</li>\n";
  }
  svg += frame(x, y, chart.unit);

  std::string limits, lines, markers;
  for (std::size_t n = 0; n < chart.lines.size(); ++n) {
    ChartLine const& line = chart.lines[n];
    std::vector<std::array<double, 2>> points, limit;
    for (auto const& [size, seconds, tip, fastest, slowest] : line.points) {
      double const at = x.at(size);
      points.push_back({at, y.at(seconds)});
      if (slowest > fastest)
        lines += polyline({{at, y.at(fastest)}, {at, y.at(slowest)}}, "spread", n);
      if (!tip.empty()) markers += marker(n, at, points.back()[1], escaped(tip));
    }
    for (auto const& [size, seconds] : line.limit) limit.push_back({x.at(size), y.at(seconds)});
    if (limit.size() > 1) limits += polyline(limit, "limit", n);
    if (points.size() > 1) lines += polyline(points, "line", n);
  }
  svg +=
      "<g clip-path=\"url(#" + clip + ")\">\n" + limits + "</g>\n" + lines + markers + "</svg>\n";
  return notes.empty() ? svg : svg + "<ul class=\"notes\">\n" + notes + "</ul>\n";
}

// Each strip is a picture of its own, as wide as there is room, and its label is text of the page
// beside it or, where the page is narrow, above it: letters have their size everywhere.
std::string ratio_chart(RatioChart const& chart) {
  std::vector<double> ratios{1};
  for (auto const& strip : chart.strips)
    for (auto const& dot : strip.dots) ratios.push_back(dot.ratio);
  Axis const x = axis_for(ratios, 2, 98);  // per cent of the width
  auto const at = [&](double ratio) { return coordinate(x.at(ratio)) + "%"; };
  auto const line = [&](double from, double to, double height, std::string const& attributes) {
    return "<line x1=\"" + at(from) + "\" x2=\"" + at(to) + "\" y1=\"" +
           coordinate(from == to ? 0 : height / 2) + "\" y2=\"" +
           coordinate(from == to ? height : height / 2) + "\" " + attributes + "/>\n";
  };
  constexpr double high = 24;
  std::string rules, ticks;
  for (double const value : x.ticks()) {
    rules += line(value, value, high, "class=\"grid\"");
    ticks += "<text class=\"tick\" x=\"" + at(value) + "\" y=\"14\" text-anchor=\"middle\">" +
             ratio_text(value) + "</text>\n";
  }
  rules += line(1, 1, high, "class=\"axis\"");
  std::string const scale = "<span></span><svg class=\"strip\">" + ticks + "</svg>\n";
  std::string html = "<div class=\"strips\" role=\"img\" aria-label=\"" + escaped(chart.title) +
                     ", beside 1 x of " + escaped(chart.reference) + "\">\n" + scale;
  for (auto const& [label, dots] : chart.strips) {
    html += "<span>" + escaped(label) + "</span><svg class=\"strip\">\n" + rules;
    std::string markers;
    for (auto const& [style, ratio, tip] : dots) {
      html += line(1, ratio, high, "class=\"stem\" stroke=\"" + colour(style) + "\"");
      markers += "<svg class=\"dot\" x=\"" + at(ratio) + "\" y=\"" + coordinate(high / 2) + "\">" +
                 marker(style, 0, 0, escaped(tip)) + "</svg>\n";
    }
    html += markers + "</svg>\n";
  }
  return html + scale + "</div>\n";
}

std::string line_sample(std::size_t style) {
  return "<svg class=\"sample\" viewBox=\"0 0 34 14\" aria-hidden=\"true\">" +
         polyline({{1, 7}, {33, 7}}, "line", style) + marker(style, 17, 7, "") + "</svg>";
}

std::string limit_sample() {
  return "<svg class=\"sample\" viewBox=\"0 0 34 14\" aria-hidden=\"true\">"
         "<path class=\"limit\" stroke=\"currentColor\" d=\"M1 7L33 7\"/></svg>";
}

}  // namespace coir::apps
