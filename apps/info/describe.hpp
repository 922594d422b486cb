#pragma once

#include <coir/core/machine.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace coir::apps {

/// What coir-info prints: the machine, and its limits if they were measured.
struct Description {
  Machine machine;
  std::optional<MachineLimits> limits;
};

/// For people: one fact a line, with units, then Kokkos' own configuration.
std::string as_text(Description const& description);

/// For programs: the same in SI units and bytes; what doesn't apply is null.
nlohmann::ordered_json as_json(Description const& description);

}  // namespace coir::apps
