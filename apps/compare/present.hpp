#pragma once

/// A comparison for people: its page, the same in Markdown, and the words, numbers and tables that
/// both share.

#include "analysis.hpp"

#include <compare/html_page.hpp>

#include <string>
#include <vector>

namespace coir::apps::compare {

/// The comparison as one page of HTML that needs no network, well-formed as XML too.
std::string page_of(Comparison const& comparison);

/// The comparison in Markdown, its columns aligned so that it reads well on a terminal, too.
std::string markdown_of(Comparison const& comparison);

/// A table of Markdown: the first column aligned left, the others right.
std::string markdown_table(Grid const& grid);

/// Three sentences: how fast the contestants are beside the first one, or how near its limit a
/// single one comes; at which sizes they are faster, or what stays farthest from its limit; and how
/// far rounds agree.
std::vector<std::string> findings(Analysis const& analysis);

/// What holds the figures down or makes them doubtful, a sentence each: quotas of containers, other
/// programs.
std::vector<std::string> doubts(Analysis const& analysis);

/// Each contestant's machine and its limits: a row for each.
Grid machines_grid(Analysis const& analysis);

/// Each work at the size of telling_line(): times, beside those of others than the first contestant
/// how many times as fast they are, and with one contestant the share of its limit.
Grid overview_grid(Analysis const& analysis);

/// From which size on each other contestant is faster than the first, a row for each work.
Grid overtaking_grid(Analysis const& analysis);
std::string overtaking_title(Analysis const& analysis);

/// All sizes of a work, a row for each contestant: time, share of the limit, rate, energy, times as
/// fast as the first one.
Grid panel_grid(Panel const& panel, Analysis const& analysis);

/// Measurements that are missing and why: a sentence each, one for all of a work.
std::vector<std::string> left_out_lines(Comparison const& comparison);

/// Explanations of the figures, a sentence each.
std::vector<std::string> explanations(Analysis const& analysis);

/// The first line: sets and dates.
std::string headline(Comparison const& comparison);

/// The size of a work that the overview shows: the largest one that all contestants measured, else
/// the first one's largest.
SizeLine const& telling_line(Panel const& panel);

/// A size as people write it: "400 x 266", "64^3", "100 M".
std::string size_words(std::string const& numbers, double size);

/// The same of a line of a work, with its unit where that is bytes: "268 MB".
std::string size_words(Panel const& panel, SizeLine const& line);

/// How many times: "3.10", "41.2", "310".
std::string times_text(double ratio);

/// "85 %", and "421 %, cached" of what stays in a cache and is faster than memory; empty without a
/// limit.
std::string share_text(Point const& point);

/// What sizes count, in words: "cells", and "bytes" of every counter of bytes.
std::string unit_words(std::string const& unit);

/// "from between 16.4 k and 65.5 k cells on", "at every size", "never".
std::string overtaking_words(Overtaking const& overtaking, std::string const& unit);

}  // namespace coir::apps::compare
