#include "present.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace coir::apps::compare {

namespace {

/// A text as it is, in a table or a list: on one line, and with nothing in it that would end its
/// cell, be a tag ("<float>") or change its looks.
std::string cell(std::string const& text) {
  constexpr std::string_view special = "|\\<[*`";
  std::string safe;
  for (char const c : text) {
    if (special.find(c) != std::string_view::npos) safe += '\\';
    safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return safe;
}

/// Characters of UTF-8, as wide as a terminal shows them, more or less.
std::size_t width_of(std::string const& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string list(std::vector<std::string> const& lines) {
  std::string text;
  for (auto const& line : lines) text += "- " + cell(line) + "\n";
  return text;
}

}  // namespace

std::string markdown_table(Grid const& grid) {
  std::vector<std::vector<std::string>> rows{grid.headings};
  rows.insert(rows.end(), grid.rows.begin(), grid.rows.end());
  std::vector<std::size_t> widths(grid.headings.size(), 3);
  for (auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = cell(row[c]);
      widths[c] = std::max(widths[c], width_of(row[c]));
    }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += '|';
    for (std::size_t c = 0; c < widths.size(); ++c) {
      std::size_t const padding = widths[c] - width_of(rows[r][c]);
      text += ' ';
      if (c > 0) text.append(padding, ' ');
      text += rows[r][c];
      if (c == 0) text.append(padding, ' ');
      text += " |";
    }
    text += '\n';
    if (r > 0) continue;
    text += '|';
    for (std::size_t c = 0; c < widths.size(); ++c) {
      text += ' ';
      text.append(c == 0 ? widths[c] : widths[c] - 1, '-');
      text += c == 0 ? " |" : ": |";
    }
    text += '\n';
  }
  return text;
}

std::string markdown_of(Comparison const& comparison) {
  Analysis const analysis = analyse(comparison);
  std::string text = "# coir-compare\n\n" + cell(headline(comparison)) + "\n\n";
  text += list(findings(analysis)) + list(doubts(analysis)) + "\n";
  text += markdown_table(machines_grid(analysis));
  text += "\n## In short\n\n" + markdown_table(overview_grid(analysis));
  text += '\n';
  if (analysis.contestants.size() > 1)
    text += cell(overtaking_title(analysis)) + ":\n\n" + markdown_table(overtaking_grid(analysis)) +
            "\n";
  text += list(explanations(analysis));
  std::string group;
  for (auto const& panel : analysis.panels) {
    if (panel.work->group != group) text += "\n## " + cell(group = panel.work->group) + "\n";
    text += "\n**" + cell(panel.work->title) + "** (sizes in " +
            cell(unit_words(panel.work->unit)) + ")\n\n" +
            markdown_table(panel_grid(panel, analysis));
  }
  auto const left_out = left_out_lines(comparison);
  if (!left_out.empty() || !analysis.notes.empty())
    text += "\n## Left out\n\n" + list(analysis.notes) + list(left_out);
  return text;
}

}  // namespace coir::apps::compare
