#pragma once

#include "sample.hpp"

#include <info/processor_energy.hpp>

#include <coir/core/other_programs.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace coir::apps::info {

/// Tells what the host does, by the files in which Linux says so. The load and the power are those
/// since the last sample, or since this was made.
class HostMonitor {
 public:
  /// \param proc  where /proc is
  /// \param sys   where /sys is
  explicit HostMonitor(std::filesystem::path proc = "/proc", std::filesystem::path sys = "/sys");

  Sample sample();

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<double> power();
  std::optional<double> temperature() const;
  std::optional<double> clock(std::string const& cpuinfo) const;

  std::filesystem::path proc_, sys_;
  ProcessorEnergy energy_;
  std::optional<CoreTimes> times_;
  Clock::time_point when_;  // the energy was read
  std::optional<double> joules_;
};

}  // namespace coir::apps::info
