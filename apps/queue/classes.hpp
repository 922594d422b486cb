#pragma once

/// The classes of size and time that waits are grouped by.

#include "job.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps::queue {

/// A property of jobs, cut into classes.
struct Property {
  char const* key;    ///< in reports: "core_hours"
  char const* title;  ///< in tables: "core hours"
  std::vector<std::string> labels;
  std::vector<double> begins;  ///< where each class begins; the first takes what is below, too
};

enum class By : std::size_t { cores, core_hours, memory, memory_hours, gpus, hour };
inline constexpr std::size_t property_count = 6;
using Properties = std::array<Property, property_count>;

/// All properties: those with classes of their own, and hours of cores and of memory in the classes
/// that are given.
Properties properties_with(GrowingClasses const& core_hours, GrowingClasses const& memory_hours);

inline int hour_of(Seconds moment) { return static_cast<int>(moment % 86400 / 3600); }

/// The value that a job is grouped by, if it is known.
inline std::optional<double> value_of(Job const& job, By by) {
  auto const number = [](auto const& value) {
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  };
  switch (by) {
    case By::cores: return number(job.cores);
    case By::core_hours: return job.core_hours;
    case By::memory: return job.bytes;
    case By::memory_hours: return job.memory_hours;
    case By::gpus: return number(job.gpus);
    case By::hour: return hour_of(job.submit);
  }
  return {};
}

inline std::size_t class_of(Property const& property, double value) {
  std::size_t n = property.begins.size() - 1;
  while (n > 0 && value < property.begins[n]) --n;
  return n;
}

/// Waits for which the share of jobs that waited at most so long is counted exactly.
struct Span {
  Seconds seconds;
  char const* label;
};
inline constexpr std::array<Span, 9> spans = {{{10, "10 s"},
                                               {60, "1 min"},
                                               {600, "10 min"},
                                               {3600, "1 h"},
                                               {4 * 3600, "4 h"},
                                               {12 * 3600, "12 h"},
                                               {86400, "1 d"},
                                               {3 * 86400, "3 d"},
                                               {7 * 86400, "7 d"}}};

}  // namespace coir::apps::queue
