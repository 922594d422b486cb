#pragma once

/// Letters and digits of ASCII whatever the locale, for these are asked for each row.

#include <algorithm>
#include <string_view>

namespace coir::apps::queue {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

inline bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

inline bool equal_without_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace coir::apps::queue
