#pragma once

/// \file
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
  char const* title;  ///< in tables: "Hours of cores"
  std::vector<std::string> labels;
  std::vector<double> begins;  ///< where each class begins; the first takes what is below, too
};

enum class By : std::size_t { cores, core_hours, memory, gpus, hour };
inline constexpr std::size_t properties = 5;

inline std::array<Property, properties> const& all_properties() {
  constexpr double gib = 1024. * 1024 * 1024;
  static std::array<Property, properties> const all = [] {
    std::array<Property, properties> made = {{
        {"cores",
         "cores",
         {"1", "2-4", "5-16", "17-64", "65-256", "> 256"},
         {0, 2, 5, 17, 65, 257}},
        {"core_hours",
         "core hours",
         {"< 1", "1-10", "10-100", "100-1000", "1000-10^4", ">= 10^4"},
         {0, 1, 10, 100, 1000, 10000}},
        {"memory",
         "GiB of memory",
         {"< 4", "4-16", "16-64", "64-256", "256-1024", ">= 1024"},
         {0, 4 * gib, 16 * gib, 64 * gib, 256 * gib, 1024 * gib}},
        {"gpus", "GPUs", {"0", "1", "2", "3-4", "5-8", "> 8"}, {0, 1, 2, 3, 5, 9}},
        {"hour", "hour", {}, {}},
    }};
    for (int hour = 0; hour < 24; ++hour) {
      std::string const digits = std::to_string(hour);
      made[4].labels.push_back(hour < 10 ? "0" + digits : digits);
      made[4].begins.push_back(hour);
    }
    return made;
  }();
  return all;
}

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

/// Waits that people think in. Shares of jobs that waited at most so long are counted exactly.
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
