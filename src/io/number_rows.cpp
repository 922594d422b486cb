#include <coir/core/errors.hpp>
#include <coir/core/memory.hpp>
#include <coir/io/number_rows.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

namespace coir::io {

namespace {

/// The words of a line, without the comment at its end.
std::vector<std::string_view> words_of_row(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  for (;;) {
    std::size_t const begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find_first_of(blanks)));
    line.remove_prefix(words.back().size());
  }
}

bool read_number(std::string_view text, double& number) {
  if (text.starts_with('+')) text.remove_prefix(1);
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

NumberRows decode_number_rows(std::string_view text, std::string_view name, std::size_t columns,
                              std::string_view meaning) {
  auto const most = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  // A row with blanks between its numbers has two bytes for each at least.
  std::size_t const numbers =
      columns > 0 ? std::min(most * columns, text.size() / 2 + 1) : text.size() / 2 + 1;
  expects_memory<Kokkos::HostSpace>(
      static_cast<std::int64_t>(numbers * sizeof(double) + most * sizeof(std::int64_t)),
      "reading " + std::string(name));
  NumberRows rows{.columns = columns};
  rows.numbers.reserve(numbers);
  rows.lines.reserve(most);
  std::int64_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    auto const words = words_of_row(text.substr(at, end - at));
    at = end + 1;
    ++line;
    if (words.empty()) continue;
    auto const fail = [&](std::string const& what) {
      throw InputError(std::string(name) + ": line " + std::to_string(line) + ": " + what);
    };
    if (rows.columns == 0) rows.columns = words.size();
    if (words.size() != rows.columns)
      fail("columns must be " + std::to_string(rows.columns) + ", " + std::string(meaning) +
           (columns == 0 ? ", as in the first row" : "") + ", not " + std::to_string(words.size()) +
           ": " +
           (words.size() > rows.columns ? "leave the others out" : "separate columns by blanks") +
           ", and put # before text");
    for (std::size_t c = 0; c < words.size(); ++c) {
      double number = 0;
      if (!read_number(words[c], number))
        fail("column " + std::to_string(c + 1) +
             " is not a number: write it as 1.5e-3, separate columns by blanks, and put # before "
             "text");
      rows.numbers.push_back(number);
    }
    rows.lines.push_back(line);
  }
  return rows;
}

}  // namespace coir::io
