#include "processor_name.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace coir {

namespace {

struct Part {
  std::string_view implementer, part, name;
};

// The numbers are those of the register MIDR_EL1, which each maker gives its cores; here are cores of servers and boards.
constexpr std::array parts = {
    Part{"0x41", "0xd03", "Arm Cortex-A53"},     Part{"0x41", "0xd05", "Arm Cortex-A55"},
    Part{"0x41", "0xd07", "Arm Cortex-A57"},     Part{"0x41", "0xd08", "Arm Cortex-A72"},
    Part{"0x41", "0xd0b", "Arm Cortex-A76"},     Part{"0x41", "0xd0c", "Arm Neoverse-N1"},
    Part{"0x41", "0xd40", "Arm Neoverse-V1"},    Part{"0x41", "0xd41", "Arm Cortex-A78"},
    Part{"0x41", "0xd42", "Arm Cortex-A78AE"},   Part{"0x41", "0xd49", "Arm Neoverse-N2"},
    Part{"0x41", "0xd4f", "Arm Neoverse-V2"},    Part{"0x43", "0x0af", "Cavium ThunderX2"},
    Part{"0x46", "0x001", "Fujitsu A64FX"},      Part{"0x48", "0xd01", "HiSilicon Kunpeng-920"},
    Part{"0x4e", "0x004", "NVIDIA Carmel"},      Part{"0x61", "0x022", "Apple M1 Icestorm"},
    Part{"0x61", "0x023", "Apple M1 Firestorm"}, Part{"0x61", "0x032", "Apple M2 Blizzard"},
    Part{"0x61", "0x033", "Apple M2 Avalanche"}, Part{"0x70", "0x663", "Phytium FTC663"},
    Part{"0xc0", "0xac3", "Ampere-1"},           Part{"0xc0", "0xac4", "Ampere-1A"}};

std::string name_of(std::string const& implementer, std::string const& part) {
  auto const found = std::find_if(parts.begin(), parts.end(), [&](Part const& one) {
    return one.implementer == implementer && one.part == part;
  });
  return found != parts.end() ? std::string(found->name)
                              : "ARM, implementer " + implementer + ", part " + part;
}

}  // namespace

std::string processor_name(std::istream& cpuinfo) {
  std::vector<std::string> names;
  auto const add = [&](std::string const& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  std::string implementer;
  for (std::string line; std::getline(cpuinfo, line);) {
    auto const colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string const key = line.substr(0, line.find_first_of("\t:")),
                      value = line.substr(colon + 2);
    // x86, older ARM and LoongArch have a name; "cpu" is that of POWER.
    if (key == "model name" || key == "Model Name" || key == "cpu") add(value);
    if (key == "CPU implementer") implementer = value;
    if (key == "CPU part") add(name_of(implementer, value));
  }
  std::string all;
  for (auto const& name : names) all += (all.empty() ? "" : " and ") + name;
  return all.empty() ? "unknown" : all;
}

}  // namespace coir
