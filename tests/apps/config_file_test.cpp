#include <support/command.hpp>
#include <support/command_line.hpp>
#include <support/config_file.hpp>
#include <support/message_of.hpp>
#include <support/options.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace {

using coir::InputError;
using coir::apps::CommandLine;
using coir::apps::read_toml;
using coir::testing::message_of;
using Strings = std::vector<std::string>;

/// What a text that can't be read is refused with.
std::string refusal(std::string const& text) {
  return message_of<InputError>([&] { read_toml(text, "file"); });
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

/// What an application was told by its configuration and its arguments.
struct Told {
  bool on = false;
  int count = 0;
  double h = 0;
  Strings list;
  bool switched = true;
};

Told parse(std::string const& text, Strings const& arguments = {}) {
  coir::testing::TemporaryFolder const folder;
  coir::io::write_file(folder / "c.toml", text);
  CommandLine line("app");
  line.leave_out_short_help();  // beside --h
  Told told;
  line.add_flag("--on", told.on, "On");
  line.add_flag("--no-on", [] {}, "Off");
  line.add_flag("--switch", [&](bool on) { told.switched = on; }, "On");
  line.add_flag("--no-switch", [&](bool off) { told.switched = !off; }, "Off");
  coir::apps::add_whole_number(line, "--count", told.count, "How many", 1, 9);
  coir::apps::add_number(line, "--h", told.h, "One letter");
  line.add_list("--list", told.list, "Words").expected(1, 1000);
  coir::apps::add_config_file(line);
  Strings all = {"app", "--config=" + (folder / "c.toml").string()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  line.parse(all);
  return told;
}

}  // namespace

TEST(Toml, HoldsNumbersWordsStringsAndLists) {
  auto const entries = read_toml(R"(# all of them

  number = 1.5e3 # said so
word=true
"quoted" = "a # b"
'literal'	=	'c "d"'
list = [1, 'two',
  # three
  3,
]
empty = []
last = 0)",
                                 "file");
  ASSERT_EQ(entries.size(), 7U);
  Strings keys;
  for (auto const& entry : entries) keys.push_back(entry.key);
  EXPECT_EQ(keys, (Strings{"number", "word", "quoted", "literal", "list", "empty", "last"}));
  EXPECT_EQ(entries[0].values, Strings{"1.5e3"});
  EXPECT_EQ(entries[1].values, Strings{"true"});
  EXPECT_EQ(entries[2].values, Strings{"a # b"});
  EXPECT_EQ(entries[3].values, Strings{"c \"d\""});
  EXPECT_EQ(entries[4].values, (Strings{"1", "two", "3"}));
  EXPECT_EQ(entries[5].values, Strings{});
  EXPECT_EQ(entries[6].line, 12);
}

TEST(Toml, DoubleQuotesHaveEscapesAndSingleOnesNone) {
  auto const value = [](std::string const& text) {
    return read_toml("a = " + text, "file").front().values.front();
  };
  EXPECT_EQ(value(R"("it's \"a\\b\" # c")"), R"(it's "a\b" # c)");
  EXPECT_EQ(value(R"('a\nb "c"')"), R"(a\nb "c")");
  EXPECT_EQ(value(R"("\b\t\n\f\r")"), "\b\t\n\f\r");
  for (std::string const text : {R"("\x")", R"("\")", R"("\u0041")", "\"\\"})
    EXPECT_TRUE(refusal("a = " + text).starts_with("file, line 1: a")) << text;
  EXPECT_TRUE(contains(refusal(R"(a = "C:\dir")"), "a backslash in double quotes must begin"));
}

TEST(Toml, AnyTextComesBackFromAString) {
  for (std::string const& text :
       {std::string("it's"), std::string("a\"b"), std::string("a#b"), std::string("\\"),
        std::string(" a = [b], 'c' "), std::string(), std::string("\n\r\t\x01\x1b\x7f"),
        std::string("\xff\xfe"), std::string("\xC3\xA4")})
    EXPECT_EQ(read_toml("a = " + coir::apps::toml_string(text), "file").front().values,
              Strings{text});
}

TEST(Toml, ByteOrderMarksAndReturnsAreNoPartOfIt) {
  auto const entries = read_toml("\xEF\xBB\xBFkey = 1\r\nlist = [2,\r\n3]\r\n\r\n", "file");
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].key, "key");
  EXPECT_EQ(entries[0].values, Strings{"1"});
  EXPECT_EQ(entries[1].values, (Strings{"2", "3"}));
}

