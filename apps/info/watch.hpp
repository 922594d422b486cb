#pragma once

#include <cstdint>

namespace coir::apps::info {

struct WatchSettings {
  static constexpr double shortest = 0.1, longest = 86400;  // a day
  double interval = 1;                                      ///< seconds between two samples
  std::int64_t samples = 0;                                 ///< 0: until a signal ends it
  bool json = false;
};

/// Prints what the host and each NVIDIA device do, again and again: on a terminal a table that clears the screen before,
/// else a line for each sample and device below one heading, or lines of JSON. What the devices are stands below the
/// table, else once on stderr. Needs no Kokkos.
///
/// \throws Failure within a tenth of a second if the program is to stop
/// \throws ResourceError if the output can't be written
void watch(WatchSettings const& settings);

}  // namespace coir::apps::info
