#include <support/colour_map.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace coir::apps;

/// The way back from sRGB, by the published matrices.
OkLab to_oklab(std::array<double, 3> const& srgb) {
  double linear[3];
  for (int n = 0; n < 3; ++n)
    linear[n] = srgb[n] <= 0.04045 ? srgb[n] / 12.92 : std::pow((srgb[n] + 0.055) / 1.055, 2.4);
  auto const [r, g, b] = linear;
  double const l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  double const m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  double const s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

}  // namespace

TEST(ColourMap, WhiteAndRedAreWhereOkLabHasThem) {
  auto const white = to_srgb({1, 0, 0});
  auto const red = to_srgb({0.627955, 0.224863, 0.125846});
  for (int n = 0; n < 3; ++n) {
    EXPECT_NEAR(white[n], 1, 1e-5);
    EXPECT_NEAR(red[n], n == 0 ? 1 : 0, 1e-3);
  }
}

TEST(ColourMap, EqualStepsLookEqual) {
  double shortest = 10, longest = 0;
  OkLab last = to_oklab(to_srgb(colour_path(0)));
  for (int n = 1; n <= 256; ++n) {
    auto const srgb = to_srgb(colour_path(n / 256.0));
    for (double const value : srgb) {
      EXPECT_GE(value, 0) << n;
      EXPECT_LE(value, 1) << n;
    }
    OkLab const lab = to_oklab(srgb);
    EXPECT_GT(lab.lightness, last.lightness);
    double const step = std::hypot(lab.lightness - last.lightness, lab.a - last.a, lab.b - last.b);
    shortest = std::min(shortest, step);
    longest = std::max(longest, step);
    last = lab;
  }
  EXPECT_LT(longest, 1.1 * shortest);
}

TEST(ColourMap, NumbersOutsideAreClamped) {
  EXPECT_EQ(colour_of(-1), colour_of(0));
  EXPECT_EQ(colour_of(2), colour_of(1));
  EXPECT_LT(colour_of(0)[0], 40);
  EXPECT_GT(colour_of(1)[0], 215);
}

// The demonstration's page shows the colours as a bar.
TEST(ColourMap, TheDemonstrationsBarHasTheseColours) {
  std::string colours;
  for (int n = 0; n <= 8; ++n) {
    auto const colour = colour_of(n / 8.0);
    char text[16];
    std::snprintf(text, sizeof text, "#%02x%02x%02x", colour[0], colour[1], colour[2]);
    colours += (n == 0 ? "" : ", ") + std::string(text);
  }
  std::ifstream const file(COIR_DEMO_SCRIPT);
  std::stringstream script;
  script << file.rdbuf();
  EXPECT_NE(script.str().find("\nCOLOURS=\"" + colours + "\"\n"), std::string::npos) << colours;
}

TEST(ColourMap, TheTableRunsFromTheFirstColourToTheLast) {
  auto const table = table_of_colours();
  EXPECT_EQ(table.front(), colour_of(0));
  EXPECT_EQ(table.back(), colour_of(1));
}