TEST(Toml, WhatIsNoneNamesTheLine) {
  EXPECT_EQ(refusal("a = 1\nparticles 8\n"),
            "file, line 2: a line must be KEY = VALUE, not 'particles 8'");
  EXPECT_EQ(refusal("= 8"), "file, line 1: a line must be KEY = VALUE, not '= 8'");
  for (std::string const text : {"[table]\na = 1", "[[tables]]"})
    EXPECT_TRUE(refusal(text).starts_with("file, line 1: tables in brackets")) << text;
  for (std::string const text : {"a =", "a = # none", "a = [,]", "a = [1,,2]", "a = ]", "a = ="})
    EXPECT_TRUE(contains(refusal(text), "a value is missing")) << refusal(text);
  for (std::string const text :
       {"a = 1 2", "a = '1' 2", "a = [1] 2", "a = 1, 2", "a = '''b'''", "a = 1 = 2", "a = {b = 1}"})
    EXPECT_TRUE(contains(refusal(text), "has more than a value")) << refusal(text);
  for (std::string const text : {"a = 'b", "a = \"b\n\"", "'a = b", "a = 'b\""})
    EXPECT_TRUE(contains(refusal(text), "a string has no end")) << refusal(text);
  for (std::string const text : {"a = [", "a = [1", "a = [1,", "a = [1,\n# ]\n"})
    EXPECT_TRUE(contains(refusal(text), "a list has no end")) << refusal(text);
  EXPECT_TRUE(contains(refusal("a = [1 2]"), "commas"));
  EXPECT_TRUE(contains(refusal("a = [[1]]"), "lists of lists"));
}

TEST(Toml, DepthAndLengthTakeNoTimeOfTheirOwn) {
  auto const start = std::chrono::steady_clock::now();
  std::string const deep(100'000, '[');
  refusal(deep + std::string(100'000, ']'));
  refusal("a = " + deep);
  std::string dotted = "a";
  for (int n = 0; n < 100'000; ++n) dotted += ".a";
  EXPECT_EQ(read_toml(dotted + " = 1", "file").size(), 1U);
  refusal("[" + dotted + "]");
  std::string const spaces(200'000, ' '), lines(200'000, '\n');
  EXPECT_EQ(read_toml("a = [" + spaces + "1" + lines + "]", "file").size(), 1U);
  std::string many = "a = [0";
  for (int n = 0; n < 200'000; ++n) many += ",0";
  EXPECT_EQ(read_toml(many + "]", "file").front().values.size(), 200'001U);
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 20);  // some hundredths of a second as a rule
}

TEST(ConfigFile, SetsOptionsUnlessTheCommandLineDoes) {
  auto const told = parse("on = true\ncount = 3\nh = 0.7\nlist = ['a', 'b']\n", {"--count", "5"});
  EXPECT_TRUE(told.on);
  EXPECT_EQ(told.count, 5);
  EXPECT_EQ(told.h, 0.7);
  EXPECT_EQ(told.list, (Strings{"a", "b"}));
  EXPECT_FALSE(parse("on = false\nlist = []\n").on);
  EXPECT_EQ(parse("\xEF\xBB\xBF"
                  "count = 3")
                .count,
            3);
}

TEST(ConfigFile, WhatDoesntFitIsRefused) {
  auto const refused = [](std::string const& text) {
    std::string const message = message_of<InputError>([&] { parse(text); });
    return message.substr(message.find("c.toml") + 6);
  };
  std::string const help = "app --help lists the options, which are the keys";
  EXPECT_EQ(refused("cuont = 3"), ": unknown key 'cuont': did you mean count? " + help);
  EXPECT_EQ(refused("config = 'c.toml'"), ": unknown key 'config'; " + help);
  EXPECT_EQ(refused("a.b = 1"), ": unknown key 'a.b'; " + help);
  EXPECT_EQ(refused("on = 'maybe'"), ": 'on' must be true or false, not 'maybe'");
  EXPECT_EQ(refused("on = 99999999999999999999"),
            ": 'on' must be true or false, not '99999999999999999999'");
  EXPECT_EQ(refused("h = 1\nh = 2"), ": 'h' has several values: leave one");
  EXPECT_EQ(refused("h = [1, 2]"), ": 'h' has several values: leave one");
  EXPECT_EQ(refused("h = []"), ": 'h' has no value: give it one, or leave it out");
  EXPECT_EQ(refused("on = true\nno-on = true"),
            ": 'no-on' and 'on' contradict each other: leave one");
}

TEST(ConfigFile, AValueThatDoesntFitNamesTheFileAndTheKey) {
  auto const refused = [](std::string const& text, Strings const& arguments = {}) {
    std::string const message = message_of<InputError>([&] { parse(text, arguments); });
    return message.substr(message.find("c.toml"));
  };
  EXPECT_EQ(refused("count = 10"), "c.toml: 'count' must be a whole number from 1 to 9, not '10'");
  EXPECT_EQ(refused("h = 'x'", {"--count", "3"}), "c.toml: 'h' must be a finite number, not 'x'");
  // On the command line it is the option's.
  EXPECT_EQ(message_of<coir::PreconditionError>([] { parse("h = 1", {"--count", "10"}); }),
            "--count must be a whole number from 1 to 9, not '10'");
  EXPECT_EQ(message_of<coir::PreconditionError>([] { parse("count = 10", {"--count=11"}); }),
            "--count must be a whole number from 1 to 9, not '11'");
}

TEST(ConfigFile, AFlagOnTheCommandLineCountsBeforeItsOppositeInAFile) {
  EXPECT_EQ(parse("no-switch = true", {"--switch"}).switched, true);
  EXPECT_EQ(parse("switch = true", {"--no-switch"}).switched, false);
  EXPECT_EQ(parse("switch = false", {"--no-switch=false"}).switched, true);
  EXPECT_EQ(parse("no-switch = false", {"--switch=false"}).switched, false);
  EXPECT_EQ(parse("no-switch = true").switched, false);
}
