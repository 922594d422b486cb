#include <support/processors.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

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

}  // namespace coir::apps
