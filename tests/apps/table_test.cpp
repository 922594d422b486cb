#include <support/table.hpp>

#include <coir/core/errors.hpp>

#include <gtest/gtest.h>

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
