#pragma once

/// Which threads worked, and how evenly: by the processor time of each, which other programs on the
/// machine don't change.

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace coir::testing {

/// How some work was shared among this process's threads.
struct SharedWork {
  int threads = 0;       ///< that had at least a quarter of the busiest one's processor time
  double processor = 0;  ///< seconds of all threads
  double busiest = 0;    ///< seconds of one
  double wall = 0;       ///< seconds by the clock on the wall

  /// 1 if one thread did everything, n if n did the same; what the work had in threads at best.
  double evenness() const { return processor / busiest; }
};

/// Whether threads that wait for work sleep, so that their processor time tells of work alone. Only
/// on Linux.
inline bool thread_times_tell() {
#ifdef __linux__
  char const* const policy = std::getenv("OMP_WAIT_POLICY");
  std::string_view const text = policy == nullptr ? "" : policy;
  return text == "passive" || text == "PASSIVE";
#else
  return false;
#endif
}

/// Seconds of processor time, by the thread's number.
inline std::map<long, double> thread_seconds() {
  std::map<long, double> seconds;
#ifdef __linux__
  for (auto const& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    long const thread = std::stol(entry.path().filename().string());
    // As pthread_getcpuclockid does for a thread that one has the handle of: bit 2 for a thread, 2
    // for its scheduled time.
    auto const clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | 4u | 2u);
    timespec time{};
    if (clock_gettime(clock, &time) == 0)
      seconds[thread] = static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
#endif
  return seconds;
}

template <class Work>
SharedWork share_of_threads(Work const& work) {
  auto const before = thread_seconds();
  auto const start = std::chrono::steady_clock::now();
  work();
  SharedWork result;
  result.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::map<long, double> after = thread_seconds();
  for (auto& [thread, seconds] : after) {
    if (auto const at = before.find(thread); at != before.end()) seconds -= at->second;
    result.processor += seconds;
    result.busiest = std::max(result.busiest, seconds);
  }
  for (auto const& [thread, seconds] : after) result.threads += seconds >= result.busiest / 4;
  return result;
}

}  // namespace coir::testing
