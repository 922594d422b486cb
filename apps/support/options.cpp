#include <support/options.hpp>

#include <coir/core/errors.hpp>

#include <charconv>
#include <cmath>
#include <system_error>

namespace coir::apps {

namespace {

/// True if all of `text` is one number that fits.
template <class Number>
bool read(std::string const& text, Number& number) {
  char const* const end = text.data() + text.size();
  auto const result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

std::string limits(std::int64_t lowest, std::int64_t highest) {
  return "from " + std::to_string(lowest) + " to " + std::to_string(highest);
}

}  // namespace

std::int64_t parse_whole_number(std::string const& option, std::string const& text,
                                std::int64_t lowest, std::int64_t highest) {
  std::int64_t number = 0;
  bool const fits = read(text, number) && number >= lowest && number <= highest;
  expects(fits, option + " must be a whole number " + limits(lowest, highest), in_quotes(text));
  return number;
}

double parse_number(std::string const& option, std::string const& text) {
  double number = 0;
  bool const fits = read(text, number) && std::isfinite(number);
  expects(fits, option + " must be a finite number", in_quotes(text));
  return number;
}

double parse_positive_number(std::string const& option, std::string const& text) {
  double number = 0;
  bool const fits = read(text, number) && std::isfinite(number) && number > 0;
  expects(fits, option + " must be a number above 0", in_quotes(text));
  return number;
}

void reject_choice(std::string const& option, std::string const& text,
                   std::vector<std::string> const& choices) {
  throw PreconditionError(option + " must be one of " + joined(choices, ", ") + ", not " +
                          in_quotes(text));
}

Option add_path(CommandLine& line, std::string const& name, std::filesystem::path& path,
                std::string const& type_name, std::string const& help) {
  std::string const kind = type_name == "FILE"     ? "a file"
                           : type_name == "FOLDER" ? "a folder"
                                                   : "a file or folder";
  auto const set = [=, &path](std::string const& text) {
    expects(!text.empty(), name + " must name " + kind + ", not ''");
    path = text;
  };
  return line.add_option(name, set, help).type_name(type_name);
}

Option add_file(CommandLine& line, std::string const& name, std::filesystem::path& path,
                std::string const& help) {
  return add_path(line, name, path, "FILE", help);
}

void add_progress_and_quiet(CommandLine& line, ProgressMode& progress, bool& quiet) {
  auto const option = line.add_flag(
      "--progress", [&progress] { progress = ProgressMode::always; },
      "Show progress also where there is no terminal");
  auto const set_quiet = [&progress, &quiet](bool on) {
    quiet = on;
    if (on) progress = ProgressMode::never;
  };
  line.add_flag("--quiet", set_quiet, "Show no progress and print nothing but errors")
      .excludes(option);
}

}  // namespace coir::apps
