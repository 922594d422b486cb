#include <gtest/gtest.h>
#include <support/command.hpp>

#include <algorithm>

using coir::testing::Outcome;
using coir::testing::run_command;

namespace {

std::string const line =
    "Kokkos isn't running, and arrays need it: begin main with Kokkos::ScopeGuard or "
    "Kokkos::initialize, and make no array before it, after Kokkos::finalize, or as a global\n";

Outcome outcome_of(std::string const& which) {
  return run_command("'" COIR_LIFETIME_PROGRAM "' " + which);
}

}  // namespace

TEST(Lifetime, ArraysWithoutKokkosAreOneLine) {
  for (std::string const which :
       {"without", "borrowed", "made_after", "assigned_after", "reduced_after"}) {
    Outcome const outcome = outcome_of(which);
    EXPECT_EQ(outcome.code, 3) << which << ": " << outcome.errors;
    EXPECT_EQ(outcome.errors, line) << which;
  }
}

TEST(Lifetime, GlobalArraysSayWhatTheyAre) {
  Outcome const outcome = run_command("'" COIR_GLOBAL_PROGRAM "' nothing");
  EXPECT_EQ(outcome.code, 134) << outcome.errors;  // the exception that nobody catches
  EXPECT_NE(outcome.errors.find(line), std::string::npos) << outcome.errors;
}

TEST(Lifetime, ArraysMayOutliveKokkosIfNothingIsDoneWithThem) {
  for (std::string const which : {"nothing", "limited"}) {
    Outcome const outcome = outcome_of(which);
    EXPECT_EQ(outcome.code, 0) << which << ": " << outcome.errors;
    EXPECT_EQ(outcome.errors, "") << which;
  }
}
