#include <support/command.hpp>
#include <support/report.hpp>

#include <coir/core/errors.hpp>

#include <gtest/gtest.h>

#include <limits>

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

TEST(Report, IsWrittenWhole) {
  coir::testing::TemporaryFolder const folder;
  coir::apps::Report report;
  report["sweeps"] = 150000;
  coir::apps::write_report(folder / "report.json", report);
  EXPECT_EQ(coir::testing::read_text(folder / "report.json"), coir::apps::report_text(report));
}

TEST(Report, MissingFolderIsAResourceError) {
  coir::testing::TemporaryFolder const folder;
  EXPECT_THROW(coir::apps::write_report(folder / "none/report.json", {}), coir::ResourceError);
}
