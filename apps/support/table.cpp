#include <support/table.hpp>
#include <support/text.hpp>

#include <coir/core/errors.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace coir::apps {

Table::Table(std::vector<std::string> headings) { rows_.push_back(std::move(headings)); }

void Table::add_row(std::vector<std::string> cells) {
  expects(cells.size() == rows_.front().size(), "a row must have a cell for each heading");
  for (std::string& cell : cells) cell = one_line(std::move(cell));
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::size_t const columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  for (auto const& row : rows_)
    for (std::size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], row[c].size());

  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t c = 0; c < columns; ++c) {
      std::string const padding(widths[c] - rows_[r][c].size(), ' ');
      line += c == 0 ? rows_[r][c] + padding : "  " + padding + rows_[r][c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    if (r == 0) {
      std::size_t total = 2 * (columns - 1);
      for (std::size_t width : widths) total += width;
      text += std::string(total, '-') + '\n';
    }
  }
  return text;
}

}  // namespace coir::apps
