#pragma once

#include "comparison.hpp"

#include <string>

namespace coir::apps::compare {

/// The comparison as one page of HTML that needs no network, well-formed as XML too.
std::string page_of(Comparison const& comparison);

}  // namespace coir::apps::compare
