#pragma once

/// Which columns of sacct's are read, and where a text has them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coir::apps::queue {

/// The columns that are read; others are passed over.
enum class Column : std::uint8_t {
  job,
  partition,
  submit,
  eligible,
  start,
  state,
  elapsed,
  limit,
  limit_minutes,
  requested_cores,
  cores,
  memory,
  requested_nodes,
  nodes,
  requested_resources,
  resources,
  cluster,
  user,
  account,
  none,  ///< of no interest; also how many there are
};
inline constexpr std::size_t column_count = static_cast<std::size_t>(Column::none);

/// The name that sacct gives a column: "ReqTRES".
char const* column_name(Column column);

/// The fields of a row, one for each Column.
using Row = std::array<std::string_view, column_count>;

inline std::string_view of(Row const& row, Column column) {
  return row[static_cast<std::size_t>(column)];
}

/// Where the columns are, from a text's first line.
class Columns {
 public:
  /// \param line  without its end: "JobID|Partition|Submit|Start"; names in any case. What stands
  ///   behind the first name separates the columns: one of | ; , and the tabulator. sacct -p's
  ///   separator at the end is understood, and so is a byte order mark at the beginning.
  /// \param where  the file and line, for messages
  /// \throws InputError naming the columns that are missing, and how to get them
  Columns(std::string_view line, std::string const& where);

  bool has(Column column) const { return has_[static_cast<std::size_t>(column)]; }
  std::size_t size() const { return order_.size(); }

  /// Takes a line apart.
  ///
  /// \param row  set to views of `line`; empty where there is no such column
  /// \returns    how many fields the line has: those of `row` hold only if it is size()
  std::size_t split(std::string_view line, Row& row) const;

  /// The names, as they were read.
  std::string const& line() const { return line_; }

 private:
  std::string line_;
  char separator_ = '|';
  std::vector<Column> order_;
  std::array<bool, column_count> has_ = {};
};

}  // namespace coir::apps::queue
