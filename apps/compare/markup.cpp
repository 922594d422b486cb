#include <compare/markup.hpp>

#include <cctype>
#include <cmath>
#include <cstdio>

namespace coir::apps {

std::string escaped(std::string const& text) {
  std::string safe;
  for (char const c : text) switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default:
        safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;  // control characters are no XML
    }
  return safe;
}

std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string quantity(std::string const& text) {
  auto const is_alphanumeric = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  std::string safe = escaped(text);
  for (std::string const unit : {" us", " uJ"})
    for (auto at = safe.find(unit); at != std::string::npos; at = safe.find(unit, at + 1)) {
      std::size_t const end = at + unit.size();
      bool const is_number = at > 0 && std::isdigit(static_cast<unsigned char>(safe[at - 1])) != 0;
      if (is_number && (end == safe.size() || !is_alphanumeric(safe[end])))
        safe.replace(at + 1, 1, "&#181;");
    }
  return safe;
}

}  // namespace coir::apps
