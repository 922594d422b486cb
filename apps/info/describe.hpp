#pragma once

#include "ranks.hpp"

#include <coir/core/machine.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps {

/// The processors that other programs and quotas leave to this process.
struct ProcessorsLeft {
  std::optional<double>
      quota;  ///< of the process' container, in processors; none if it has no quota
  std::optional<double>
      others;  ///< how many processors other programs kept busy just before; none if unknown
};

/// The facts that coir-info prints: the machine of the first rank, its limits if they were
/// measured, and the ranks.
struct Description {
  Machine machine;
  std::string reason_for_threads;  ///< why there are as many host threads
  std::optional<MachineLimits> limits;
  std::vector<ThreadLimits> by_threads;  ///< by numbers of threads, if they were measured
  std::int64_t cache_bytes = 0;          ///< of the last cache of what was measured
  ProcessorsLeft processors;
  std::optional<RanksDescription> ranks;  ///< where there are several
};

/// The least number of threads with nine tenths of the highest triad bandwidth: more of them make
/// work that waits for memory no faster. 1 for an empty list.
int threads_enough(std::vector<ThreadLimits> const& by_threads);

/// What may hold measured limits down, a sentence each: a quota below the threads, other programs.
std::vector<std::string> doubts_about_limits(Machine const& machine,
                                             ProcessorsLeft const& processors);

/// For people: one fact a line, with units. Kokkos' own configuration, some 35 lines, is in the
/// JSON alone.
std::string as_text(Description const& description);

/// For programs: the same in SI units and bytes; what doesn't apply is null.
nlohmann::ordered_json as_json(Description const& description);

}  // namespace coir::apps
