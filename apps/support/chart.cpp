#include <support/chart.hpp>

#include <support/markup.hpp>
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

std::string xy(double x, double y) { return coordinate(x) + " " + coordinate(y); }

/// Goes on with a path to a point; the first one begins it.
void add_point(std::string& path, double x, double y) {
  path += path.empty() ? 'M' : 'L';
  path += xy(x, y);
}

/// The outline of a line's marker around a point.
std::string outline(std::size_t style, double x, double y) {
  constexpr double r = 4.5;
  auto const path = [&](std::initializer_list<std::array<double, 2>> corners) {
    std::string text;
    for (auto const& [dx, dy] : corners) add_point(text, x + r * dx, y + r * dy);
    return text + "Z";
  };
  switch (style % chart_styles) {
    case 1: return path({{-.9, -.9}, {.9, -.9}, {.9, .9}, {-.9, .9}});
    case 2: return path({{0, -1.2}, {1.1, .8}, {-1.1, .8}});
    case 3: return path({{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}});
    case 4: return path({{0, 1.2}, {1.1, -.8}, {-1.1, -.8}});
    case 5:
      return path({{-.4, -1.2},
                   {.4, -1.2},
                   {.4, -.4},
                   {1.2, -.4},
                   {1.2, .4},
                   {.4, .4},
                   {.4, 1.2},
                   {-.4, 1.2},
                   {-.4, .4},
                   {-1.2, .4},
                   {-1.2, -.4},
                   {-.4, -.4}});
    case 6: return path({{1.2, 0}, {-.8, 1.1}, {-.8, -1.1}});
    case 7: return path({{-1.2, 0}, {.8, 1.1}, {.8, -1.1}});
    default: break;
  }
  std::string circle;
  add_point(circle, x - r, y);
  return circle + "a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z";
}

std::string marker(std::size_t style, double x, double y, std::string const& tip) {
  return "<path class=\"marker\" fill=\"" + colour(style) + "\" d=\"" + outline(style, x, y) +
         "\"><title>" + tip + "</title></path>\n";
}

std::string polyline(std::vector<std::array<double, 2>> const& points, std::string const& kind,
                     std::size_t style) {
  std::string d;
  for (auto const& [x, y] : points) add_point(d, x, y);
  return "<path class=\"" + kind + "\" stroke=\"" + colour(style) + "\" d=\"" + d + "\"/>\n";
}

