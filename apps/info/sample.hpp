#pragma once

/// What the host or a device does at a moment, and as text: columns for people and scripts, JSON
/// for programs.

#include <optional>
#include <string>

namespace coir::apps::info {

/// The load of the host or a device at a moment. What isn't known is none.
struct Sample {
  std::string device;                 ///< "cpu", "gpu0"
  std::string name;                   ///< as its maker calls it
  std::optional<double> load;         ///< from 0 to 1: the part of the time in which it worked
  std::optional<double> memory_used;  ///< bytes
  std::optional<double> memory;       ///< bytes of all
  std::optional<double> power;        ///< W
  std::optional<double> temperature;  ///< degrees Celsius
  std::optional<double> clock;        ///< Hz
};

/// The headings of row_text(), with their units: "device  load/% ...".
std::string heading_text();

/// One line without its end: a column each for the device, its load in %, memory that is used and
/// all of it in GiB, power in W, temperature in degrees Celsius and clock in MHz; "-" for what
/// isn't known. No cell holds a blank.
std::string row_text(Sample const& sample);

/// A sample as one line of JSON, in SI units and bytes, with the time and the device's name; null
/// for what isn't known.
std::string json_text(Sample const& sample, std::string const& time);

}  // namespace coir::apps::info
