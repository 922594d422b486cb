#include "pictures.hpp"

#include "present.hpp"

#include <support/colour_map.hpp>
#include <support/drawing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::cells {

namespace {

using Points = std::vector<std::pair<double, double>>;

/// 10^x in one digit
std::string power_of_ten(double x) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.0e", std::pow(10, x));
  return text.data();
}

/// A square of the picture that a range of each axis fills.
struct Frame {
  double left, top, width, height;
  double x0, x1, y0, y1;

  std::pair<double, double> at(double x, double y) const {
    return {left + width * (x - x0) / (x1 - x0), top + height * (y1 - y) / (y1 - y0)};
  }

  void draw(Drawing& drawing) const {
    drawing.line({{left, top},
                  {left + width, top},
                  {left + width, top + height},
                  {left, top + height},
                  {left, top}},
                 Drawing::ink, 1);
  }
};

bool below(std::pair<double, double> const& a, std::pair<double, double> const& b) {
  return a.second < b.second;
}

/// Where (x, y) = mean + scale (the root of a covariance) (cos, sin).
Points ellipse(Frame const& frame, double x, double y, double xx, double xy, double yy,
               double scale) {
  double const a = std::sqrt(xx), b = xy / a, c = std::sqrt(std::max(0.0, yy - b * b));
  Points points;
  for (int i = 0; i <= 96; ++i) {
    double const angle = 2 * std::numbers::pi * i / 96;
    points.push_back(frame.at(x + scale * a * std::cos(angle),
                              y + scale * (b * std::cos(angle) + c * std::sin(angle))));
  }
  return points;
}

/// Three errors about the forecast's value of a parameter, and three deviations of the draws about
/// their mean if there are draws.
std::pair<double, double> range_of(Forecast const& forecast,
                                   std::vector<std::vector<double>> const& draws, std::size_t i) {
  double const x = forecast.fiducial[i], error = std::sqrt(forecast.covariance[i][i]);
  double low = x - 3 * error, high = x + 3 * error;
  if (draws.empty()) return {low, high};
  double mean = 0, variance = 0;
  for (auto const& draw : draws) mean += draw[i] / double(draws.size());
  for (auto const& draw : draws)
    variance += (draw[i] - mean) * (draw[i] - mean) / double(draws.size());
  double const deviation = std::sqrt(variance);
  return {std::min(low, mean - 3 * deviation), std::max(high, mean + 3 * deviation)};
}

}  // namespace

std::string picture_of_spectra(Forecast const& forecast) {
  constexpr int margin = 110, width = 320, height = 240, gap = 60, aside = 110, across = 3;
  auto const count = static_cast<int>(forecast.tracers.size());
  int const down = (count + across - 1) / across;
  Drawing drawing(2 * margin + across * (width + aside) - aside,
                  2 * margin + down * (height + gap) - gap);
  drawing.write(margin, 30,
                "l (l + 1) C_l / (2 pi) of each tracer, with 1-sigma errors; grey: its noise");
  for (int n = 0; n < count; ++n) {
    auto const i = static_cast<std::size_t>(n);
    Points spectrum, low, high, noise;  // decimal logarithms
    for (std::size_t at = 0; at < forecast.l.size(); ++at) {
      double const l = forecast.l[at], scale = l * (l + 1) / (2 * std::numbers::pi);
      double const c = forecast.spectra(at, i, i), total = forecast.total(at, i, i);
      double const error = total * std::sqrt(2 / forecast.nu[at]);
      double const x = std::log10(l);
      if (total > c) noise.emplace_back(x, std::log10(scale * (total - c)));
      if (!(c > 0)) continue;  // a bias of 0: there is no spectrum to draw
      spectrum.emplace_back(x, std::log10(scale * c));
      low.emplace_back(x, std::log10(scale * std::max(c - error, 0.1 * c)));
      high.emplace_back(x, std::log10(scale * (c + error)));
    }
    double lowest = 0, highest = 0;
    if (Points const& lower = low.empty() ? noise : low; !lower.empty())
      lowest = std::min_element(lower.begin(), lower.end(), below)->second;
    if (Points const& upper = high.empty() ? noise : high; !upper.empty())
      highest = std::max_element(upper.begin(), upper.end(), below)->second;
    Frame const frame{double(margin + (n % across) * (width + aside)),
                      double(margin + (n / across) * (height + gap)),
                      width,
                      height,
                      std::log10(forecast.l.front()),
                      std::log10(forecast.l.back()) + 1e-9,
                      lowest - 0.1,
                      highest + 0.1};
    Points line, band, grey;
    for (auto const& [x, y] : spectrum) line.push_back(frame.at(x, y));
    for (auto const& [x, y] : high) band.push_back(frame.at(x, y));
    for (std::size_t at = low.size(); at-- > 0;)
      band.push_back(frame.at(low[at].first, low[at].second));
    for (auto const& [x, y] : noise)
      if (y > frame.y0 && y < frame.y1) grey.push_back(frame.at(x, y));
    drawing.line(grey, Drawing::rule, 3);
    drawing.line(band, colour_of(0.75), 1);
    drawing.line(line, colour_of(0.35), 2.5);
    frame.draw(drawing);
    auto const left = int(frame.left), base = int(frame.top) + height;
    drawing.write(left + 8, int(frame.top) + 8, forecast.tracers[i]);
    drawing.write(left, base + 8, short_text(forecast.l.front()));
    drawing.write(left + width, base + 8, short_text(forecast.l.back()), "end");
    drawing.write(left - 6, base - 16, power_of_ten(frame.y0), "end");
    drawing.write(left - 6, int(frame.top), power_of_ten(frame.y1), "end");
  }
  return drawing.text();
}

