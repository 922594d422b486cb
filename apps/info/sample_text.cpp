#include "sample_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace coir::apps::info {

namespace {

struct Column {
  char const* heading;
  char const* quantity;
  char const* key;  // in JSON
  Reading Sample::* reading;
  double unit;
  int decimals;
  int width;
};

constexpr double per_cent = 1e-2, gibibyte = 1024. * 1024 * 1024, megahertz = 1e6;

constexpr std::array columns = {
    Column{"load/%", "load", "load", &Sample::load, per_cent, 1, 6},
    Column{"used/GiB", "used memory", "memory_used_bytes", &Sample::memory_used, gibibyte, 2, 8},
    Column{"memory/GiB", "memory", "memory_bytes", &Sample::memory, gibibyte, 2, 10},
    Column{"power/W", "power", "watts", &Sample::power, 1, 1, 7},
    Column{"temp/C", "temperature", "celsius", &Sample::temperature, 1, 0, 6},
    Column{"clock/MHz", "clock", "hertz", &Sample::clock, megahertz, 0, 9}};

constexpr char first_heading[] = "device";
constexpr int first_width = 6;

std::string padded(std::string const& text, int width) {
  std::array<char, 64> cell;
  std::snprintf(cell.data(), cell.size(), "%*s", width, text.c_str());
  return cell.data();
}

std::string cell_text(Reading const& reading, Column const& column) {
  if (!reading.value) return "-";
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", column.decimals, *reading.value / column.unit);
  return text.data();
}

}  // namespace

std::string heading_text() {
  std::string text = padded(first_heading, -first_width);
  for (Column const& column : columns) text += "  " + padded(column.heading, column.width);
  return text;
}

std::string row_text(Sample const& sample) {
  std::string text = padded(sample.device, -first_width);
  for (Column const& column : columns)
    text += "  " + padded(cell_text(sample.*column.reading, column), column.width);
  return text;
}

std::string json_text(Sample const& sample, std::string const& time) {
  nlohmann::ordered_json json;
  json["time"] = time;
  json["device"] = sample.device;
  json["name"] = sample.name;
  for (Column const& column : columns) {
    auto const& value = (sample.*column.reading).value;
    json[column.key] = value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::vector<std::string> absences(Sample const& sample) {
  std::vector<std::pair<std::string, std::string>> reasons;  // and the quantities
  for (Column const& column : columns) {
    Reading const& reading = sample.*column.reading;
    if (reading.value) continue;
    auto at = reasons.begin();
    while (at != reasons.end() && at->first != reading.absence) ++at;
    if (at == reasons.end()) at = reasons.insert(at, {reading.absence, ""});
    at->second += (at->second.empty() ? "no " : ", no ") + std::string(column.quantity);
  }
  std::vector<std::string> lines;
  for (auto const& [reason, quantities] : reasons)
    lines.push_back(sample.device + ": " + quantities + ": " + reason);
  return lines;
}

}  // namespace coir::apps::info
