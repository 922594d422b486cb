#pragma once

/// \file
/// Pictures of a comparison, as SVG that stands in a page.

#include "analysis.hpp"

#include <string>

namespace coir::apps::compare {

/// Time against size on logarithmic axes, a line for each contestant and a dashed one for its limit.
///
/// \param id  letters and digits that no other plot of the page has
std::string time_plot(Panel const& panel, Analysis const& analysis, std::string const& id);

/// How many times as fast as the first contestant the others are, a line for each work, at the sizes of the overview.
/// Empty if there is one contestant.
std::string speed_up_plot(Analysis const& analysis);

}  // namespace coir::apps::compare
