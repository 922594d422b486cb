#include "host_monitor.hpp"

#include <support/text.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace coir::apps::info {

namespace fs = std::filesystem;

namespace {

constexpr double hertz_of_kilohertz = 1e3, degrees_of_millidegree = 1e-3;

std::string text_of(fs::path const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<double> number_in(fs::path const& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

Reading reading_of(std::optional<double> const& value, std::string const& absence) {
  return value ? Reading{value, {}} : Reading{{}, absence};
}

/// The drivers of processors' sensors, of Intel, AMD and ARM.
bool is_of_processor(fs::path const& sensor) {
  constexpr std::array drivers = {"coretemp", "k10temp", "zenpower", "cpu_thermal"};
  std::string name;
  std::ifstream(sensor / "name") >> name;
  return std::find(drivers.begin(), drivers.end(), name) != drivers.end();
}

/// "cpu0", "cpu1" and so on
bool is_core(fs::path const& folder) {
  std::string const name = folder.filename().string();
  return name.size() > 3 && name.starts_with("cpu") &&
         std::isdigit(static_cast<unsigned char>(name[3]));
}

}  // namespace

HostMonitor::HostMonitor(fs::path proc, fs::path sys)
    : proc_(std::move(proc)),
      sys_(std::move(sys)),
      energy_(sys_ / "class/powercap"),
      times_(core_times(text_of(proc_ / "stat"))),
      when_(Clock::now()),
      joules_(energy_.joules()) {}

Sample HostMonitor::sample() {
  std::string const cpuinfo = text_of(proc_ / "cpuinfo");
  auto const memory = memory_use(text_of(proc_ / "meminfo"));
  std::string const no_memory = (proc_ / "meminfo").string() + " has no MemTotal and MemAvailable";
  Sample sample;
  sample.device = "cpu";
  sample.name = processor_name(cpuinfo);
  if (int const cores = core_count(text_of(proc_ / "stat")); cores > 0)
    sample.name += ", " + counted(cores, "threads");
  sample.load = load();
  sample.memory_used = reading_of(memory ? std::optional(memory->used) : std::nullopt, no_memory);
  sample.memory = reading_of(memory ? std::optional(memory->total) : std::nullopt, no_memory);
  sample.power = power();
  sample.temperature = temperature();
  sample.clock = clock(cpuinfo);
  return sample;
}

Reading HostMonitor::load() {
  auto const before = std::exchange(times_, core_times(text_of(proc_ / "stat")));
  if (!before || !times_) return {{}, (proc_ / "stat").string() + " has no line of all cores"};
  return reading_of(load_between(*before, *times_), "no time has passed");
}

Reading HostMonitor::power() {
  Reading const before = std::exchange(joules_, energy_.joules());
  auto const now = Clock::now();
  double const seconds = std::chrono::duration<double>(now - std::exchange(when_, now)).count();
  if (!before.value || !joules_.value) return {{}, before.value ? joules_.absence : before.absence};
  return {(*joules_.value - *before.value) / seconds, {}};
}

// The hottest of the processors.
Reading HostMonitor::temperature() const {
  fs::path const sensors = sys_ / "class/hwmon";
  std::optional<double> hottest;
  std::error_code none;
  for (auto const& sensor : fs::directory_iterator(sensors, none))
    if (is_of_processor(sensor.path()))
      if (auto const number = number_in(sensor.path() / "temp1_input"))
        hottest = std::max(degrees_of_millidegree * *number, hottest.value_or(-273.15));
  return reading_of(hottest, sensors.string() + " has no sensor of a processor");
}

Reading HostMonitor::clock(std::string const& cpuinfo) const {
  if (auto const clock = mean_clock(cpuinfo)) return {clock, {}};
  fs::path const cores = sys_ / "devices/system/cpu";
  double sum = 0;
  int count = 0;
  std::error_code none;
  for (auto const& core : fs::directory_iterator(cores, none))
    if (is_core(core.path()))
      if (auto const kilohertz = number_in(core.path() / "cpufreq/scaling_cur_freq"))
        sum += *kilohertz, ++count;
  if (count > 0) return {hertz_of_kilohertz * sum / count, {}};
  return {{}, "neither " + (proc_ / "cpuinfo").string() + " nor " + cores.string() + " tells it"};
}

}  // namespace coir::apps::info
