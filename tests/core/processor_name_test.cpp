#include "processor_name.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace {

std::string name_in(std::string const& cpuinfo) {
  std::istringstream text(cpuinfo);
  return coir::processor_name(text);
}

/// What Linux says of a core of ARM's.
std::string arm(std::string const& implementer, std::string const& part) {
  return "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: " +
         implementer + "\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: " + part +
         "\nCPU revision\t: 1\n\n";
}

}  // namespace

TEST(ProcessorName, IsTheModelWhereItIsGiven) {
  std::string const intel =
      "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Intel(R) Xeon(R) "
      "Processor\n\n";
  EXPECT_EQ(name_in(intel + intel), "Intel(R) Xeon(R) Processor");
  EXPECT_EQ(name_in("processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3.8GHz\n"),
            "POWER9, altivec supported");
}

TEST(ProcessorName, IsLookedUpForArm) {
  EXPECT_EQ(name_in(arm("0x41", "0xd0c") + arm("0x41", "0xd0c")), "Arm Neoverse-N1");
  EXPECT_EQ(name_in(arm("0x41", "0xd4f")), "Arm Neoverse-V2");
  EXPECT_EQ(name_in(arm("0x46", "0x001")), "Fujitsu A64FX");
  EXPECT_EQ(name_in(arm("0x41", "0xd05") + arm("0x41", "0xd0b")),
            "Arm Cortex-A55 and Arm Cortex-A76");
  EXPECT_EQ(name_in(arm("0x41", "0xfff")), "ARM, implementer 0x41, part 0xfff");
}

TEST(ProcessorName, IsUnknownWhereNothingIsTold) {
  EXPECT_EQ(name_in(""), "unknown");
  EXPECT_EQ(name_in("processor\t: 0\n"), "unknown");
}
