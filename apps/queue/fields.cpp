#include "fields.hpp"

#include "letters.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>

namespace coir::apps::queue {

namespace {

constexpr Seconds day = 86400;
constexpr Seconds longest = 1000 * 366 * day;

/// Takes a whole number of `fewest` to `most` digits from the front of the text.
std::optional<std::int64_t> take_number(std::string_view& text, std::size_t fewest,
                                        std::size_t most) {
  std::int64_t number = 0;
  std::size_t n = 0;
  while (n < text.size() && n < most && is_digit(text[n])) number = 10 * number + (text[n++] - '0');
  if (n < fewest) return {};
  text.remove_prefix(n);
  return number;
}

bool take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

/// Days from 1970-01-01 to a date; nothing if the calendar doesn't have it, or outside of the years
/// 1970 to 2199.
std::optional<std::int64_t> days_before(std::int64_t year, std::int64_t month,
                                        std::int64_t of_month) {
  std::chrono::year_month_day const date{std::chrono::year(static_cast<int>(year)),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(of_month))};
  if (year < 1970 || year > 2199 || !date.ok()) return {};
  return std::chrono::sys_days(date).time_since_epoch().count();
}

/// 1024 to the power that a unit stands for; 0 for what is none.
double factor_of(char unit) {
  std::size_t const power = std::string_view("kmgtpe").find(lower(unit));
  return power == std::string_view::npos ? 0 : std::pow(1024., static_cast<double>(power + 1));
}

/// Takes a number with digits before its point or comma, and perhaps behind it.
std::optional<double> take_decimal(std::string_view& text) {
  auto const whole = take_number(text, 1, 18);
  if (!whole) return {};
  auto number = static_cast<double>(*whole);
  if (text.starts_with('.') || text.starts_with(',')) {
    text.remove_prefix(1);
    std::size_t const before = text.size();
    auto const behind = take_number(text, 1, 9);
    if (!behind) return {};
    number +=
        static_cast<double>(*behind) / std::pow(10., static_cast<double>(before - text.size()));
  }
  return number;
}

}  // namespace

std::optional<Seconds> parse_moment(std::string_view text) {
  if (text.size() < 19) {
    auto const seconds = take_number(text, 1, 12);
    constexpr Seconds year_2200 = 7258118400;
    if (!seconds || !text.empty() || *seconds >= year_2200) return {};
    return seconds;
  }
  constexpr std::array<std::string_view, 6> before = {"", "-", "-", "T ", ":", ":"};
  std::array<std::int64_t, 6> parts = {};  // from the year to the second
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (n > 0) {
      if (text.empty() || before[n].find(text.front()) == std::string_view::npos) return {};
      text.remove_prefix(1);
    }
    std::size_t const digits = n == 0 ? 4 : 2;
    auto const part = take_number(text, digits, digits);
    if (!part) return {};
    parts[n] = *part;
  }
  auto const [year, month, of_month, hour, minute, second] = parts;
  auto const days = days_before(year, month, of_month);
  if (!text.empty() || !days || hour > 23 || minute > 59 || second > 60) return {};
  return *days * day + hour * 3600 + minute * 60 + second;
}

bool is_absent(std::string_view text) {
  return text.empty() || equal_without_case(text, "unknown") || equal_without_case(text, "none") ||
         text == "N/A" || text == "(null)" || equal_without_case(text, "invalid");
}

std::optional<Seconds> parse_duration(std::string_view text) {
  std::int64_t days = 0;
  std::array<std::int64_t, 3> parts = {};
  std::size_t count = 0;
  bool has_days = false;
  if (std::size_t const dash = text.find('-'); dash != std::string_view::npos) {
    auto const given = take_number(text, 1, 6);
    if (!given || !take(text, '-')) return {};
    days = *given;
    has_days = true;
  }
  do {
    auto const part = take_number(text, 1, 9);
    if (!part || count == 3) return {};
    parts[count++] = *part;
  } while (take(text, ':'));
  if (!text.empty()) return {};
  if (!has_days && count == 1) return {};  // minutes for sbatch, and nothing that sacct writes
  Seconds total = days * day;
  if (has_days || count == 3)
    total += parts[0] * 3600 + parts[1] * 60 + parts[2];
  else
    total += parts[0] * 60 + parts[1];
  if (total > longest) return {};
  return total;
}

bool is_no_limit(std::string_view text) {
  return equal_without_case(text, "unlimited") || equal_without_case(text, "partition_limit") ||
         equal_without_case(text, "infinite");
}

std::optional<Memory> parse_memory(std::string_view text) {
  auto const number = take_decimal(text);
  if (!number) return {};
  Memory memory;
  double factor = factor_of('M');
  if (!text.empty() && factor_of(text.front()) > 0) {
    factor = factor_of(text.front());
    text.remove_prefix(1);
  }
  if (take(text, 'n'))
    memory.of = MemoryOf::node;
  else if (take(text, 'c'))
    memory.of = MemoryOf::core;
  if (!text.empty()) return {};
  memory.bytes = *number * factor;
  return memory;
}

std::optional<std::int64_t> parse_count(std::string_view text) {
  auto const number = take_decimal(text);
  if (!number) return {};
  double factor = 1;
  if (!text.empty()) {
    factor = text == "K" ? 1e3 : text == "M" ? 1e6 : text == "G" ? 1e9 : 0;
    if (factor == 0) return {};
  }
  double const count = *number * factor;
  if (count > static_cast<double>(most_things)) return {};
  return std::llround(count);
}

std::optional<Resources> parse_resources(std::string_view text) {
  Resources resources;
  std::optional<std::int64_t> typed_gpus;
  while (!text.empty()) {
    // Between the digits of "mem=3,50G" a comma is a decimal one: a name begins with a letter.
    std::size_t end = text.find(',');
    while (end != std::string_view::npos && end + 1 < text.size() && is_digit(text[end + 1]))
      end = text.find(',', end + 1);
    std::string_view const part = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    std::size_t const equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) return {};
    std::string_view const name = part.substr(0, equals), value = part.substr(equals + 1);
    if (name == "mem") {
      auto const memory = parse_memory(value);
      if (!memory) return {};
      resources.bytes = memory->bytes;
      continue;
    }
    bool const is_typed = name.starts_with("gres/gpu:");
    if (!is_typed && name != "cpu" && name != "node" && name != "gres/gpu") continue;
    auto const count = parse_count(value);
    if (!count) return {};
    if (name == "cpu")
      resources.cores = count;
    else if (name == "node")
      resources.nodes = count;
    else if (is_typed)
      typed_gpus = typed_gpus.value_or(0) + *count;
    else
      resources.gpus = count;
  }
  if (!resources.gpus) resources.gpus = typed_gpus;
  return resources;
}

}  // namespace coir::apps::queue
