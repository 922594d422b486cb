#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace coir::apps {

/// The shortest decimal that reads back as the same number.
std::string exact_text(double number);

/// A number of things: counted(2, "sweeps") -> "2 sweeps", counted(1, "sweeps") -> "1 sweep".
///
/// \param things  in the plural, which ends with the s that one has not
std::string counted(std::int64_t number, std::string const& things);

/// A text without line breaks and control characters, so that messages stay one line.
std::string one_line(std::string text);

/// A text as messages show it: 'text'.
std::string in_quotes(std::string const& text);

/// The texts, with a separator between them.
std::string joined(std::vector<std::string> const& texts, std::string const& separator);

/// The parts between separators, without blanks around them. There is at least one part, and none
/// after a last separator.
std::vector<std::string> split(std::string const& text, char separator);

}  // namespace coir::apps
