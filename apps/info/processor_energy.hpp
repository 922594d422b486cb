#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace coir::apps {

/// The energy that the host's processors count themselves (RAPL, as Linux shows it to those who may
/// read it).
class ProcessorEnergy {
 public:
  /// \param powercap  where Linux has the counters
  explicit ProcessorEnergy(std::filesystem::path const& powercap = "/sys/class/powercap");

  /// Joules since this was made, of all processors together. To be asked at least once a minute:
  /// counters begin anew after some. None if no counter may be read.
  std::optional<double> joules();

 private:
  /// A processor's counter, which begins anew at its range.
  struct Zone {
    std::filesystem::path counter;
    double range = 0, last = 0, sum = 0;  // microjoules
    bool read();
  };
  std::vector<Zone> zones_;
};

}  // namespace coir::apps
