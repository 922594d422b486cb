// What applications share for words, numbers, tables, reports, progress and files.

#include <support/command.hpp>
#include <support/message_of.hpp>
#include <support/output_folder.hpp>
#include <support/progress.hpp>
#include <support/report.hpp>
#include <support/same_file.hpp>
#include <support/table.hpp>
#include <support/text.hpp>
#include <support/units.hpp>

#include <coir/core/errors.hpp>
#include <coir/io/atomic_file.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;
using coir::ResourceError;
using coir::apps::counted;
using coir::apps::exact_text;
using coir::apps::expects_different_files;
using coir::apps::joined;
using coir::apps::OutputFolder;
using coir::apps::percent;
using coir::apps::progress_text;
using coir::apps::ProgressLine;
using coir::apps::ProgressMode;
using coir::apps::same_file;
using coir::apps::split;
using coir::apps::with_unit;
using coir::testing::message_of;
using coir::testing::TemporaryFolder;

}  // namespace

TEST(Text, OfANumberIsTheShortestThatReadsBack) {
  EXPECT_EQ(exact_text(0.1), "0.1");
  EXPECT_EQ(exact_text(100), "100");
  EXPECT_EQ(exact_text(-2.5), "-2.5");
  for (double const number : {1.0 / 3, 0.1 + 0.2, std::numeric_limits<double>::denorm_min(),
                              std::numeric_limits<double>::max()})
    EXPECT_EQ(std::strtod(exact_text(number).c_str(), nullptr), number);
}

TEST(Text, OfOneThingIsSingular) {
  EXPECT_EQ(counted(0, "sweeps"), "0 sweeps");
  EXPECT_EQ(counted(1, "sweeps"), "1 sweep");
  EXPECT_EQ(counted(150000, "cycles"), "150000 cycles");
}

TEST(Text, IsJoinedBySeparators) {
  EXPECT_EQ(joined({}, ", "), "");
  EXPECT_EQ(joined({"a"}, ", "), "a");
  EXPECT_EQ(joined({"a", "", "b"}, "|"), "a||b");
}

TEST(Text, IsSplitAtSeparators) {
  EXPECT_EQ(split("a,b", ','), (Texts{"a", "b"}));
  EXPECT_EQ(split(" a , \tb c ", ','), (Texts{"a", "b c"}));
  EXPECT_EQ(split("a,,b", ','), (Texts{"a", "", "b"}));
  EXPECT_EQ(split("a,", ','), (Texts{"a"}));
  EXPECT_EQ(split("", ','), (Texts{""}));
  EXPECT_EQ(split(" ", ','), (Texts{""}));
}

TEST(Units, ThreeDigitsAndAPrefix) {
  EXPECT_EQ(with_unit(38.6e9, "cell/s"), "38.6 Gcell/s");
  EXPECT_EQ(with_unit(1, "s"), "1.00 s");
  EXPECT_EQ(with_unit(5.3e-6, "s"), "5.30 us");
  EXPECT_EQ(with_unit(0.41, "s"), "410 ms");
  EXPECT_EQ(with_unit(-2500, "m"), "-2.50 km");
}

TEST(Units, RoundingTakesTheNextPrefix) {
  EXPECT_EQ(with_unit(999.4, "B"), "999 B");
  EXPECT_EQ(with_unit(999.6, "B"), "1.00 kB");
  EXPECT_EQ(with_unit(0.99996, "s"), "1.00 s");
  EXPECT_EQ(with_unit(9.996, "s"), "10.0 s");
  EXPECT_EQ(with_unit(99.96, "s"), "100 s");
  EXPECT_EQ(with_unit(2000, "s"), "2000 s");
  EXPECT_EQ(coir::apps::count_text(0.25), "0.25");
  EXPECT_EQ(coir::apps::count_text(0.9999), "1");
  EXPECT_EQ(coir::apps::percent(1e60), "1.00e+62 %");
}

TEST(Units, EdgesStayReadable) {
  EXPECT_EQ(with_unit(0, "s"), "0 s");
  EXPECT_EQ(with_unit(1e-12, "s"), "1.00 ps");
  EXPECT_EQ(with_unit(1e-15, "s"), "0.00 ps");
  EXPECT_EQ(with_unit(5e21, "B"), "5000 EB");
  EXPECT_EQ(with_unit(1e29, "B"), "1.00e+29 B");
  EXPECT_EQ(with_unit(-1.25e297, "s"), "-1.25e+297 s");
  EXPECT_EQ(coir::apps::count_text(1e300), "1.00e+300");
  EXPECT_EQ(with_unit(std::numeric_limits<double>::infinity(), "s"), "inf s");
}

