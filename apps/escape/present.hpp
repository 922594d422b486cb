#pragma once

#include "settings.hpp"

#include <support/compute_on.hpp>
#include <support/report.hpp>

#include <cstdint>
#include <string>

namespace coir::apps::escape {

struct EscapeFigures {
  double seconds = 0;
  std::int64_t steps = 0;
  std::int64_t inside = 0;
  Hardware hardware;
};

/// The report, as --report writes it.
Report escape_report(EscapeFigures const& figures, EscapeSettings const& settings);

/// Three lines.
std::string summary_of(EscapeFigures const& figures, EscapeSettings const& settings);

}  // namespace coir::apps::escape
