#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

namespace coir::apps {

/// A moment as ISO 8601 writes it, in UTC, to the millisecond: "2026-01-31T08:15:00.250Z".
inline std::string utc_text(std::chrono::system_clock::time_point time) {
  auto const whole = std::chrono::floor<std::chrono::seconds>(time);
  std::time_t const seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  char text[64];
  std::size_t const size = std::strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &utc);
  auto const rest = std::chrono::floor<std::chrono::milliseconds>(time - whole).count();
  std::snprintf(text + size, sizeof text - size, ".%03dZ", static_cast<int>(rest));
  return text;
}

}  // namespace coir::apps
