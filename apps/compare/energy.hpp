#pragma once

/// \file
/// Energy that processors and devices count themselves.

#include <info/nvml.hpp>
#include <info/processor_energy.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace coir::apps::compare {

/// The processors' counters (RAPL) and that of the NVIDIA device that programs see first (NVML).
class EnergyCounters {
 public:
  /// \param powercap  where Linux has the processors' counters
  explicit EnergyCounters(std::filesystem::path const& powercap = "/sys/class/powercap");

  /// Joules since this was made, of all processors together; none if they count none that may be read. To be asked at least
  /// once a minute: counters begin anew after some.
  std::optional<double> processors();

  /// Joules of the device since its driver was loaded; none without a device that counts them.
  std::optional<double> device() const;

 private:
  ProcessorEnergy processors_;
  Nvml nvml_;
  Nvml::Device device_;
};

/// The mean power while each row of a program ran, by the counters of what it runs on.
class PowerMeter {
 public:
  PowerMeter(EnergyCounters& counters, bool on_device)
      : counters_(counters), on_device_(on_device) {}

  /// The first row begins now.
  void begin() { last_ = now(); }
  bool has_begun() const { return last_.has_value(); }

  /// So many more rows have ended since begin(), or since the last call. What took less than a fifth of a second isn't
  /// told: counters of devices are brought up to date some ten times a second.
  void rows_ended(std::size_t count);

  /// The mean power during the row that ended after `row` others; none without a counter.
  std::optional<double> watts(std::size_t row) const;

 private:
  struct Reading {
    std::chrono::steady_clock::time_point time;
    std::optional<double> joules;
  };
  Reading now();

  EnergyCounters& counters_;
  bool on_device_;
  std::optional<Reading> last_;
  std::vector<std::optional<double>> watts_;
};

}  // namespace coir::apps::compare
