#pragma once

/// \file
/// The texts in which Linux tells what a host has: /proc/meminfo and /proc/cpuinfo.

#include <optional>
#include <string>

namespace coir::apps::info {

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
