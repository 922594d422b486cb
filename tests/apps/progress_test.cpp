#include <support/progress.hpp>

#include <gtest/gtest.h>

using coir::apps::progress_text;
using coir::apps::ProgressLine;
using coir::apps::ProgressMode;

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
