#pragma once

/// \file
/// What a reader takes home from a comparison.

#include "analysis.hpp"

#include <string>
#include <vector>

namespace coir::apps::compare {

/// Three sentences: how fast the contestants are beside the first one, or how near its limit a single one comes; at which
/// sizes they are faster, or what stays farthest from its limit; and how far rounds agree.
std::vector<std::string> findings(Analysis const& analysis);

/// What holds the figures down or makes them doubtful, a sentence each: quotas of containers, other programs.
std::vector<std::string> doubts(Analysis const& analysis);

}  // namespace coir::apps::compare
