#pragma once

/// Pages of HTML that need no network, well-formed as XML too, light or dark as the browser is.

#include <string>
#include <vector>

namespace coir::apps {

/// A table: headings, and rows with a cell for each.
struct Grid {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

/// A text as HTML takes it between tags and in attributes.
std::string escaped(std::string const& text);

/// Quantities with Greek prefixes where programs write u: "3.1 x, 12 us" -> "3.1 x, 12 &#181;s",
/// escaped.
std::string quantity(std::string const& text);

/// All up to the body's content, with the styles of tables and charts.
std::string begin_page(std::string const& title);
std::string end_page();

/// The first cell of a row is its heading. On narrow pages a row is a block with a line for each
/// cell that isn't empty.
///
/// \param kind  its class: "machines", "overview" or "sizes"
std::string page_table(Grid const& grid, std::string const& kind);

/// Sentences, one below the other.
std::string page_list(std::vector<std::string> const& lines);

}  // namespace coir::apps
