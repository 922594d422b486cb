#include <support/command.hpp>

#include <coir/core/version.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace {

coir::testing::Outcome run(std::string const& arguments) {
  return coir::testing::run_command(std::string(COIR_APP) + " " + arguments);
}

/// The message of a run that must fail with `code`, one line of errors, and print nothing else.
std::string failure(int code, std::string const& arguments) {
  auto const outcome = run(arguments);
  EXPECT_EQ(outcome.code, code) << arguments;
  EXPECT_EQ(outcome.output, "") << arguments;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  std::string const prefix = "failing-app: error: ";
  EXPECT_TRUE(outcome.errors.starts_with(prefix)) << outcome.errors;
  return outcome.errors.substr(std::min(prefix.size(), outcome.errors.size()));
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST(Run, SuccessReturnsZeroAndPrintsNoErrors) {
  auto const outcome = run("photo --count 7 --tolerance 1e-3");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, "photo 7 0.001\n");
  EXPECT_EQ(outcome.errors, "");
}

TEST(Run, HelpAndVersionGoToTheOutput) {
  auto const help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_TRUE(contains(help.output, "--tolerance")) << help.output;
  EXPECT_EQ(help.errors, "");
  auto const version = run("--version");
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(contains(version.output, std::string("failing-app ") + coir::version))
      << version.output;
}

TEST(Run, EveryKindOfErrorHasItsCode) {
  EXPECT_EQ(failure(2, "x --throw precondition"), "n must be positive, not -1\n");
  EXPECT_EQ(failure(4, "x --throw resource"), "the disk is full\n");
  EXPECT_EQ(failure(5, "x --throw numerical"), "not finite\n");
  EXPECT_EQ(failure(6, "x --throw environment"), "no device\n");
  EXPECT_TRUE(contains(failure(4, "x --throw bad_alloc"), "out of memory"));
#ifndef __SANITIZE_ADDRESS__  // it ends the program itself, before Kokkos can throw
  failure(4, "x --throw huge");
#endif
  EXPECT_EQ(failure(1, "x --throw other"), "a defect\n");
}

TEST(Run, MessagesStayOneLineWhateverFileNamesHold) {
  EXPECT_EQ(failure(3, "x --throw input"), "no such file as this [31m one\n");
}

TEST(Run, UnknownOptionNamesItselfAndTheNearest) {
  EXPECT_TRUE(contains(failure(2, "x --cuont 3"), "unknown option --cuont: did you mean --count?"));
  EXPECT_TRUE(
      contains(failure(2, "x --whatever"), "unknown option --whatever; failing-app --help"));
}

TEST(Run, RepeatedOptionIsRefused) {
  EXPECT_EQ(failure(2, "x --count 3 --count 4"), "--count was given 2 times: give it once\n");
}

TEST(Run, MissingAndSurplusArgumentsAreNamed) {
  EXPECT_TRUE(contains(failure(2, ""), "INPUT is required"));
  EXPECT_TRUE(contains(failure(2, "x y"), "one argument too many: y"));
  EXPECT_TRUE(contains(failure(2, "x --count"), "--count"));
}

TEST(Run, ValuesOutsideTheirRangeNameTheLimit) {
  EXPECT_EQ(failure(2, "x --count 0"), "--count must be a whole number from 1 to 100, not '0'\n");
  EXPECT_EQ(failure(2, "x --count -5"), "--count must be a whole number from 1 to 100, not '-5'\n");
  EXPECT_EQ(failure(2, "x --tolerance 0"), "--tolerance must be a number above 0, not '0'\n");
}

TEST(Run, KokkosGetsItsOwnArguments) {
  auto const outcome = run("--kokkos-disable-warnings photo");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "photo 3 1\n");
}

TEST(Run, FullDiskBehindTheOutputIsAnError) {
  auto const outcome =
      coir::testing::run_command("sh -c '" + std::string(COIR_APP) + " photo >/dev/full'");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(contains(outcome.errors, "can't write to the standard output")) << outcome.errors;
}
