#pragma once

#include "fields.hpp"

#include <support/progress.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace coir::apps::queue {

/// When a wait begins.
enum class WaitFrom { eligible, submit };

inline char const* wait_from_name(WaitFrom from) {
  return from == WaitFrom::eligible ? "eligible" : "submit";
}

/// Which jobs count. An empty list lets all through.
struct Filters {
  std::vector<std::string> clusters;
  std::vector<std::string> partitions;  ///< "gpu", or "cluster/gpu"
  std::vector<std::string> users;
  std::vector<std::string> accounts;
  std::vector<std::string> states;  ///< in any case
  std::optional<Seconds> from;      ///< submitted then or later
  std::optional<Seconds> to;        ///< submitted before
};

/// The job whose wait is to be forecast. A size that isn't given doesn't matter.
struct Size {
  std::optional<std::int64_t> cores;
  std::optional<std::int64_t> gpus;
  std::optional<double> bytes;
  std::optional<Seconds> limit;
  std::optional<int> hour;  ///< of submission
};

/// Classes whose bounds grow by a factor: below `first`, then from first factor^(n-1) to first
/// factor^n, and the last one without an end.
struct GrowingClasses {
  double first = 1;
  double factor = 10;
  int count = 6;  ///< of classes, from 2 to 32
};

/// The command line, read.
struct QueueSettings {
  std::vector<std::filesystem::path> inputs;
  Filters filters;
  WaitFrom wait_from = WaitFrom::eligible;
  GrowingClasses core_hours;
  GrowingClasses memory_hours;
  bool forecast = false;
  Size size;
  double interval = 0.9;
  std::filesystem::path picture;
  std::filesystem::path report;
  ProgressMode progress = ProgressMode::automatic;
  bool quiet = false;
};

}  // namespace coir::apps::queue
