#pragma once

/// \file
/// The texts in which Linux tells what a host does: /proc/stat, /proc/meminfo and /proc/cpuinfo.

#include <optional>
#include <string>

namespace coir::apps::info {

/// For how long all cores together worked and idled since the start, in ticks of the system.
struct CoreTimes {
  double busy = 0, idle = 0;
};

/// By the line "cpu" of /proc/stat. A core that waits for a disk idles.
std::optional<CoreTimes> core_times(std::string const& stat);

/// How many cores /proc/stat counts: those that are switched on, threads of one core each.
int core_count(std::string const& stat);

/// The part of the cores' time between two moments in which they worked; none if no time has passed.
std::optional<double> load_between(CoreTimes const& before, CoreTimes const& after);

struct MemoryUse {
  double used = 0, total = 0;  // bytes
};

/// By /proc/meminfo. What the kernel gives back on demand, its cache of files for instance, isn't used.
std::optional<MemoryUse> memory_use(std::string const& meminfo);

/// The mean clock of the cores in Hz by /proc/cpuinfo; not all processors tell.
std::optional<double> mean_clock(std::string const& cpuinfo);

/// The processor's name in /proc/cpuinfo; "host" if there is none.
std::string processor_name(std::string const& cpuinfo);

}  // namespace coir::apps::info
