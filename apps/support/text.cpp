#include "text.hpp"

#include <algorithm>
#include <cctype>
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

std::string one_line(std::string text) {
  for (char& c : text)
    if (std::iscntrl(static_cast<unsigned char>(c))) c = ' ';
  auto const is_second_space = [](char a, char b) { return a == ' ' && b == ' '; };
  text.erase(std::unique(text.begin(), text.end(), is_second_space), text.end());
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string in_quotes(std::string const& text) { return "'" + text + "'"; }

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
