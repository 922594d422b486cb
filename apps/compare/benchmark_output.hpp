#pragma once

/// Reads the output of a program of Google Benchmark with --benchmark_format=json, also if it died
/// while printing.

#include <support/report.hpp>

#include <map>
#include <string>
#include <vector>

namespace coir::apps::compare {

/// A row that ended.
struct BenchmarkRow {
  std::string name;    ///< without "/manual_time" and the like: "sum/256"
  std::string error;   ///< why it gave no time; empty if it did
  double seconds = 0;  ///< of one call: the counter "seconds", else the time of an iteration
  std::map<std::string, double> counters;
};

struct BenchmarkOutput {
  bool has_context = false;  ///< false: it ended before its first row began
  Report context;            ///< the machine, as bench/support adds it
  std::vector<BenchmarkRow> rows;
};

/// Reads all rows that are whole; what follows the last of them is passed over. Text before the
/// JSON, too.
BenchmarkOutput read_benchmark_output(std::string const& text);

/// Whether the list of rows has begun, in a part of the text.
///
/// \param at  where to begin; set to where to go on when there is more text
bool rows_have_begun(std::string const& text, std::size_t& at);

/// The number of rows that are whole, from a part of the text on.
///
/// \param at  where to begin; set to where to go on when there is more text
int count_rows(std::string const& text, std::size_t& at);

/// "sum/256/manual_time" -> "sum/256"
std::string without_kind_of_time(std::string const& name);

/// A regular expression of ECMAScript that matches one of the names and nothing else.
std::string filter_for(std::vector<std::string> const& names);

}  // namespace coir::apps::compare
