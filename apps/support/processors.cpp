#include <support/processors.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace coir::apps {

namespace fs = std::filesystem;

namespace {

/// Processors by "150000 100000" of cpu.max, which is "max 100000" without a quota.
std::optional<double> quota_of(fs::path const& group, bool is_first_version) {
  double quota = 0, period = 0;
  if (is_first_version) {
    quota = number_in(group / "cpu.cfs_quota_us").value_or(0);  // -1 without one
    period = number_in(group / "cpu.cfs_period_us").value_or(0);
  } else {
    std::istringstream(text_in(group / "cpu.max")) >> quota >> period;
  }
  return quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

double seconds_of(timeval const& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// What this process and its children have taken.
double own_seconds() {
  double seconds = 0;
  for (int const who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    if (getrusage(who, &usage) == 0)
      seconds += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return seconds;
}

}  // namespace

std::string text_in(fs::path const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<double> number_in(fs::path const& path) {
  std::ifstream file(path);
  double number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::optional<CoreTimes> core_times(std::string const& stat) {
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu ")) continue;
    // The time of guests is in the users' part already.
    double user = 0, nice = 0, system = 0, idle = 0, disk = 0, irq = 0, soft_irq = 0, stolen = 0;
    std::istringstream numbers(line.substr(4));
    if (!(numbers >> user >> nice >> system >> idle)) return {};
    numbers >> disk >> irq >> soft_irq >> stolen;  // older kernels have fewer
    return CoreTimes{user + nice + system + irq + soft_irq + stolen, idle + disk};
  }
  return {};
}

std::optional<double> load_between(CoreTimes const& before, CoreTimes const& after) {
  // The kernel's sums may go back by a tick, that of waiting for disks most of all.
  double const busy = std::max(0.0, after.busy - before.busy);
  double const idle = std::max(0.0, after.idle - before.idle);
  return busy + idle > 0 ? std::optional(busy / (busy + idle)) : std::nullopt;
}

int core_count(std::string const& stat) {
  int count = 0;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);)
    count += line.size() > 3 && line.starts_with("cpu") &&
             std::isdigit(static_cast<unsigned char>(line[3])) != 0;
  return count;
}

std::optional<double> processor_quota(fs::path const& own, fs::path const& groups) {
  std::optional<double> least;
  std::istringstream lines(text_in(own));
  for (std::string line;
       std::getline(lines, line);) {  // "4:cpu,cpuacct:/some/group" or "0::/some/group"
    auto const first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string const controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    bool const is_first_version = controllers.find(",cpu,") != std::string::npos;
    if (!is_first_version && controllers != ",,") continue;
    std::string const mount = groups.string() + (is_first_version ? "/cpu" : "");
    // Inside a container its group may lie at the mount point, though the path is that of the host:
    // all prefixes of the path are tried, down to the mount point itself.
    for (;; group.resize(group.rfind('/'))) {
      if (group == "/") group.clear();
      if (auto const quota = quota_of(mount + group, is_first_version))
        least = std::min(*quota, least.value_or(*quota));
      if (group.find('/') == std::string::npos) break;
    }
  }
  return least;
}

OtherPrograms::OtherPrograms(fs::path stat)
    : stat_(std::move(stat)),
      times_(core_times(text_in(stat_))),
      own_seconds_(own_seconds()),
      when_(std::chrono::steady_clock::now()) {}

std::optional<double> OtherPrograms::processors() const {
  std::string const stat = text_in(stat_);
  auto const now = core_times(stat);
  double const seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - when_).count();
  constexpr double least = 0.05;  // five ticks of most systems
  if (!times_ || !now || seconds < least) return {};
  auto const load = load_between(*times_, *now);
  if (!load) return {};
  double const busy = *load * core_count(stat);
  return std::max(0.0, busy - (own_seconds() - own_seconds_) / seconds);
}

}  // namespace coir::apps
