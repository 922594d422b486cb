#pragma once

#include <string>

namespace coir::apps {

/// A quantity with three significant digits and an SI prefix: 38.6e9, "cell/s" -> "38.6 Gcell/s".
///
/// Prefixes run from pico to exa, those of seconds ("s") to none: "2000 s". Zero, infinite and NaN
/// come without one, and so do a million exa and more: "1.00e+29 B".
std::string with_unit(double value, std::string const& unit);

/// "1.50 ms" -> "1.5 ms"
std::string without_zeros(std::string const& text);

/// A number of things with three digits at most: 106400 -> "106 k", 1e8 -> "100 M", 0.25 -> "0.25".
std::string count_text(double count);

/// A fraction in per cent: 0.846 -> "85 %".
std::string percent(double fraction);

}  // namespace coir::apps
