#pragma once

#include <info/reading.hpp>

#include <string>

namespace coir::apps::info {

/// The load of the host or a device at a moment.
struct Sample {
  std::string device;   ///< "cpu", "gpu0"
  std::string name;     ///< as its maker calls it
  Reading load;         ///< from 0 to 1: the part of the time in which it worked
  Reading memory_used;  ///< bytes
  Reading memory;       ///< bytes of all
  Reading power;        ///< W
  Reading temperature;  ///< degrees Celsius
  Reading clock;        ///< Hz
};

}  // namespace coir::apps::info
