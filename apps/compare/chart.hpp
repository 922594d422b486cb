#pragma once

/// Pictures as SVG that stands in a page of html_page.hpp: colours are the page's variables --c0 to
/// --c7, and each line has a marker of its own, too.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps {

/// Colours and markers begin anew after so many lines.
inline constexpr int chart_styles = 8;

struct ChartPoint {
  double size, seconds;
  std::string tip;  ///< what its marker says; without one it has no marker
  /// The ends of a bar that shows how far measurements differ. There is no bar where they are
  /// equal.
  double fastest = 0, slowest = 0;
};

/// A line, with a dashed one in its colour where there is a limit.
struct ChartLine {
  std::string label;
  std::vector<ChartPoint> points;  ///< in rising order of size
  std::vector<std::pair<double, double>> limit = {};
};

/// A size that a vertical line marks, or with `to` the sizes that a band marks. Below the picture
/// stand the label and the words.
struct Crossing {
  double size;
  std::string label, words;
  double to = 0;
};

struct Chart {
  std::string title, unit;
  std::vector<ChartLine> lines;
  std::vector<Crossing> crossings;
};

/// Time against size on logarithmic axes, and a line for each crossing. There must be a point. A
/// legend beside the picture names the lines.
///
/// \param id  letters and digits that no other chart of the page has
std::string time_chart(Chart const& chart, std::string const& id);

struct RatioDot {
  std::size_t style;
  double ratio;
  std::string tip;
};

struct RatioStrip {
  std::string label;
  std::vector<RatioDot> dots;
};

struct RatioChart {
  std::string title, reference;  ///< what has the ratio 1
  std::vector<RatioStrip> strips;
};

/// Ratios on a logarithmic axis, a row for each strip, with stems from 1.
std::string ratio_chart(RatioChart const& chart);

/// A sample of a line with its marker, for a legend.
std::string line_sample(std::size_t style);

/// A sample of a limit's line.
std::string limit_sample();

}  // namespace coir::apps
