#include "benchmark_output.hpp"

#include <compare/json_place.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace coir::apps::compare {

namespace {

/// The end of the object that begins at a place, npos if it isn't whole.
std::size_t end_of_object(std::string const& text, std::size_t at) {
  int depth = 0;
  bool in_string = false;
  for (; at < text.size(); ++at) {
    char const c = text[at];
    if (in_string) {
      if (c == '\\')
        ++at;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return at + 1;
    }
  }
  return std::string::npos;
}

/// The object that is the value of a key, or follows it in a list; null if it isn't whole or no JSON.
Report object_after(std::string const& text, std::size_t& at) {
  std::size_t const begin = text.find('{', at);
  std::size_t const end =
      begin == std::string::npos ? std::string::npos : end_of_object(text, begin);
  if (end == std::string::npos) return nullptr;
  at = end;
  return object_in(text.substr(begin, end - begin));
}

double unit_of(std::string const& name) {
  if (name == "ns") return 1e-9;
  if (name == "us") return 1e-6;
  if (name == "ms") return 1e-3;
  return 1;
}

BenchmarkRow row_of(Report const& json) {
  BenchmarkRow row;
  row.name = without_kind_of_time(json["name"].get<std::string>());
  for (auto const& [key, value] : json.items())
    if (value.is_number()) row.counters[key] = value.get<double>();
  if (json.contains("error_occurred") && json["error_occurred"] == true) {
    row.error = "it failed";
    if (json.contains("error_message") && json["error_message"].is_string() &&
        json["error_message"] != "")
      row.error = json["error_message"].get<std::string>();
    return row;
  }
  std::string unit = "ns";
  if (json.contains("time_unit") && json["time_unit"].is_string())
    unit = json["time_unit"].get<std::string>();
  if (auto const found = row.counters.find("seconds"); found != row.counters.end())
    row.seconds = found->second;
  else if (auto const time = row.counters.find("real_time"); time != row.counters.end())
    row.seconds = time->second * unit_of(unit);
  if (!is_measurable(row.seconds)) row.error = "it gave no time";
  return row;
}

/// Goes on behind a marker, or behind all that was looked through but for the beginning of one.
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
  std::size_t at = text.find("\"context\"");
  if (at == std::string::npos) return output;
  output.context = object_after(text, at);
  output.has_context = output.context.is_object();
  if (!output.has_context) return output;
  at = text.find("\"benchmarks\"", at);
  while (at != std::string::npos) {
    std::size_t const before = at;
    auto const json = object_after(text, at);
    if (at == before) break;
    if (!json.is_object() || !json.contains("name") || !json["name"].is_string()) continue;
    if (json.contains("run_type") && json["run_type"] == "aggregate") continue;
    output.rows.push_back(row_of(json));
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
      // Spaces and the like must not be escaped, or C++'s expressions refuse them.
      if (std::string_view(".+*?()|^$[]{}\\").find(c) != std::string_view::npos) filter += '\\';
      filter += c;
    }
  }
  return filter + ")(/(manual|real|process)_time)*$";
}

}  // namespace coir::apps::compare
