// Command lines, and options whose errors name the option, the value and the limit.

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

namespace {

using Strings = std::vector<std::string>;
using coir::PreconditionError;
using coir::apps::CommandLine;

/// What arguments are refused with.
std::string refusal(CommandLine& line, Strings const& arguments) {
  return coir::testing::message_of<PreconditionError>([&] { line.parse(arguments); });
}

}  // namespace

TEST(CommandLine, OptionsSetWhatTheyWereAddedWith) {
  CommandLine line("app");
  bool quiet = false, counted = true;
  int calls = 0;
  std::string word, called_with;
  Strings files, numbers;
  line.add_flag("--quiet", quiet, "");
  line.add_flag("--call", [&] { ++calls; }, "");
  line.add_flag("--counted", [&](bool on) { counted = on; }, "");
  line.add_option("--word", word, "");
  line.add_option("--set", [&](std::string const& text) { called_with = text; }, "");
  line.add_list("FILE", files, "");
  line.add_list("--numbers", [&](Strings const& texts) { numbers = texts; }, "").expected(1, 3);
  auto const wish = line.parse({"app", "--quiet", "--call", "--counted=false", "--word", "a b",
                                "--set=c", "--numbers", "1", "2", "--", "x", "y"});
  EXPECT_EQ(wish.option, "");
  EXPECT_TRUE(quiet);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(counted);
  EXPECT_EQ(word, "a b");
  EXPECT_EQ(called_with, "c");
  EXPECT_EQ(files, (Strings{"x", "y"}));
  EXPECT_EQ(numbers, (Strings{"1", "2"}));
  EXPECT_EQ(line.option("--set").text(), "c");
}

TEST(CommandLine, WhatWasNotGivenIsLeftAlone) {
  CommandLine line("app");
  bool quiet = true;
  std::string word = "before";
  int calls = 0;
  line.add_flag("--quiet", quiet, "");
  line.add_option("--word", word, "");
  line.add_option("--set", [&](std::string const&) { ++calls; }, "");
  line.parse({"app"});
  EXPECT_TRUE(quiet);
  EXPECT_EQ(word, "before");
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(line.option("--word").text(), "");
  EXPECT_FALSE(line.option("--word").is_given());
  EXPECT_FALSE(line.is_on("--quiet"));
}

TEST(CommandLine, OptionsThatNeedOrExcludeOthersAreNamed) {
  CommandLine line("app");
  bool plain = false, fast = false, forecast = false;
  std::string cores;
  auto const first = line.add_flag("--plain", plain, "");
  line.add_flag("--fast", fast, "").excludes(first);
  auto const needed = line.add_flag("--forecast", forecast, "");
  line.add_option("--cores", cores, "").needs(needed);
  line.add_option("--must", cores, "").required();
  EXPECT_EQ(refusal(line, {"app"}), "--must is required; see app --help");
  EXPECT_EQ(refusal(line, {"app", "--must", "1", "--cores", "2"}),
            "--cores requires --forecast; see app --help");
  std::string const both = refusal(line, {"app", "--must", "1", "--plain", "--fast"});
  EXPECT_NE(both.find("excludes"), std::string::npos) << both;
  EXPECT_NE(both.find(": leave one of them out; see app --help"), std::string::npos) << both;
  EXPECT_EQ(line.parse({"app", "--must", "1", "--cores", "2", "--forecast"}).option, "");
}

TEST(CommandLine, WhatAnOptionDoesntTakeNamesIt) {
  CommandLine line("app");
  auto const refuse = [](std::string const& text) {
    throw PreconditionError("there is no " + text);
  };
  line.add_option("--word", refuse, "");
  line.add_list("--words", [&](Strings const& texts) { refuse(texts.front()); }, "");
  EXPECT_EQ(refusal(line, {"app", "--word", "x"}), "--word: there is no x");
  EXPECT_EQ(refusal(line, {"app", "--words", "x"}), "--words: there is no x");
}

TEST(CommandLine, AFileThatLooksLikeAnOptionIsTold) {
  CommandLine line("app");
  std::string file, size;
  line.add_option("FILE", file, "").required();
  line.add_option("--size", size, "");
  EXPECT_EQ(
      refusal(line, {"app", "-x.png"}),
      "unknown option -x.png: a file of this name is ./-x.png; app --help lists what there is");
  EXPECT_EQ(refusal(line, {"app", "-size", "3"}),
            "unknown option -size: did you mean --size? app --help lists what there is");
  EXPECT_EQ(refusal(line, {"app"}), "FILE is required; see app --help");
}

TEST(CommandLine, SubcommandsHaveOptionsOfTheirOwn) {
  CommandLine line("app", "Does two things.");
  std::string name;
  CommandLine run = line.add_subcommand("run", "Runs");
  CommandLine const show = line.add_subcommand("show", "Shows");
  run.add_option("--name", name, "");
  line.parse({"app", "run", "--name", "x"});
  EXPECT_TRUE(run.is_chosen());
  EXPECT_FALSE(show.is_chosen());
  EXPECT_EQ(name, "x");
  EXPECT_EQ(refusal(line, {"app"}), "name one of run, show; see app --help");
  EXPECT_EQ(refusal(line, {"app", "walk"}), "walk is none of run, show; see app --help");
}

TEST(CommandLine, HelpAndVersionAreWishes) {
  CommandLine line("app", "Does nothing.", "Example: app");
  line.add_help_and_version("app 1.0");
  auto const help = line.parse({"app", "-h"});
  EXPECT_EQ(help.option, "--help");
  EXPECT_NE(help.text.find("Does nothing."), std::string::npos) << help.text;
  EXPECT_NE(help.text.find("Example: app"), std::string::npos) << help.text;
  auto const version = line.parse({"app", "--version"});
  EXPECT_EQ(version.option, "--version");
  EXPECT_EQ(version.text, "app 1.0\n");
}

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
