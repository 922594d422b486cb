#pragma once

#include <string>

namespace coir::apps {

/// A quantity with three significant digits and an SI prefix: 38.6e9, "cell/s" -> "38.6 Gcell/s".
///
/// Prefixes run from nano to exa; zero, infinite and NaN come without one.
std::string with_unit(double value, std::string const& unit);

/// A fraction in per cent: 0.846 -> "85 %".
std::string percent(double fraction);

}  // namespace coir::apps
