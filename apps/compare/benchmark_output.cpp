#include "benchmark_output.hpp"

#include <compare/json_place.hpp>

#include <algorithm>
#include <limits>
#include <sstream>
#include <string_view>

namespace coir::apps::compare {

namespace {

/// The next object of a text, behind whatever stands before it; null if it isn't whole, or no JSON.
Report next_object(std::istringstream& text) {
  if (!text.ignore(std::numeric_limits<std::streamsize>::max(), '{').good()) return nullptr;
  Report json;
  try {
    text.unget() >> json;
  } catch (Report::exception const&) {
    return nullptr;
  }
  return json;
}

double unit_of(std::string const& name) {
  return name == "ns" ? 1e-9 : name == "us" ? 1e-6 : name == "ms" ? 1e-3 : 1;
}

BenchmarkRow row_of(Report const& json) {
  BenchmarkRow row;
  row.name = without_kind_of_time(json["name"].get<std::string>());
  for (auto const& [key, value] : json.items())
    if (value.is_number()) row.counters[key] = value.get<double>();
  if (json.value("error_occurred", false)) {
    row.error = json.value("error_message", "");
    if (row.error.empty()) row.error = "it failed";
    return row;
  }
  auto const counter = [&](char const* key) {
    auto const found = row.counters.find(key);
    return found == row.counters.end() ? 0 : found->second;
  };
  row.seconds = counter("seconds");
  if (row.seconds == 0) row.seconds = counter("real_time") * unit_of(json.value("time_unit", "ns"));
  if (!is_measurable(row.seconds)) row.error = "it gave no time";
  return row;
}

/// Goes on behind a marker, or behind all of the text but for what may be the marker's beginning.
bool found_behind(std::string_view marker, std::string const& text, std::size_t& at) {
  std::size_t const found = text.find(marker, at);
  bool const is_there = found != std::string::npos;
  at = is_there ? found + marker.size()
                : std::max(at, text.size() - std::min(text.size(), marker.size() - 1));
  return is_there;
}

}  // namespace

std::string without_kind_of_time(std::string const& name) {
  for (std::string_view const kind : {"/manual_time", "/real_time", "/process_time"})
    if (name.ends_with(kind)) return name.substr(0, name.size() - kind.size());
  return name;
}

BenchmarkOutput read_benchmark_output(std::string const& text) {
  BenchmarkOutput output;
  std::size_t const begin = text.find("\"context\"");
  if (begin == std::string::npos) return output;
  std::istringstream rest(text.substr(begin));
  output.context = next_object(rest);
  output.has_context = output.context.is_object();
  while (output.has_context && rest.good()) {
    Report const json = next_object(rest);
    bool const is_row = json.is_object() && json.contains("name") && json["name"].is_string();
    if (is_row && json.value("run_type", "") != "aggregate") output.rows.push_back(row_of(json));
  }
  return output;
}

bool rows_have_begun(std::string const& text, std::size_t& at) {
  return found_behind("\"benchmarks\"", text, at);
}

int count_rows(std::string const& text, std::size_t& at) {
  int rows = 0;
  while (found_behind("\"run_name\"", text, at)) ++rows;
  return rows;
}

std::string filter_for(std::vector<std::string> const& names) {
  std::string filter;
  for (auto const& name : names) {
    filter += filter.empty() ? "^(" : "|";
    for (char const c : name) {
      // C++'s expressions refuse spaces and the like with a backslash before them.
      if (std::string_view(".+*?()|^$[]{}\\").find(c) != std::string_view::npos) filter += '\\';
      filter += c;
    }
  }
  return filter + ")(/(manual|real|process)_time)*$";
}

}  // namespace coir::apps::compare