TEST(Units, Percent) {
  EXPECT_EQ(percent(0.846), "85 %");
  EXPECT_EQ(percent(0), "0 %");
}

TEST(Table, AlignsTheFirstColumnLeftAndOthersRight) {
  coir::apps::Table table({"scheme", "time", "rate"});
  table.add_row({"plain", "1.20 s", "13.3 Gcell/s"});
  table.add_row({"multigrid", "9 ms", ""});
  EXPECT_EQ(table.text(),
            "scheme       time          rate\n"
            "-------------------------------\n"
            "plain      1.20 s  13.3 Gcell/s\n"
            "multigrid    9 ms\n");
}

TEST(Table, RefusesARowOfAnotherWidth) {
  coir::apps::Table table({"a", "b"});
  EXPECT_THROW(table.add_row({"1"}), coir::PreconditionError);
}

TEST(Table, KeepsEachRowOnALine) {
  coir::apps::Table table({"job", "time"});
  table.add_row({"a\nb\x1b[2Jc", "1 s"});
  EXPECT_EQ(table.text(),
            "job       time\n"
            "--------------\n"
            "a b [2Jc   1 s\n");
}

TEST(Report, KeepsTheOrderOfItsKeys) {
  coir::apps::Report report;
  report["seconds"] = 0.5;
  report["backend"] = "OpenMP";
  EXPECT_EQ(coir::apps::report_text(report),
            "{\n  \"seconds\": 0.5,\n  \"backend\": \"OpenMP\"\n}\n");
}

TEST(Report, WhatJsonCannotHoldBecomesNull) {
  coir::apps::Report report;
  report["nan"] = std::numeric_limits<double>::quiet_NaN();
  report["inf"] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(coir::apps::report_text(report), "{\n  \"nan\": null,\n  \"inf\": null\n}\n");
}

TEST(Report, TextThatIsNotUtf8IsReplaced) {
  coir::apps::Report report;
  report["input"] = "photo-\xff.png";
  EXPECT_NO_THROW(coir::apps::report_text(report));
}

namespace {

std::string shown(ProgressMode mode) {
  ::testing::internal::CaptureStderr();
  {
    ProgressLine line("plain", "sweeps", mode);
    line.update(10, 100);
    line.update(20, 100);
  }
  return ::testing::internal::GetCapturedStderr();
}

}  // namespace

TEST(Progress, TextTellsShareRateAndTimeLeft) {
  EXPECT_EQ(progress_text("plain", "sweeps", 63000, 150000, 0.5, "residual 3e-04"),
            "plain: 42 %, 63000 of 150000 sweeps, 126 k/s, 0:01 left, residual 3e-04");
  EXPECT_EQ(progress_text("plain", "sweeps", 1, 7201, 1.0),
            "plain: 0 %, 1 of 7201 sweeps, 1.00 /s, 2:00:00 left");
  EXPECT_EQ(progress_text("cg", "iterations", 0, 1, 0.0), "cg: 0 %, 0 of 1 iteration");
}

TEST(Progress, TextWithoutWorkDoneMakesNoGuess) {
  EXPECT_EQ(progress_text("plain", "sweeps", 0, 100, 0.0), "plain: 0 %, 0 of 100 sweeps");
}

TEST(Progress, TextWithoutATotalTellsTheRate) {
  EXPECT_EQ(progress_text("reading", "bytes", 63000, 0, 0.5), "reading: 63000 bytes, 126 k/s");
  EXPECT_EQ(progress_text("reading", "bytes", 0, 0, 1.0), "reading: 0 bytes");
}

TEST(Progress, IsSilentInAPipeUnlessAsked) {
  EXPECT_EQ(shown(ProgressMode::automatic), "");
  EXPECT_EQ(shown(ProgressMode::never), "");
}

TEST(Progress, WritesAtMostOneLineASecondIntoAPipe) {
  std::string const text = shown(ProgressMode::always);
  EXPECT_TRUE(text.starts_with("plain: 10 %, 10 of 100 sweeps")) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
}

TEST(SameFile, WhateverItsSpelling) {
  TemporaryFolder const folder;
  fs::create_directory(folder / "a");
  coir::io::write_file(folder / "a/there", "text");
  fs::create_symlink("a", folder / "b");
  fs::create_symlink("a/there", folder / "link");
  fs::create_hard_link(folder / "a/there", folder / "second");
  fs::create_symlink("a/new", folder / "link to new");
  for (char const* path : {"a/there", "a/../a/there", "./a//there", "b/there", "link", "second"})
    EXPECT_TRUE(same_file(folder / "a/there", folder / path)) << path;
  for (char const* path : {"a/new", "b/new", "a/../b/./new", "link to new"})
    EXPECT_TRUE(same_file(folder / "a/new", folder / path)) << path;
  for (char const* path : {"a/there", "a/newer", "new", "none/new"})
    EXPECT_FALSE(same_file(folder / "a/new", folder / path)) << path;
}

