#pragma once

/// The part of the machine's processors that is left to this process by quotas of containers and
/// other programs.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace coir::apps {

/// All of a file, such as one of /proc; empty if it can't be read.
std::string text_in(std::filesystem::path const& path);

/// The number that a file begins with; none if it can't be read.
std::optional<double> number_in(std::filesystem::path const& path);

/// The times for which all cores together worked and idled since the system's start, in ticks.
struct CoreTimes {
  double busy = 0, idle = 0;
};

/// By the line "cpu" of /proc/stat. A core that waits for a disk idles.
std::optional<CoreTimes> core_times(std::string const& stat);

/// The part of the cores' time between two moments in which they worked; none if no time has
/// passed.
std::optional<double> load_between(CoreTimes const& before, CoreTimes const& after);

/// How many cores /proc/stat counts: those that are switched on, threads of one core each.
int core_count(std::string const& stat);

/// How many processors' time the control groups of this process grant it: the least of cpu.max
/// (version 2) or of cpu.cfs_quota_us by cpu.cfs_period_us (version 1) of its group and of those
/// around it. None without a quota.
///
/// \param own     the file that names this process' groups
/// \param groups  where they are mounted
std::optional<double> processor_quota(std::filesystem::path const& own = "/proc/self/cgroup",
                                      std::filesystem::path const& groups = "/sys/fs/cgroup");

/// Counts the processors' time that other programs, and the host of a virtual machine, take from
/// now on.
class OtherPrograms {
 public:
  /// \param stat  where Linux tells the cores' times
  explicit OtherPrograms(std::filesystem::path stat = "/proc/stat");

  /// How many processors others kept busy meanwhile, on average: all but this process and the
  /// children that it has waited for. None where the system doesn't tell, or before a few of its
  /// ticks have passed.
  std::optional<double> processors() const;

 private:
  std::filesystem::path stat_;
  std::optional<CoreTimes> times_;
  double own_seconds_;
  std::chrono::steady_clock::time_point when_;
};

}  // namespace coir::apps
