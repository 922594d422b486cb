#pragma once

/// Command-line options whose errors name the option, the value, the limit and the remedy.

#include <support/command_line.hpp>
#include <support/progress.hpp>
#include <support/text.hpp>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps {

/// Reads a whole number written in decimal.
///
/// \throws PreconditionError unless `text` is one, from `lowest` to `highest`
std::int64_t parse_whole_number(std::string const& option, std::string const& text,
                                std::int64_t lowest, std::int64_t highest);

/// Reads a finite number.
///
/// \throws PreconditionError unless `text` is one
double parse_number(std::string const& option, std::string const& text);

/// Reads a finite number above zero.
///
/// \throws PreconditionError unless `text` is one
double parse_positive_number(std::string const& option, std::string const& text);

/// \throws PreconditionError naming all choices
[[noreturn]] void reject_choice(std::string const& option, std::string const& text,
                                std::vector<std::string> const& choices);

/// An option that takes a whole number from `lowest` to `highest`.
///
/// \param value  set when the option is given; any type a std::int64_t can be assigned to
template <class Value>
Option add_whole_number(CommandLine& line, std::string const& name, Value& value,
                        std::string const& help, std::int64_t lowest,
                        std::int64_t highest = std::numeric_limits<std::int64_t>::max()) {
  auto const set = [=, &value](std::string const& text) {
    value = static_cast<Value>(parse_whole_number(name, text, lowest, highest));
  };
  return line.add_option(name, set, help).type_name("N");
}

/// An option that takes any finite number.
///
/// \param value  set when the option is given; any type a double can be assigned to
template <class Value>
Option add_number(CommandLine& line, std::string const& name, Value& value,
                  std::string const& help) {
  auto const set = [=, &value](std::string const& text) { value = parse_number(name, text); };
  return line.add_option(name, set, help).type_name("X");
}

/// An option that takes a finite number above zero.
///
/// \param value  set when the option is given; any type a double can be assigned to
template <class Value>
Option add_positive_number(CommandLine& line, std::string const& name, Value& value,
                           std::string const& help) {
  auto const set = [=, &value](std::string const& text) {
    value = parse_positive_number(name, text);
  };
  return line.add_option(name, set, help).type_name("X");
}

/// An option that takes one of several words.
///
/// \param value    set when the option is given
/// \param choices  each word with the value that it stands for
template <class Value, class Choice>
Option add_choice(CommandLine& line, std::string const& name, Value& value,
                  std::vector<std::pair<std::string, Choice>> const& choices,
                  std::string const& help) {
  std::vector<std::string> words;
  for (auto const& choice : choices) words.push_back(choice.first);
  auto const set = [=, &value](std::string const& text) {
    for (auto const& [word, meaning] : choices)
      if (word == text) {
        value = meaning;
        return;
      }
    reject_choice(name, text, words);
  };
  return line.add_option(name, set, help).type_name(joined(words, "|"));
}

/// An option that names a file, which sets `path`.
Option add_file(CommandLine& line, std::string const& name, std::filesystem::path& path,
                std::string const& help);

/// An option that names a file or a folder, which sets `path`.
///
/// \param type_name  which of them, in --help: "FILE", "FOLDER", "FILE|FOLDER"
Option add_path(CommandLine& line, std::string const& name, std::filesystem::path& path,
                std::string const& type_name, std::string const& help);

/// Adds --progress, and --quiet, which turns progress off. They exclude each other.
void add_progress_and_quiet(CommandLine& line, ProgressMode& progress, bool& quiet);

}  // namespace coir::apps
