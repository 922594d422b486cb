#include "columns.hpp"

#include "letters.hpp"

#include <coir/core/errors.hpp>

#include <support/text.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace coir::apps::queue {

namespace {

constexpr std::array<char const*, column_count> names = {
    "JobID",     "Partition",    "Submit",  "Eligible",  "Start",  "State",    "Elapsed",
    "Timelimit", "TimelimitRaw", "ReqCPUS", "AllocCPUS", "ReqMem", "ReqNodes", "AllocNodes",
    "ReqTRES",   "AllocTRES",    "Cluster", "User",      "Account"};

/// Other names of columns that hold the same.
constexpr std::array<std::pair<char const*, Column>, 3> aliases = {
    {{"JobIDRaw", Column::job}, {"NCPUS", Column::cores}, {"NNodes", Column::nodes}}};

constexpr std::array required = {Column::job, Column::partition, Column::submit, Column::start};

/// The column that has a name, or with `is_alias` another one; none if there is no such column.
Column column_named(std::string_view name, bool is_alias) {
  if (is_alias) {
    for (auto const& [alias, column] : aliases)
      if (equal_without_case(name, alias)) return column;
  } else {
    for (std::size_t n = 0; n < column_count; ++n)
      if (equal_without_case(name, names[n])) return static_cast<Column>(n);
  }
  return Column::none;
}

[[noreturn]] void refuse(std::string_view line, std::string const& where, std::string const& why) {
  std::string const begin = one_line(std::string(line.substr(0, 60)));
  throw InputError(where + ": " + why + ": it begins '" + begin +
                   "'; make the text by sacct -P -o JobID,Partition,Submit,Eligible,Start,State,"
                   "ReqCPUS,ReqMem,ReqTRES,Timelimit, with its line of names (without -n)");
}

}  // namespace

char const* column_name(Column column) { return names[static_cast<std::size_t>(column)]; }

Columns::Columns(std::string_view line, std::string const& where) : line_(line) {
  if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);  // of programs of Windows
  std::size_t const end = static_cast<std::size_t>(
      std::find_if_not(line.begin(), line.end(), is_letter) - line.begin());
  if (end == 0) refuse(line, where, "has no names of columns");
  bool const is_separated = end < line.size() && std::strchr("|;,\t", line[end]) != nullptr;
  if (!is_separated && line.find(' ') != std::string_view::npos)
    refuse(line, where, "has columns with blanks between them, which can't be told apart");
  if (is_separated) separator_ = line[end];

  std::vector<std::string_view> words;
  for (std::string_view rest = line;;) {
    std::size_t const next = rest.find(separator_);
    words.push_back(rest.substr(0, next));
    if (next == std::string_view::npos) break;
    rest.remove_prefix(next + 1);
  }
  order_.assign(words.size(), Column::none);
  // JobID counts where JobIDRaw stands beside it; of the same name twice the first.
  for (bool const is_alias : {false, true})
    for (std::size_t n = 0; n < words.size(); ++n) {
      Column const column = column_named(words[n], is_alias);
      if (column == Column::none || has(column)) continue;
      order_[n] = column;
      has_[static_cast<std::size_t>(column)] = true;
    }

  std::vector<std::string> missing;
  for (Column const column : required)
    if (!has(column)) missing.emplace_back(column_name(column));
  if (missing.empty()) return;
  bool const is_no_heading =
      std::all_of(order_.begin(), order_.end(), [](Column c) { return c == Column::none; });
  if (is_no_heading) refuse(line, where, "has no names of columns");
  throw InputError(where + ": lacks the column" + (missing.size() > 1 ? "s " : " ") +
                   joined(missing, ", ") + ": add " + (missing.size() > 1 ? "them" : "it") +
                   " to sacct's list, -o JobID,Partition,Submit,Start,...");
}

std::size_t Columns::split(std::string_view line, Row& row) const {
  std::size_t const columns = order_.size();
  char const* at = line.data();
  char const* const end = at + line.size();
  for (std::size_t n = 0;; ++n) {
    auto const* next =
        static_cast<char const*>(std::memchr(at, separator_, static_cast<std::size_t>(end - at)));
    char const* const stop = next == nullptr ? end : next;
    if (n < columns && order_[n] != Column::none)
      row[static_cast<std::size_t>(order_[n])] = {at, static_cast<std::size_t>(stop - at)};
    if (next == nullptr) return n + 1;
    at = next + 1;
  }
}

}  // namespace coir::apps::queue