std::string triangle_of(Forecast const& forecast, std::vector<std::vector<double>> const& draws) {
  constexpr int margin = 170, cell = 110, for_last_label = 220;
  std::size_t const n = forecast.parameters.size();
  int const side = 2 * margin + static_cast<int>(n) * cell;
  Drawing drawing(side + for_last_label, side);
  std::vector<double> error;
  std::vector<std::pair<double, double>> range;
  for (std::size_t i = 0; i < n; ++i) {
    error.push_back(std::sqrt(forecast.covariance[i][i]));
    range.push_back(range_of(forecast, draws, i));
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double const x = forecast.fiducial[j], y = forecast.fiducial[i];
      Frame frame{margin + double(j) * cell,
                  margin + double(i) * cell,
                  cell - 6,
                  cell - 6,
                  range[j].first,
                  range[j].second,
                  range[i].first,
                  range[i].second};
      frame.draw(drawing);
      if (i == j) {
        frame.y0 = 0;
        frame.y1 = 1.1;
        Points density;
        for (int k = -60; k <= 60; ++k)
          density.push_back(frame.at(x + k / 20.0 * error[j], std::exp(-0.5 * k * k / 400.0)));
        drawing.line(density, colour_of(0.35), 2);
        auto const left = static_cast<int>(frame.left), top = static_cast<int>(frame.top);
        drawing.write(
            left + cell + 4, top + 30,
            forecast.parameters[i] + " = " + short_text(x) + " +- " + short_text(error[i]));
        drawing.write(margin - 12, top + cell / 2 - 14, forecast.parameters[i], "end");
        drawing.write(left + cell / 2, side - margin + 10, forecast.parameters[j], "middle");
        continue;
      }
      Points dots;
      constexpr std::size_t most = 300;
      for (std::size_t k = 0; k < draws.size(); k += draws.size() / most + 1)
        if (draws[k][j] >= frame.x0 && draws[k][j] <= frame.x1 && draws[k][i] >= frame.y0 &&
            draws[k][i] <= frame.y1)
          dots.push_back(frame.at(draws[k][j], draws[k][i]));
      if (!dots.empty()) drawing.dots(dots, colour_of(0.6));
      // Of two parameters 68.3 % lie within 1.52 deviations and 95.4 % within 2.48.
      for (auto const& [scale, shade] : {std::pair{2.48, 0.75}, std::pair{1.52, 0.35}})
        drawing.line(ellipse(frame, x, y, forecast.covariance[j][j], forecast.covariance[i][j],
                             forecast.covariance[i][i], scale),
                     colour_of(shade));
    }
  return drawing.text();
}

}  // namespace coir::apps::cells
