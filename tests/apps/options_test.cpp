#include <support/command_line.hpp>
#include <support/message_of.hpp>
#include <support/options.hpp>

#include <coir/core/errors.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using coir::PreconditionError;

TEST(Options, WholeNumbersAreDecimalAndComplete) {
  using coir::apps::parse_whole_number;
  EXPECT_EQ(parse_whole_number("--n", "1", 1, 10), 1);
  EXPECT_EQ(parse_whole_number("--n", "010", 1, 10), 10);
  EXPECT_EQ(parse_whole_number("--n", "-3", -5, 5), -3);
  for (char const* text :
       {"", " 3", "3 ", "+3", "3.0", "1e1", "0x3", "three", "11", "0", "99999999999999999999999"})
    EXPECT_THROW(parse_whole_number("--n", text, 1, 10), PreconditionError) << '"' << text << '"';
}

TEST(Options, WhatIsWrongNamesBothLimits) {
  std::int64_t const most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(coir::testing::message_of<PreconditionError>(
                [&] { coir::apps::parse_whole_number("--seed", "18446744073709551615", 0, most); }),
            "--seed must be a whole number from 0 to 9223372036854775807, not "
            "'18446744073709551615'");
}

TEST(Options, NumbersAreFinite) {
  using coir::apps::parse_number;
  EXPECT_EQ(parse_number("--x", "-1.5e2"), -150);
  EXPECT_EQ(parse_number("--x", ".5"), 0.5);
  for (char const* text : {"", "nan", "inf", "-inf", "1e999", "1,5", "1.5x"})
    EXPECT_THROW(parse_number("--x", text), PreconditionError) << '"' << text << '"';
}

TEST(Options, PositiveNumbersExcludeZero) {
  using coir::apps::parse_positive_number;
  EXPECT_EQ(parse_positive_number("--x", "1e-12"), 1e-12);
  for (char const* text : {"0", "-0.0", "-1", "nan", "inf", "1e-999"})
    EXPECT_THROW(parse_positive_number("--x", text), PreconditionError) << '"' << text << '"';
}

TEST(Options, ChoiceSetsItsValueAndNamesAllChoices) {
  coir::apps::CommandLine line("app");
  int value = 0;
  coir::apps::add_choice(line, "--scheme", value,
                         std::vector<std::pair<std::string, int>>{{"plain", 1}, {"blocked", 2}},
                         "How");
  line.parse({"app", "--scheme", "blocked"});
  EXPECT_EQ(value, 2);
  EXPECT_EQ(coir::testing::message_of<PreconditionError>(
                [&] { line.parse({"app", "--scheme", "fast"}); }),
            "--scheme must be one of plain, blocked, not 'fast'");
}

TEST(Options, WhatWasGivenIsToldByName) {
  coir::apps::CommandLine line("app", "Does nothing.");
  bool on = false;
  std::filesystem::path path;
  line.add_flag("--on", on, "On");
  line.add_flag("--off", [] {}, "Off");
  coir::apps::add_file(line, "--file", path, "A file");
  EXPECT_TRUE(line.parse({"app", "--file", "x.npy", "--on=false"}).option.empty());
  EXPECT_EQ(path, "x.npy");
  EXPECT_EQ(line.option("--file").text(), "x.npy");
  EXPECT_TRUE(line.is_given("--on"));
  EXPECT_FALSE(line.is_on("--on"));
  EXPECT_FALSE(line.is_given("--off"));
  EXPECT_FALSE(line.is_on("--missing"));
  EXPECT_FALSE(line.has("--missing"));
  auto const wish = line.parse({"app", "-h"});
  EXPECT_EQ(wish.option, "--help");
  EXPECT_NE(wish.text.find("Does nothing."), std::string::npos) << wish.text;
}
