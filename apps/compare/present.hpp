#pragma once

/// \file
/// Words and numbers that the tables and the page share.

#include "analysis.hpp"

#include <string>
#include <vector>

namespace coir::apps::compare {

/// A table: headings, and rows with a cell for each.
struct Grid {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};

/// What each machine is, and its limits: a row for each contestant.
Grid machines_grid(Analysis const& analysis);

/// Each work at the largest size that all contestants measured, or the first one's largest: times, how many times as fast
/// as the first contestant each other one is, and where it overtakes.
Grid overview_grid(Analysis const& analysis);

/// All sizes of a work: times, shares of the limit, speed-ups, joules.
Grid panel_grid(Panel const& panel, Analysis const& analysis);

/// What wasn't measured, a sentence each, one for all of a work.
std::vector<std::string> left_out_lines(Comparison const& comparison);

/// What the figures are, a sentence each.
std::vector<std::string> explanations(Analysis const& analysis);

/// The first line: sets and dates.
std::string headline(Comparison const& comparison);

/// 106400 -> "106 k", 1e8 -> "100 M", with three digits at most.
std::string count_text(double count);

/// A size as people write it: "400 x 266", "64^3", "100 M".
std::string size_words(std::string const& numbers, double size);

/// "from 12.3 k cells on", "at every size", "never".
std::string overtaking_words(Overtaking const& overtaking, std::string const& unit);

}  // namespace coir::apps::compare
