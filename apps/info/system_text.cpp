#include "system_text.hpp"

#include <algorithm>
#include <cctype>
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

std::optional<CoreTimes> core_times(std::string const& stat) {
  std::optional<CoreTimes> times;
  for_each_line_of("cpu ", stat, [&](std::string const& rest) {
    // The time of guests is in the users' part already.
    double user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, soft_irq = 0, stolen = 0;
    std::istringstream numbers(rest);
    if (!(numbers >> user >> nice >> system >> idle)) return;
    numbers >> disk >> irq >> soft_irq >> stolen;  // older kernels have fewer
    times = CoreTimes{user + nice + system + irq + soft_irq + stolen, idle + disk};
  });
  return times;
}

int core_count(std::string const& stat) {
  int count = 0;
  for_each_line_of("cpu", stat, [&](std::string const& rest) {
    count += !rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front()));
  });
  return count;
}

std::optional<double> load_between(CoreTimes const& before, CoreTimes const& after) {
  // The kernel's sums may go back by a tick, that of waiting for disks most of all.
  double const busy = std::max(0.0, after.busy - before.busy);
  double const idle = std::max(0.0, after.idle - before.idle);
  return busy + idle > 0 ? std::optional(busy / (busy + idle)) : std::nullopt;
}

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
