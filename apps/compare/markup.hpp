#pragma once

/// \file
/// Pieces of text for pages and pictures, which are XML.

#include <string>

namespace coir::apps {

/// A text as XML takes it between tags and in attributes.
std::string escaped(std::string const& text);

/// A coordinate, to a tenth.
std::string coordinate(double value);

/// Quantities with Greek prefixes where programs write u: "3.1 x, 12 us" -> "3.1 x, 12 &#181;s", escaped.
std::string quantity(std::string const& text);

}  // namespace coir::apps
