#pragma once

#include "ranks.hpp"

#include <coir/core/machine.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace coir::apps {

/// The facts that coir-info prints: the machine of the first rank, its limits if they were measured, and the ranks.
struct Description {
  Machine machine;
  std::optional<MachineLimits> limits;
  std::optional<RanksDescription> ranks;  ///< where there are several
};

/// For people: one fact a line, with units, then Kokkos' own configuration.
std::string as_text(Description const& description);

/// For programs: the same in SI units and bytes; what doesn't apply is null.
nlohmann::ordered_json as_json(Description const& description);

}  // namespace coir::apps
