#pragma once

/// \file
/// Outcomes as a report, as text and as a table.

#include "settings.hpp"
#include "solve.hpp"

#include <support/compute_on.hpp>
#include <support/report.hpp>

#include <optional>
#include <string>
#include <vector>

namespace coir::apps::jacobi {

/// The facts that all outcomes of a run have in common.
struct JacobiFacts {
  int rows = 0;
  int columns = 0;
  Precision precision = Precision::float32;
  Hardware hardware;
  int ranks = 1;
  std::optional<double> triad_bandwidth;  ///< bytes/s, if it was measured
  std::string without_bandwidth;          ///< why it wasn't: "the fields fit into the cache"
  bool had_colours = false;  ///< whether the input had colours, which were turned into grey
};

/// Cells updated per second: a sweep or a cycle counts every cell once.
double cells_per_second(JacobiOutcome const& outcome, JacobiFacts const& facts);

/// The share of the measured triad bandwidth that a sweep with two reads and one write per cell
/// would need at this speed. Above 1 the sweeps ran in cache. NaN if it wasn't measured, and for
/// schemes that make no sweeps.
double bandwidth_share(JacobiOutcome const& outcome, JacobiFacts const& facts);

/// The report of one outcome, as --report writes it.
Report jacobi_report(JacobiOutcome const& outcome, JacobiFacts const& facts);

/// A few lines on one outcome.
std::string summary_of(JacobiOutcome const& outcome, JacobiFacts const& facts);

/// All outcomes side by side.
std::string table_of(std::vector<JacobiOutcome> const& outcomes, JacobiFacts const& facts);

}  // namespace coir::apps::jacobi
