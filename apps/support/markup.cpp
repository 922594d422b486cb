#include <support/markup.hpp>

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
  std::string safe = escaped(text);
  for (char const* const unit : {"us", "uJ"}) {
    std::string const ending = std::string(" ") + unit;
    if (safe.size() > ending.size() && safe.ends_with(ending))
      safe.replace(safe.size() - 2, 1, "&#181;");
  }
  return safe;
}

}  // namespace coir::apps
