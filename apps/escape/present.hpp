#pragma once

/// \file
/// The results of a run, as a report and as text.

#include "settings.hpp"

#include <support/compute_on.hpp>
#include <support/memory_plan.hpp>
#include <support/report.hpp>

#include <cstdint>
#include <string>

namespace coir::apps::escape {

struct Figures {
  double seconds = 0;
  std::int64_t steps = 0;
  std::int64_t inside = 0;
  MemoryPlan memory;
  Hardware hardware;
};

/// The report, as --report writes it.
Report report_of(Figures const& figures, Settings const& settings);

/// Three lines.
std::string summary_of(Figures const& figures, Settings const& settings);

}  // namespace coir::apps::escape
