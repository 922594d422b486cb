#include "text.hpp"

#include <charconv>
#include <sstream>

namespace coir::apps {

std::string exact_text(double number) {
  char text[40];
  auto const result = std::to_chars(text, text + sizeof text, number);
  return {text, result.ptr};
}

std::string counted(std::int64_t number, std::string const& things) {
  return std::to_string(number) + ' ' + things.substr(0, things.size() - (number == 1 ? 1 : 0));
}

std::string joined(std::vector<std::string> const& texts, std::string const& separator) {
  std::string all;
  for (auto const& text : texts) all += (&text == texts.data() ? "" : separator) + text;
  return all;
}

std::vector<std::string> split(std::string const& text, char separator) {
  if (text.empty()) return {""};
  std::vector<std::string> parts;
  std::istringstream rest(text);
  for (std::string part; std::getline(rest, part, separator);) {
    auto const blank = " \t\n\r\f\v";
    auto const begin = part.find_first_not_of(blank);
    parts.push_back(begin == std::string::npos
                        ? ""
                        : part.substr(begin, part.find_last_not_of(blank) + 1 - begin));
  }
  return parts;
}

}  // namespace coir::apps
