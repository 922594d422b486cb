#pragma once

/// \file
/// The processors that other programs leave to this one.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace coir {

/// The times for which all cores together worked and idled since the system's start, in ticks.
struct CoreTimes {
  double busy = 0, idle = 0;
};

/// By the line "cpu" of /proc/stat. A core that waits for a disk idles.
std::optional<CoreTimes> core_times(std::string const& stat);

/// The part of the cores' time between two moments in which they worked; none if no time has
/// passed.
std::optional<double> load_between(CoreTimes const& before, CoreTimes const& after);

/// The number of cores that are switched on, by /proc/stat. Each hardware thread counts as one.
int core_count(std::string const& stat);

/// Counts the processors' time that other programs, and the host of a virtual machine, take from
/// now on.
class OtherPrograms {
 public:
  /// \param stat  where Linux tells the cores' times
  explicit OtherPrograms(std::filesystem::path stat = "/proc/stat");

  /// How many processors others have kept busy since this object was made, on average. Others are
  /// all processes but this one and the children that it has waited for.
  ///
  /// \return  none if the system doesn't tell, or if fewer than five of its ticks have passed
  std::optional<double> processors() const;

 private:
  std::filesystem::path stat_;
  std::optional<CoreTimes> times_;
  double own_seconds_;
  std::chrono::steady_clock::time_point when_;
};

/// How many of an instance's threads should wait for one another within a kernel: all, or fewer
/// where other programs keep processors busy, but at least half. A thread that shares its processor
/// makes its neighbours wait, and so in the end all.
///
/// \param others  processors that other programs keep busy
int threads_beside(int threads, int processors, double others);

/// threads_beside() for the programs that were seen since the last call that looked. Calls look ten
/// times a second at most.
///
/// \return  `threads` if no call has looked yet, if there are fewer than four threads or more than
///   the machine has processors, or if this process may not use all processors
int threads_beside_others(int threads);

}  // namespace coir
