#pragma once

#include "figures.hpp"
#include "fleet.hpp"
#include "model.hpp"

#include <compare/html_page.hpp>
#include <support/report.hpp>

#include <optional>
#include <string>
#include <vector>

namespace coir::apps::offload {

/// A line of the table: the work at a size.
struct SizeRow {
  double size;
  Times times;
  double flops_per_value;  ///< that the work does, of each value transferred; 0 if none is
  std::optional<double> needed_per_value;  ///< that it would have to do
  std::optional<double> repeats;           ///< from which on it pays
};

/// The answer for one kind of work.
struct Answer {
  OffloadWork work;
  std::string source;  ///< of the work: "told by options", "compare.json, ..."
  double from = 1, to = 1;
  double value_bytes = 8;
  Speeds speeds;
  std::vector<SizeRow> rows;
  std::vector<BreakEven> break_evens;
  Extreme worst{1, 1}, best{1, 1};
};

/// The answer for a range of sizes; those of the table are the measured ones, or round numbers and
/// both ends.
///
/// \throws PreconditionError if a time isn't above zero or isn't finite
Answer answer_for(OffloadWork const& work, std::string const& source, Speeds const& speeds,
                  double from, double to, double value_bytes);

/// The answer for a fleet of jobs.
struct FleetAnswer {
  std::vector<Job> jobs;
  std::vector<Policy> policies;
  double stop_after = 1;
};

/// Works out the times of the jobs. \throws PreconditionError as answer_for()
FleetAnswer answer_for(std::vector<Job> jobs, Speeds const& speeds, double stop_after);

/// Each figure, its value and who says so.
Grid figures_grid(MachineFigures const& figures);

/// The laws of the work, a row for each.
Grid work_grid(Answer const& answer);
Grid sizes_grid(Answer const& answer);
Grid jobs_grid(FleetAnswer const& answer);
Grid policies_grid(FleetAnswer const& answer);

/// Break-evens, extremes and thresholds, a sentence each.
std::vector<std::string> findings(Answer const& answer);
std::vector<std::string> findings(FleetAnswer const& answer);

/// "12.3 times as fast", "1.5 times as slow"
std::string gain_words(double gain);

/// Everything, in SI units; what isn't known is null.
Report offload_report(MachineFigures const& figures, std::optional<Answer> const& answer,
                      std::optional<FleetAnswer> const& fleet);

/// One page of HTML with plots: time against size, and what each kind of job gains or loses.
std::string page_of(MachineFigures const& figures, std::optional<Answer> const& answer,
                    std::optional<FleetAnswer> const& fleet);

/// For a terminal.
std::string text_of(MachineFigures const& figures, std::optional<Answer> const& answer,
                    std::optional<FleetAnswer> const& fleet);

}  // namespace coir::apps::offload
