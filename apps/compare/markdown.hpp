#pragma once

#include "present.hpp"

#include <string>

namespace coir::apps::compare {

/// The comparison in Markdown, its columns aligned so that it reads well on a terminal, too.
std::string markdown_of(Comparison const& comparison);

/// A table of Markdown: the first column aligned left, the others right.
std::string markdown_table(Grid const& grid);

}  // namespace coir::apps::compare
