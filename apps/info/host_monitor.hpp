#pragma once

#include "sample.hpp"
#include "system_text.hpp"

#include <info/processor_energy.hpp>
#include <info/processors.hpp>

#include <chrono>
#include <filesystem>
#include <optional>

namespace coir::apps::info {

/// Tells what the host does, by the files in which Linux says so. The load and the power are those since the last sample,
/// or since this was made.
class HostMonitor {
 public:
  /// \param proc  where /proc is
  /// \param sys   where /sys is
  explicit HostMonitor(std::filesystem::path proc = "/proc", std::filesystem::path sys = "/sys");

  Sample sample();

 private:
  using Clock = std::chrono::steady_clock;
  Reading load();
  Reading power();
  Reading temperature() const;
  Reading clock(std::string const& cpuinfo) const;

  std::filesystem::path proc_, sys_;
  ProcessorEnergy energy_;
  std::optional<CoreTimes> times_;
  Clock::time_point when_;  // the energy was read
  Reading joules_;
};

}  // namespace coir::apps::info
