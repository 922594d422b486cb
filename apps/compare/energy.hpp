#pragma once

/// \file
/// Energy that processors and devices count themselves.

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace coir::apps::compare {

/// The processors' counters (RAPL, as Linux shows it to those who may read it) and that of the first NVIDIA device, by
/// NVML, which is opened at run time.
class EnergyCounters {
 public:
  /// \param powercap  where Linux has the processors' counters
  explicit EnergyCounters(std::filesystem::path powercap = "/sys/class/powercap");
  ~EnergyCounters();
  EnergyCounters(EnergyCounters const&) = delete;
  EnergyCounters& operator=(EnergyCounters const&) = delete;

  /// Joules since this was made, of all processors together; none if they count none that may be read. To be asked at least
  /// once a minute: counters begin anew after some.
  std::optional<double> processors();

  /// Joules of the device since its driver was loaded; none without a device that counts them.
  std::optional<double> device();

 private:
  /// A processor's counter, which begins anew at its range.
  struct Zone {
    std::filesystem::path counter;
    double range = 0, last = 0, sum = 0;  // microjoules
    bool read();
  };
  struct Nvml;
  std::vector<Zone> zones_;
  std::unique_ptr<Nvml> nvml_;
};

}  // namespace coir::apps::compare
