#pragma once

#include <istream>
#include <string>

namespace coir {

/// The host's processor in Linux' description of it, /proc/cpuinfo: "AMD EPYC 7763 64-Core Processor", "Arm Neoverse-N1". Of ARM's
/// it has numbers in place of a name; those that no name here belongs to are given as they are. Several kinds are joined by "and".
/// "unknown" if it tells nothing.
std::string processor_name(std::istream& cpuinfo);

}  // namespace coir
