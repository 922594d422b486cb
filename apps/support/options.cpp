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

std::string quoted(std::string const& text) { return "'" + text + "'"; }

}  // namespace

std::int64_t parse_whole_number(std::string const& option, std::string const& text,
                                std::int64_t lowest, std::int64_t highest) {
  std::int64_t number = 0;
  bool const fits = read(text, number) && number >= lowest && number <= highest;
  expects(fits, option + " must be a whole number " + limits(lowest, highest), quoted(text));
  return number;
}

double parse_number(std::string const& option, std::string const& text) {
  double number = 0;
  bool const fits = read(text, number) && std::isfinite(number);
  expects(fits, option + " must be a finite number", quoted(text));
  return number;
}

double parse_positive_number(std::string const& option, std::string const& text) {
  double number = 0;
  bool const fits = read(text, number) && std::isfinite(number) && number > 0;
  expects(fits, option + " must be a number above 0", quoted(text));
  return number;
}

void reject_choice(std::string const& option, std::string const& text,
                   std::vector<std::string> const& choices) {
  throw PreconditionError(option + " must be one of " + CLI::detail::join(choices, ", ") +
                          ", not " + quoted(text));
}

}  // namespace coir::apps