std::string text_at(double x, double y, std::string const& kind, std::string const& anchor,
                    std::string const& text) {
  return "<text class=\"" + kind + "\" x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) +
         "\" text-anchor=\"" + anchor + "\">" + text + "</text>\n";
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

  /// Round values: powers of ten, with 2 and 5 times these where there are few, and without some where there are many.
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

std::string begin_svg(double width, double height, std::string const& title) {
  return "<svg viewBox=\"0 0 " + coordinate(width) + " " + coordinate(height) +
         "\" role=\"img\" aria-label=\"" + title + "\">\n";
}

constexpr double width = 560, plot_height = 260, left = 62, right = 136, bottom = 46;
constexpr double note_height = 15;

/// "0.5 x", "20 k x"
std::string ratio_text(double ratio) {
  if (ratio >= 1) return count_text(ratio) + " x";
  char text[32];
  std::snprintf(text, sizeof text, "%.3g x", ratio);
  return text;
}

/// Names at the ends of lines, moved apart where they would overlap.
struct EndLabel {
  std::size_t style;
  double y;
};

void move_apart(std::vector<EndLabel>& labels, double lowest) {
  constexpr double apart = 14;
  std::sort(labels.begin(), labels.end(), [](auto const& a, auto const& b) { return a.y < b.y; });
  for (std::size_t n = 1; n < labels.size(); ++n)
    labels[n].y = std::max(labels[n].y, labels[n - 1].y + apart);
  for (std::size_t n = labels.size(); n-- > 0; lowest = labels[n].y - apart)
    labels[n].y = std::min(labels[n].y, lowest);
}

std::string shortened_label(std::string const& label, std::size_t most = 21) {
  if (label.size() <= most) return label;
  std::size_t cut = most - 1;  // not within a character of UTF-8
  while (cut > 0 && (static_cast<unsigned char>(label[cut]) & 0xc0) == 0x80) --cut;
  return label.substr(0, cut) + "...";
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
    for (auto const& point : line.points)
      sizes.push_back(point.size), times.push_back(point.seconds);
  double const top = 10 + note_height * static_cast<double>(chart.crossings.size());
  double const height = top + plot_height + bottom;
  Axis const x = axis_for(sizes, left, width - right);
  Axis const y = axis_for(times, height - bottom, top);

  std::string const clip = "clip-" + id;
  std::string svg = begin_svg(width, height, escaped(chart.title));
  svg += "<clipPath id=\"" + clip + "\"><path d=\"M" + xy(x.begin, y.begin) + "L" +
         xy(x.end, y.begin) + "L" + xy(x.end, y.end) + "L" + xy(x.begin, y.end) +
         "Z\"/></clipPath>\n";
  svg += frame(x, y, chart.unit);

  double note = 10;
  for (auto const& [size, label, words] : chart.crossings) {
    double const at = x.at(size);
    bool const is_far_right = at > (x.begin + x.end) / 2;
    svg += rule(at, y.begin, at, note - 8, "crossing");
    svg += text_at(at + (is_far_right ? -5 : 5), note, "note", is_far_right ? "end" : "start",
                   escaped(shortened_label(label) + words));
    note += note_height;
  }

  std::vector<EndLabel> labels;
  std::string limits, lines, markers;
  for (std::size_t n = 0; n < chart.lines.size(); ++n) {
    ChartLine const& line = chart.lines[n];
    std::vector<std::array<double, 2>> points, limit;
    for (auto const& [size, seconds, tip] : line.points) {
      points.push_back({x.at(size), y.at(seconds)});
      if (!tip.empty()) markers += marker(n, points.back()[0], points.back()[1], escaped(tip));
    }
    for (auto const& [size, seconds] : line.limit) limit.push_back({x.at(size), y.at(seconds)});
    if (limit.size() > 1) limits += polyline(limit, "limit", n);
    if (points.size() > 1) lines += polyline(points, "line", n);
    if (!points.empty()) labels.push_back({n, points.back()[1] + 4});
  }
  svg += "<g clip-path=\"url(#" + clip + ")\">\n" + limits + "</g>\n" + lines + markers;
  move_apart(labels, y.begin);
  for (auto const& [n, at] : labels)
    svg += text_at(x.end + 8, at, "label", "start", escaped(shortened_label(chart.lines[n].label)));
  return svg + "</svg>\n";
}

std::string ratio_chart(RatioChart const& chart) {
  std::vector<double> ratios{1};
  std::size_t longest = 0;
  for (auto const& strip : chart.strips) {
    longest = std::max(longest, strip.label.size());
    for (auto const& dot : strip.dots) ratios.push_back(dot.ratio);
  }
  constexpr std::size_t most = 66;
  constexpr double wide = 900, step = 22, above = 30, letter = 7;
  double const names = 12 + letter * static_cast<double>(std::min(longest, most + 2));
  double const high = above + step * static_cast<double>(chart.strips.size()) + 26;
  Axis const x = axis_for(ratios, names, wide - 20);
  std::string svg = begin_svg(wide, high, escaped(chart.title));
  double const last = high - 26;
  for (double const value : x.ticks()) {
    svg += rule(x.at(value), above - 8, x.at(value), last, "grid");
    svg += text_at(x.at(value), above - 14, "tick", "middle", ratio_text(value));
  }
  svg += rule(x.at(1), above - 8, x.at(1), last, "axis");
  svg += text_at(x.at(1), last + 18, "name", "middle", escaped(chart.reference));
  double y = above + 8;
  for (auto const& [label, dots] : chart.strips) {
    svg += text_at(names - 12, y + 4, "label", "end", escaped(shortened_label(label, most)));
    for (auto const& [style, ratio, tip] : dots) {
      svg += polyline({{x.at(1), y}, {x.at(ratio), y}}, "stem", style);
      svg += marker(style, x.at(ratio), y, escaped(tip));
    }
    y += step;
  }
  return svg + "</svg>\n";
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
