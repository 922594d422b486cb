#include "present.hpp"

#include <support/colour_map.hpp>
#include <support/drawing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace coir::apps::queue {

namespace {

constexpr std::size_t most_partitions = 12;
constexpr int columns = 1000;
constexpr int margin = 24, left = 200, panel = 92, bar_height = 56, grid_row = 28, legend = 70;
constexpr int bars = 44, bar_width = 17, cell_width = 31;
constexpr Colour ink = Drawing::ink, line = Drawing::rule;

struct Tick {
  double seconds;
  char const* label;
};
constexpr std::array<Tick, 8> ticks = {{{1, "1 s"},
                                        {10, "10 s"},
                                        {60, "1 min"},
                                        {600, "10 min"},
                                        {3600, "1 h"},
                                        {6 * 3600, "6 h"},
                                        {86400, "1 d"},
                                        {7 * 86400, "7 d"}}};
constexpr double end_of_axis = 4194304;  // 2^22 s, 49 days: where the axis ends

/// From 0 at up to a second to 1 at the axis' end.
double place_of(double seconds) {
  return std::clamp(std::log2(std::max(seconds, 1.)) / std::log2(end_of_axis), 0., 1.);
}

Colour colour_of_wait(double seconds) { return colour_of(0.1 + 0.85 * place_of(seconds)); }

std::string cut(std::string const& name, std::size_t most) {
  return name.size() <= most ? name : name.substr(0, most - 1) + ".";
}

int x_of(double seconds) {
  return left + static_cast<int>(std::lround(place_of(seconds) * bars * bar_width));
}

void draw_axis(Drawing& drawing, int y, int height) {
  for (auto const& tick : ticks) {
    drawing.fill(x_of(tick.seconds), y, 1, height, line);
    drawing.write(x_of(tick.seconds), y + height + 6, tick.label, "middle");
  }
}

/// Half octaves. Waits below 2 s, of 0 and 1, are a bar twice as wide: no whole second is
/// between 1.4 and 2.
void draw_distribution(Drawing& drawing, int y, Shown const& shown) {
  auto const& waits = shown.waits->all;
  std::array<std::int64_t, bars> counts = {};
  for (int bin = 0; bin < WaitHistogram::bins; ++bin) {
    auto const seconds = static_cast<double>(WaitHistogram::first_second(bin));
    auto const n = seconds < 2 ? 0 : static_cast<std::size_t>(place_of(seconds) * bars);
    counts[std::min(n, counts.size() - 1)] += waits.count_of(bin);
  }
  auto const most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  for (std::size_t n = 0; n < counts.size(); ++n) {
    auto const height =
        static_cast<int>(std::ceil(bar_height * static_cast<double>(counts[n]) / most));
    int const width = n == 0 ? 2 * bar_width : bar_width;
    double const middle = std::exp2((static_cast<double>(n) + 0.5) / 2);
    drawing.fill(left + static_cast<int>(n) * bar_width + 1, y + bar_height - height, width - 2,
                 height, colour_of_wait(middle));
  }
  drawing.fill(left, y + bar_height, bars * bar_width, 1, ink);
  drawing.fill(x_of(waits.quantile(0.5)) - 1, y - 6, 3, bar_height + 12, ink);
  drawing.write(margin, y, cut(shown.name, 14));
  drawing.write(margin, y + 20, wait_text(waits.quantile(0.5)));
  drawing.write(margin, y + 40, "90%: " + wait_text(waits.quantile(0.9)));
}

void draw_hours(Drawing& drawing, int y, std::vector<Shown> const& partitions) {
  for (int hour = 0; hour < 24; hour += 3)
    drawing.write(left + hour * cell_width, y, (hour < 10 ? "0" : "") + std::to_string(hour));
  y += 20;
  for (auto const& [name, waits] : partitions) {
    drawing.write(margin, y + 6, cut(name, 14));
    for (int hour = 0; hour < 24; ++hour) {
      auto const& of_hour =
          waits->by[static_cast<std::size_t>(By::hour)][static_cast<std::size_t>(hour)];
      if (of_hour.count() > 0)
        drawing.fill(left + hour * cell_width, y, cell_width - 1, grid_row - 2,
                     colour_of_wait(of_hour.quantile(0.5)));
    }
    y += grid_row;
  }
}

/// Draws, for each partition, a bar from the beginning to the end of the forecast's interval, and a
/// line at its median.
void draw_forecasts(Drawing& drawing, int y, std::vector<Shown> const& partitions,
                    QueueSettings const& settings) {
  auto const height = static_cast<int>(partitions.size()) * grid_row;
  draw_axis(drawing, y, height);
  for (auto const& [name, waits] : partitions) {
    drawing.write(margin, y + 6, cut(name, 14));
    if (auto const forecast = forecast_of(*waits, settings)) {
      int const begin = x_of(forecast->low), end = x_of(forecast->high);
      drawing.fill(begin, y + 3, std::max(end - begin, 1), grid_row - 8,
                   colour_of_wait(forecast->median));
      drawing.fill(x_of(forecast->median) - 1, y, 3, grid_row - 2, ink);
    } else {
      drawing.write(left + 4, y + 6, "no forecast");
    }
    y += grid_row;
  }
}

/// Draws the key of the colours.
void draw_legend(Drawing& drawing, int y) {
  drawing.write(margin, y, "colours");
  constexpr int step = 4;
  for (int x = 0; x < bars * bar_width; x += step)
    drawing.fill(left + x, y, step, 20,
                 colour_of_wait(std::exp2(std::log2(end_of_axis) * x / (bars * bar_width))));
  for (auto const& tick : ticks) drawing.write(x_of(tick.seconds), y + 26, tick.label, "middle");
}

}  // namespace

std::string picture_of(Statistics const& statistics, QueueSettings const& settings) {
  auto partitions = shown_partitions(statistics);
  std::string title = "Waits: distribution, median (line), 90 %";
  if (partitions.size() > most_partitions) {
    title += ", " + std::to_string(most_partitions) + " of " + std::to_string(partitions.size()) +
             " partitions";
    partitions.resize(most_partitions);
  }
  auto const count = static_cast<int>(partitions.size());
  int const forecasts = 2 * margin + count * panel + 3 * margin;
  int const hours = forecasts + (settings.forecast ? 4 * margin + count * grid_row : 0);
  Drawing drawing(columns, hours + 2 * margin + 20 + count * grid_row + legend + margin);
  drawing.write(margin, margin, title);
  int y = 3 * margin;
  draw_axis(drawing, y - 8, count * panel - 10);
  for (auto const& shown : partitions) {
    draw_distribution(drawing, y, shown);
    y += panel;
  }
  if (settings.forecast) {
    drawing.write(margin, forecasts,
                  "Forecast of " + size_text(settings.size) + ": median (line), " +
                      std::to_string(std::lround(100 * settings.interval)) + "% interval");
    draw_forecasts(drawing, forecasts + margin, partitions, settings);
  }
  drawing.write(margin, hours, "Median by the hour of submission");
  draw_hours(drawing, hours + margin, partitions);
  draw_legend(drawing, hours + 2 * margin + 20 + count * grid_row);
  return drawing.text();
}

}  // namespace coir::apps::queue
