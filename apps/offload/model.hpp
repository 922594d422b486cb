#pragma once

/// How long work takes on the cores and on a device, and where one overtakes the other. README.md
/// has the formulas.

#include "law.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace coir::apps::offload {

/// The speeds of a machine, in operations/s, bytes/s and seconds. A rate that isn't known is
/// infinite. Callers check that the rates that a work needs are known.
struct Speeds {
  static constexpr double unknown = std::numeric_limits<double>::infinity();
  double host_flops = unknown, host_bandwidth = unknown;
  double device_flops = unknown, device_bandwidth = unknown;
  double to_device = unknown, to_host = unknown;
  double launch = 0;
};

/// Seconds of a call at sizes in rising order, between which it is interpolated on straight lines
/// in the logarithms.
using Curve = std::vector<std::pair<double, double>>;

/// The seconds at a size from the first to the last one of the curve.
double interpolated(Curve const& curve, double size);

/// A kernel that was measured on both.
struct Measured {
  Curve host, device;
};

/// The largest number of a work's passes.
inline constexpr std::int64_t most_repeats = 1'000'000'000'000;

/// OffloadWork of a size n that is done on data that are transferred once: `in` before, `out` after
/// `repeats` passes.
struct OffloadWork {
  std::string name;
  Law flops, bytes, launches;  ///< of a pass
  Law in, out;                 ///< bytes
  double repeats = 1;
  std::optional<Measured> measured;  ///< in place of flops, bytes and launches
};

/// Seconds.
struct Times {
  double host = 0;
  double device = 0;
  double transfers = 0;  ///< of those on the device

  /// How many times as fast the device is; below 1 it loses.
  double gain() const { return host / device; }
};

Times times_of(OffloadWork const& work, Speeds const& speeds, double size);

/// From which number of repeats on the device is faster, if there is one.
std::optional<double> repeats_to_pay(OffloadWork const& work, Speeds const& speeds, double size);

/// The operations of a pass with which the device is as fast as the cores, all else being as it is.
/// 0 if the device is as fast without any; nothing if no number makes it so, or the work was
/// measured.
std::optional<double> flops_to_pay(OffloadWork const& work, Speeds const& speeds, double size);

/// A size where one overtakes the other.
struct BreakEven {
  double size;
  bool device_above;  ///< the device is faster above it, otherwise below it
};

/// Where a gain crosses 1 between two sizes, by bisection to the last bit between sizes in steps
/// of 4.4 % (2^(1/16)).
std::vector<BreakEven> break_evens(std::function<double(double)> const& gain, double from,
                                   double to);

/// The lowest or highest gain and its size.
struct Extreme {
  double gain, size;
};

/// Over the sizes in steps of 4.4 % and both ends: the worst loss and the best gain.
std::pair<Extreme, Extreme> extremes(std::function<double(double)> const& gain, double from,
                                     double to);

/// Sizes in steps of 2^(1/16) from one to another, both included.
std::vector<double> fine_sizes(double from, double to);

/// Operations for each value of `value_bytes` that is carried to the device and back, from which on
/// a device pays where operations are the limit and there are many values:  v (1/T_in + 1/T_out) /
/// (1/F_h - 1/F_d). Nothing if it never does, or a rate isn't known.
std::optional<double> flops_per_value(Speeds const& speeds, double value_bytes);

/// Bytes moved in memory for each byte that is carried there and back, likewise where memory is the
/// limit: (1/T_in + 1/T_out) / (1/B_h - 1/B_d).
std::optional<double> bytes_per_byte(Speeds const& speeds);

}  // namespace coir::apps::offload
