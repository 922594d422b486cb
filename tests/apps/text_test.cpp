#include <support/text.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

using coir::apps::counted;
using coir::apps::exact_text;
using coir::apps::joined;
using coir::apps::split;
using Texts = std::vector<std::string>;

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
