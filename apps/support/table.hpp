#pragma once

#include <string>
#include <vector>

namespace coir::apps {

/// A table of plain text: the first column aligned left, the others right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);

  /// Control characters, which names of files and machines may hold, become spaces.
  ///
  /// \throws PreconditionError unless there is a cell for each heading
  void add_row(std::vector<std::string> cells);

  /// The headings, a rule, and the rows, each line ended by a newline.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace coir::apps