TEST(SameFile, FromTheCurrentFolderOrTheRoot) {
  EXPECT_TRUE(same_file("new", fs::current_path() / "new"));
  EXPECT_TRUE(same_file("new", fs::path("..") / fs::current_path().filename() / "new"));
  EXPECT_FALSE(same_file("new", "newer"));
}

TEST(DifferentFiles, AreAskedOfOutputsAndOfInputsBesideThem) {
  expects_different_files({{"--output", "a"}, {"--report", "b"}, {"--more", ""}, {"--rest", ""}},
                          {{"INPUT", "c"}, {"--noise", "c"}});
  EXPECT_EQ(message_of([] { expects_different_files({{"--output", "a"}, {"--report", "./a"}}); }),
            "--output and --report must name different files, and a is ./a");
  TemporaryFolder const folder;
  coir::io::write_file(folder / "in", "text");
  fs::create_symlink("in", folder / "link");
  fs::create_hard_link(folder / "in", folder / "second");
  for (char const* path : {"in", "link", "second", "./in"})
    EXPECT_EQ(message_of([&] {
                expects_different_files({{"--other", folder / "new"}, {"--output", folder / path}},
                                        {{"INPUT", folder / "in"}});
              }).substr(0, 48),
              "--output and INPUT must name different files, an")
        << path;
  EXPECT_EQ(message_of([] { expects_different_files({{"--output", "a"}}, {{"INPUT", "a"}}); }),
            "--output and INPUT must name different files, and a is named by both");
}

TEST(GoodFiles, AreThoseThatCanBeWritten) {
  TemporaryFolder const folder;
  coir::apps::expects_good_files({{"--output", folder / "a"}, {"--report", ""}});
  EXPECT_TRUE(fs::is_empty(folder.path()));
  EXPECT_NE(message_of<coir::ResourceError>([&] {
              coir::apps::expects_good_files({{"--output", folder / "none/a"}});
            }).find("none does not exist"),
            std::string::npos);
}

TEST(OutputFolder, IsMadeAndStaysOnceItHoldsAFile) {
  TemporaryFolder const folder;
  {
    OutputFolder const made(folder / "run", folder / "run/a.txt");
    EXPECT_TRUE(fs::is_empty(folder / "run"));
    coir::io::write_file(folder / "run/a.txt", "text");
  }
  EXPECT_TRUE(fs::exists(folder / "run/a.txt"));
  {
    OutputFolder const again(folder / "run", folder / "run/a.txt");
  }
  EXPECT_TRUE(fs::exists(folder / "run/a.txt"));
}

TEST(OutputFolder, GoesAgainIfNothingCameIntoIt) {
  TemporaryFolder const folder;
  {
    OutputFolder const made(folder / "run", folder / "run/a.txt");
  }
  EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST(OutputFolder, AnEmptyOneThatWasThereStays) {
  TemporaryFolder const folder;
  fs::create_directory(folder / "run");
  {
    OutputFolder const there(folder / "run", folder / "run/a.txt");
  }
  EXPECT_TRUE(fs::exists(folder / "run"));
}

TEST(OutputFolder, IsOneProgramsAtATime) {
  TemporaryFolder const folder;
  fs::create_directory_symlink("run", folder / "link");
  {
    OutputFolder const one(folder / "run", folder / "run/a.txt");
    for (char const* name : {"run", "link"})
      EXPECT_NE(message_of<ResourceError>([&] {
                  OutputFolder const two(folder / name, folder / name / "a.txt");
                }).find("another program is writing to the folder"),
                std::string::npos);
    OutputFolder const other(folder / "other", folder / "other/a.txt");
    EXPECT_TRUE(fs::exists(folder / "run"));
  }
  OutputFolder const afterwards(folder / "run", folder / "run/a.txt");
}

TEST(OutputFolder, WhatCantBeMadeOrWrittenIsAnError) {
  TemporaryFolder const folder;
  EXPECT_NE(message_of<ResourceError>([&] {
              OutputFolder const none(folder / "none/run", folder / "none/run/a.txt");
            }).find("make the one that it is in first"),
            std::string::npos);
  coir::io::write_file(folder / "file", "text");
  EXPECT_NE(message_of<ResourceError>([&] {
              OutputFolder const none(folder / "file", folder / "file/a.txt");
            }).find("can't make the folder"),
            std::string::npos);
  EXPECT_NE(message_of<ResourceError>([&] {
              OutputFolder const none(folder / "run", folder / "other/a.txt");
            }).find("other"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "run"));
}
