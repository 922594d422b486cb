#include <support/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace coir::apps {

std::string with_unit(double value, std::string const& unit) {
  static char const* const prefixes[] = {"p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr int none = 4;
  int const last = unit == "s" ? none : 10;  // nobody counts in kiloseconds
  int prefix = none;
  if (std::isfinite(value) && value != 0) {
    // 999.5 and more rounds to four digits, so it takes the next prefix.
    while (prefix < last && std::abs(value) >= 999.5) value /= 1000, ++prefix;
    while (prefix > 0 && std::abs(value) < 0.9995) value *= 1000, --prefix;
  }
  double const size = std::abs(value);
  char text[64];
  if (std::isfinite(size) && size >= 1e6) {
    std::snprintf(text, sizeof text, "%.2e ", value * std::pow(1000., last - none));
    return text + unit;
  }
  int const decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, prefixes[prefix]);
  return text + unit;
}

std::string without_zeros(std::string const& text) {
  std::size_t const space = std::min(text.find(' '), text.size());
  std::string number = text.substr(0, space);
  if (number.find('.') != std::string::npos && number.find('e') == std::string::npos) {
    while (number.back() == '0') number.pop_back();
    if (number.back() == '.') number.pop_back();
  }
  return number + text.substr(space);
}

std::string count_text(double count) {
  if (count > 0 && count < 0.9995) {
    char fraction[32];
    std::snprintf(fraction, sizeof fraction, "%.3g", count);
    return fraction;
  }
  std::string text = without_zeros(with_unit(count, ""));
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof text, fraction < 99999.5 ? "%.0f %%" : "%.2e %%", 100 * fraction);
  return text;
}

}  // namespace coir::apps
