#pragma once

/// The part of the machine's processors that quotas of containers leave to this process.

#include <filesystem>
#include <optional>
#include <string>

namespace coir::apps {

/// All of a file, such as one of /proc; empty if it can't be read.
std::string text_in(std::filesystem::path const& path);

/// The number that a file begins with; none if it can't be read.
std::optional<double> number_in(std::filesystem::path const& path);

/// How many processors' time the control groups of this process grant it: the least of cpu.max
/// (version 2) or of cpu.cfs_quota_us by cpu.cfs_period_us (version 1) of its group and of those
/// around it. None without a quota.
///
/// \param own     the file that names this process' groups
/// \param groups  where they are mounted
std::optional<double> processor_quota(std::filesystem::path const& own = "/proc/self/cgroup",
                                      std::filesystem::path const& groups = "/sys/fs/cgroup");

}  // namespace coir::apps
