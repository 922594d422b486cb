#include <support/units.hpp>

#include <gtest/gtest.h>

#include <limits>

using coir::apps::percent;
using coir::apps::with_unit;

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
