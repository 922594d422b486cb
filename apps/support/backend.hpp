#pragma once

/// Where an application computes: on the cores, or on the device that it was compiled for. One
/// build does both.

#include <string>

namespace coir::apps {

class CommandLine;

/// The value of --backend.
enum class Backend { automatic, cpu, gpu };

/// Adds --backend.
void add_backend(CommandLine& line, Backend& backend);

/// Where kernels run.
enum class Place { cores, device };

/// The place that was chosen, and a warning.
struct Choice {
  Place place = Place::cores;
  std::string warning{};  ///< that there is no device, where one was expected
};

/// Looks for a device if one may be used. Kokkos needn't run.
///
/// \throws EnvironmentError if a device was asked for, and there is none
Choice choose(Backend backend);

}  // namespace coir::apps
