#include "system_text.hpp"

#include <sstream>

namespace coir::apps::info {

namespace {

constexpr double bytes_of_kibibyte = 1024, hertz_of_megahertz = 1e6;

/// Calls body(rest) with what follows a key at the beginning of a line, for each line that begins with it.
template <class Body>
void for_each_line_of(std::string const& key, std::string const& text, Body const& body) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) body(line.substr(key.size()));
}

std::optional<double> kibibytes_behind(std::string const& key, std::string const& meminfo) {
  std::optional<double> found;
  for_each_line_of(key, meminfo, [&](std::string const& rest) {
    double number = 0;
    if (std::istringstream(rest) >> number && number >= 0) found = number;
  });
  return found;
}

/// The text behind the colon of "model name\t: AMD EPYC"; empty without one.
std::string behind_colon(std::string const& rest) {
  auto const colon = rest.find(':');
  auto const begin = colon == std::string::npos ? colon : rest.find_first_not_of(" \t", colon + 1);
  return begin == std::string::npos ? "" : rest.substr(begin);
}

}  // namespace

std::optional<MemoryUse> memory_use(std::string const& meminfo) {
  auto const total = kibibytes_behind("MemTotal:", meminfo);
  auto const available = kibibytes_behind("MemAvailable:", meminfo);
  if (!total || !available) return {};
  return MemoryUse{bytes_of_kibibyte * (*total - *available), bytes_of_kibibyte * *total};
}

std::optional<double> mean_clock(std::string const& cpuinfo) {
  double sum = 0;
  int count = 0;
  for_each_line_of("cpu MHz", cpuinfo, [&](std::string const& rest) {
    double megahertz = 0;
    if (std::istringstream(behind_colon(rest)) >> megahertz && megahertz > 0)
      sum += megahertz, ++count;
  });
  return count > 0 ? std::optional(hertz_of_megahertz * sum / count) : std::nullopt;
}

std::string processor_name(std::string const& cpuinfo) {
  std::string name;
  for_each_line_of("model name", cpuinfo, [&](std::string const& rest) {
    if (name.empty()) name = behind_colon(rest);
  });
  return name.empty() ? "host" : name;
}

}  // namespace coir::apps::info
