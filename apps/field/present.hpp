#pragma once

/// \file
/// The plan and the results of a run, as text and as a report.

#include "run.hpp"

#include <support/report.hpp>

#include <string>

namespace coir::apps::field {

/// Three lines before the run.
std::string plan_of(Run const& run, MemoryPlan const& memory, Hardware const& hardware);

/// Some lines after it.
std::string summary_of(Run const& run, Figures const& figures);

/// The report, as --report writes it.
Report report_of(Run const& run, Figures const& figures);

}  // namespace coir::apps::field
