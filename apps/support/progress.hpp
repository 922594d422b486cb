#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace coir::apps {

/// When a progress line is written.
enum class ProgressMode {
  automatic,  ///< if stderr is a terminal
  always,     ///< also into a pipe or file: --progress
  never,      ///< --quiet
};

/// One line on stderr that says how far a computation got, at which rate, and how long it takes
/// yet.
///
/// On a terminal the line is rewritten up to ten times a second; elsewhere a new line is written
/// every second. It is wiped from a terminal at the end.
class ProgressLine {
 public:
  /// \param task  what is running: "plain"
  /// \param unit  what is counted: "sweeps"
  ProgressLine(std::string task, std::string unit, ProgressMode mode);
  ~ProgressLine();
  ProgressLine(ProgressLine const&) = delete;
  ProgressLine& operator=(ProgressLine const&) = delete;

  /// \param total  0 if nobody knows, as of a pipe
  /// \param note   added to the line if not empty: "residual 1.2e-04"
  void update(std::int64_t done, std::int64_t total, std::string const& note = {});

 private:
  using Clock = std::chrono::steady_clock;
  std::string task_;
  std::string unit_;
  bool on_terminal_;
  bool enabled_;
  Clock::time_point start_;
  Clock::time_point next_;
  std::size_t width_ = 0;  // of what stands on the terminal
};

/// The text of a progress line: "plain: 42 %, 63000 of 150000 sweeps, 152 k/s, 0:23 left", or
/// "reading: 63000 bytes, 152 k/s" without a total.
///
/// \param seconds  since the start
std::string progress_text(std::string const& task, std::string const& unit, std::int64_t done,
                          std::int64_t total, double seconds, std::string const& note = {});

}  // namespace coir::apps
