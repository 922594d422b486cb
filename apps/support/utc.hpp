#pragma once

#include <chrono>
#include <string>

namespace coir::apps {

/// A moment as ISO 8601 writes it, in UTC, with its digits behind the second cut off: "2026-01-31T08:15:00Z".
std::string utc_text(std::chrono::system_clock::time_point time);

/// UTC with three digits behind the second: "2026-01-31T08:15:00.250Z".
std::string utc_text_with_milliseconds(std::chrono::system_clock::time_point time);

}  // namespace coir::apps
