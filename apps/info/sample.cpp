#include "sample.hpp"

#include <support/report.hpp>

#include <array>
#include <cstdio>

namespace coir::apps::info {

namespace {

struct Column {
  char const* heading;
  char const* key;  // in JSON
  std::optional<double> Sample::* value;
  double unit;
  int decimals;
  int width;
};

constexpr double per_cent = 1e-2, gibibyte = 1024. * 1024 * 1024, megahertz = 1e6;

constexpr std::array columns = {
    Column{"load/%", "load", &Sample::load, per_cent, 1, 6},
    Column{"used/GiB", "memory_used_bytes", &Sample::memory_used, gibibyte, 2, 8},
    Column{"memory/GiB", "memory_bytes", &Sample::memory, gibibyte, 2, 10},
    Column{"power/W", "watts", &Sample::power, 1, 1, 7},
    Column{"temp/C", "celsius", &Sample::temperature, 1, 0, 6},
    Column{"clock/MHz", "hertz", &Sample::clock, megahertz, 0, 9}};

constexpr int first_width = 6;

std::string padded(std::string const& text, int width) {
  std::array<char, 64> cell;
  std::snprintf(cell.data(), cell.size(), "%*s", width, text.c_str());
  return cell.data();
}

}  // namespace

std::string heading_text() {
  std::string text = padded("device", -first_width);
  for (Column const& column : columns) text += "  " + padded(column.heading, column.width);
  return text;
}

std::string row_text(Sample const& sample) {
  std::string text = padded(sample.device, -first_width);
  for (Column const& column : columns) {
    std::array<char, 64> number = {"-"};
    if (auto const& value = sample.*column.value)
      std::snprintf(number.data(), number.size(), "%.*f", column.decimals, *value / column.unit);
    text += "  " + padded(number.data(), column.width);
  }
  return text;
}

std::string json_text(Sample const& sample, std::string const& time) {
  Report json{{"time", time}, {"device", sample.device}, {"name", sample.name}};
  for (Column const& column : columns) json[column.key] = or_null(sample.*column.value);
  return json.dump(-1, ' ', false, Report::error_handler_t::replace);
}

}  // namespace coir::apps::info
