#include <support/captured_errors.hpp>
#include <support/kokkos_session.hpp>
#include <support/message_of.hpp>

#include <coir/core/errors.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace {

using coir::apps::CapturedErrors;
using coir::apps::expects_no_complaint;
using coir::testing::message_of;

/// What is refused if a runtime said this.
std::string refusal(std::string const& said) {
  return message_of<coir::EnvironmentError>([&] { expects_no_complaint(said); });
}

/// What is printed if a runtime said this.
std::string passed_on(std::string const& said) {
  CapturedErrors captured;
  expects_no_complaint(said);
  return captured.text();
}

}  // namespace

TEST(Complaints, OfGnusAndOfLlvmsRuntimeNameTheVariable) {
  setenv("OMP_SCHEDULE", "foo", 1);
  for (char const* said : {"\nlibgomp: Unknown value for environment variable OMP_SCHEDULE\n",
                           "OMP: Warning #234: OMP_SCHEDULE: Invalid symbols found.\n"})
    EXPECT_EQ(refusal(said),
              "the environment variable OMP_SCHEDULE holds what OpenMP doesn't understand, 'foo': "
              "correct it, or unset it");
  unsetenv("OMP_SCHEDULE");
  EXPECT_EQ(refusal("\nlibgomp: Logical CPU number 99 out of range\n"),
            "OpenMP doesn't understand an environment variable of its own (Logical CPU number 99 "
            "out of range): correct those that begin with OMP_ or GOMP_, or unset them");
}

TEST(Complaints, WhatWasAskedForIsPrintedAndAdviceIsNot) {
  EXPECT_EQ(passed_on(""), "");
  EXPECT_EQ(passed_on("\n\n"), "");
  EXPECT_EQ(passed_on("OMP: Warning #179: Function Can't open SHM failed:\n"
                      "OMP: System error #27: File too large\n"
                      "OMP: Hint Consider unsetting it.\n"),
            "");
  for (char const* said : {"OPENMP DISPLAY ENVIRONMENT BEGIN\n  OMP_DYNAMIC = 'FALSE'\n",
                           "OMP: Info #217: KMP_AFFINITY: OS proc 0 maps to socket 0\n"})
    EXPECT_EQ(passed_on(said), said);
}

TEST(CapturedErrors, HoldsWhatIsWrittenUntilItsEnd) {
  CapturedErrors outer;
  {
    CapturedErrors inner;
    std::cerr << "inside\n";
    EXPECT_EQ(inner.text(), "inside\n");
    EXPECT_EQ(inner.text(), "");
    std::cerr << "after\n";
  }
  {
    CapturedErrors const forgotten;
    std::cerr << "lost\n" << std::string(1 << 20, 'x');  // more than fits
  }
  std::cerr << "outside\n";
  EXPECT_EQ(outer.text(), "after\noutside\n");
}
