#pragma once

#include "present.hpp"

#include <optional>
#include <string>

namespace coir::apps::offload {

/// The answer as one page of HTML with plots: time against size, and what each kind of job gains or loses.
std::string page_of(MachineFigures const& figures, std::optional<Answer> const& answer,
                    std::optional<FleetAnswer> const& fleet);

}  // namespace coir::apps::offload
