#include "host_monitor.hpp"

#include <support/processors.hpp>
#include <support/text.hpp>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::info {

namespace fs = std::filesystem;

namespace {

constexpr double bytes_of_kibibyte = 1024, hertz_of_megahertz = 1e6, hertz_of_kilohertz = 1e3;
constexpr double degrees_of_millidegree = 1e-3;

/// What follows a key and a colon, in each line that begins with the key: "model name\t: AMD EPYC".
std::vector<std::string> values_of(std::string const& key, std::string const& text) {
  std::vector<std::string> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::size_t const colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    std::size_t const begin = line.find_first_not_of(" \t", colon + 1);
    values.push_back(begin == std::string::npos ? "" : line.substr(begin));
  }
  return values;
}

/// The mean of the numbers among some texts; none if there is none.
std::optional<double> mean_of(std::vector<std::string> const& texts) {
  double sum = 0, count = 0;
  for (auto const& text : texts)
    if (double number = 0; std::istringstream(text) >> number) sum += number, ++count;
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

/// The drivers of processors' sensors, of Intel, AMD and ARM.
bool is_of_processor(fs::path const& sensor) {
  constexpr std::array drivers = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
  std::string const name = text_in(sensor / "name");
  return std::find(drivers.begin(), drivers.end(), name.substr(0, name.find('\n'))) !=
         drivers.end();
}

}  // namespace

HostMonitor::HostMonitor(fs::path proc, fs::path sys)
    : proc_(std::move(proc)),
      sys_(std::move(sys)),
      energy_(sys_ / "class/powercap"),
      times_(core_times(text_in(proc_ / "stat"))),
      when_(Clock::now()),
      joules_(energy_.joules()) {}

Sample HostMonitor::sample() {
  std::string const cpuinfo = text_in(proc_ / "cpuinfo"), meminfo = text_in(proc_ / "meminfo");
  Sample sample;
  sample.device = "cpu";
  auto const names = values_of("model name", cpuinfo);
  sample.name = names.empty() ? "host" : names.front();
  std::string const stat = text_in(proc_ / "stat");
  if (int const cores = core_count(stat); cores > 0)
    sample.name += ", " + counted(cores, "threads");
  auto const before = std::exchange(times_, core_times(stat));
  if (before && times_) sample.load = load_between(*before, *times_);
  // What the kernel gives back on demand, its cache of files for instance, isn't used.
  auto const total = mean_of(values_of("MemTotal", meminfo));
  auto const available = mean_of(values_of("MemAvailable", meminfo));
  if (total && available) {
    sample.memory_used = bytes_of_kibibyte * (*total - *available);
    sample.memory = bytes_of_kibibyte * *total;
  }
  sample.power = power();
  sample.temperature = temperature();
  sample.clock = clock(cpuinfo);
  return sample;
}

std::optional<double> HostMonitor::power() {
  auto const before = std::exchange(joules_, energy_.joules());
  auto const now = Clock::now();
  double const seconds = std::chrono::duration<double>(now - std::exchange(when_, now)).count();
  return before && joules_ ? std::optional((*joules_ - *before) / seconds) : std::nullopt;
}

// The hottest of the processors.
std::optional<double> HostMonitor::temperature() const {
  std::optional<double> hottest;
  std::error_code none;
  for (auto const& sensor : fs::directory_iterator(sys_ / "class/hwmon", none))
    if (is_of_processor(sensor.path()))
      if (auto const number = number_in(sensor.path() / "temp1_input"))
        hottest = std::max(degrees_of_millidegree * *number, hottest.value_or(-273.15));
  return hottest;
}

// The mean of the cores. Not all processors tell it in /proc/cpuinfo.
std::optional<double> HostMonitor::clock(std::string const& cpuinfo) const {
  if (auto const megahertz = mean_of(values_of("cpu MHz", cpuinfo)))
    return hertz_of_megahertz * *megahertz;
  std::vector<std::string> kilohertz;
  for (int core = 0;; ++core) {
    auto const folder = sys_ / "devices/system/cpu" / ("cpu" + std::to_string(core));
    if (!fs::exists(folder)) break;
    kilohertz.push_back(text_in(folder / "cpufreq/scaling_cur_freq"));
  }
  auto const mean = mean_of(kilohertz);
  return mean ? std::optional(hertz_of_kilohertz * *mean) : std::nullopt;
}

}  // namespace coir::apps::info
