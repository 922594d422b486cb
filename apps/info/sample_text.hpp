#pragma once

/// \file
/// Samples as text: columns for people and scripts, JSON for programs.

#include "sample.hpp"

#include <string>
#include <vector>

namespace coir::apps::info {

/// The headings of row_text(), with their units: "device  load/% ...".
std::string heading_text();

/// One line without its end: a column each for the device, its load in %, memory that is used and all of it in GiB, power in
/// W, temperature in degrees Celsius and clock in MHz; "-" for what isn't known. No cell holds a blank.
std::string row_text(Sample const& sample);

/// A sample as one line of JSON, in SI units and bytes, with the time and the device's name; null for what isn't known.
std::string json_text(Sample const& sample, std::string const& time);

/// Why a sample has no value in some columns, a line for each reason: "gpu0: no power, no clock: NVML says 'Not Supported'".
std::vector<std::string> absences(Sample const& sample);

}  // namespace coir::apps::info
