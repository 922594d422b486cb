#pragma once

#include <cstdint>

namespace coir::apps::info {

struct WatchSettings {
  static constexpr double shortest = 0.1, longest = 86400;  // a day
  double interval = 1;                                      ///< seconds between two samples
  std::int64_t samples = 0;                                 ///< 0: until a signal ends it
  bool json = false;
};

/// Prints what the host and each NVIDIA device do, again and again. On a terminal that is a table,
/// which clears the screen before it; elsewhere it is a line for each sample and device below one
/// heading, or lines of JSON. The names of the devices stand below the table, and elsewhere once on
/// stderr. Kokkos isn't needed.
///
/// \throws Failure within a tenth of a second if the program is to stop
/// \throws ResourceError if the output can't be written
void watch(WatchSettings const& settings);

}  // namespace coir::apps::info
