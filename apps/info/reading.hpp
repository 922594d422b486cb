#pragma once

#include <optional>
#include <string>

namespace coir::apps {

/// A quantity that a machine may tell or not.
struct Reading {
  std::optional<double> value;
  std::string absence;  ///< why there is no value: "NVML says 'Not Supported'"
};

}  // namespace coir::apps
