#include <support/message_of.hpp>
#include <support/options.hpp>

#include <coir/core/errors.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

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
  CLI::App app;
  int value = 0;
  coir::apps::add_choice(app, "--scheme", value,
                         std::vector<std::pair<std::string, int>>{{"plain", 1}, {"blocked", 2}},
                         "How");
  std::vector<std::string> good{"blocked", "--scheme"};
  app.parse(good);
  EXPECT_EQ(value, 2);
  try {
    std::vector<std::string> bad{"fast", "--scheme"};
    app.parse(bad);
    FAIL() << "no exception";
  } catch (PreconditionError const& error) {
    EXPECT_STREQ(error.what(), "--scheme must be one of plain, blocked, not 'fast'");
  }
}
