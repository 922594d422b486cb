#pragma once

#include "run.hpp"

#include <support/report.hpp>

#include <string>

namespace coir::apps::field {

/// Three lines before the run.
std::string plan_of(FieldRun const& run, MemoryPlan const& memory, Hardware const& hardware);

/// Some lines after it.
std::string summary_of(FieldRun const& run, FieldFigures const& figures);

/// The report, as --report writes it.
Report field_report(FieldRun const& run, FieldFigures const& figures);

}  // namespace coir::apps::field
