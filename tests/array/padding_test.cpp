#include <coir/array/padding.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <cstdint>
#include <limits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::values;

COIR_TYPED_SUITE(Padding);

#define TYPES                                     \
  TYPES_OF_CASE;                                  \
  using Values [[maybe_unused]] = std::vector<T>; \
  auto const x = array<T, Space>({1, 2, 3});      \
  auto const one = array<T, Space>({5});          \
  auto const m = array<T, Space>({{1, 2}, {3, 4}})

// Expected numbers are those of numpy.pad.

TYPED_TEST(Padding, ByANumber) {
  TYPES;
  EXPECT_EQ(values(pad(x, 1)), (Values{0, 1, 2, 3, 0}));
  EXPECT_EQ(values(pad(2 * x, {0, 2}, 7)), (Values{2, 4, 6, 7, 7}));
  EXPECT_EQ(values(pad(m, {{1, 0}, {0, 2}}, 7)), (Values{7, 7, 7, 7, 1, 2, 7, 7, 3, 4, 7, 7}));
  EXPECT_EQ(pad(m, {{1, 2}}).shape(), (Shape<2>{5, 5}));
  EXPECT_EQ(values(pad(transpose(m), 0)), (Values{1, 3, 2, 4}));
  EXPECT_EQ(values(pad(x(range(0, 0)), {1, 2}, 4)), (Values{4, 4, 4}));
  EXPECT_EQ(pad(zeros<T, Space>({2, 1, 3, 0}), 1).shape(), (Shape<4>{4, 3, 5, 2}));
}

TYPED_TEST(Padding, ByTheNearestElement) {
  TYPES;
  EXPECT_EQ(values(pad(x, {2, 4}, Pad::edge)), (Values{1, 1, 1, 2, 3, 3, 3, 3, 3}));
  EXPECT_EQ(values(pad(one, {2, 1}, Pad::edge)), (Values{5, 5, 5, 5}));
  EXPECT_EQ(values(pad(m, {{1, 0}, {1, 2}}, Pad::edge)),
            (Values{1, 1, 2, 2, 2, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4}));
}

TYPED_TEST(Padding, ByReflection) {
  TYPES;
  EXPECT_EQ(values(pad(x, {2, 4}, Pad::reflect)), (Values{3, 2, 1, 2, 3, 2, 1, 2, 3}));
  EXPECT_EQ(values(pad(one, {2, 1}, Pad::reflect)), (Values{5, 5, 5, 5}));
  EXPECT_EQ(values(pad(m, {{1, 0}, {1, 2}}, Pad::reflect)),
            (Values{4, 3, 4, 3, 4, 2, 1, 2, 1, 2, 4, 3, 4, 3, 4}));
  EXPECT_EQ(values(pad(x, {0, 8}, Pad::reflect)), (Values{1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3}));
  EXPECT_EQ(values(pad(x, {2, 4}, Pad::symmetric)), (Values{2, 1, 1, 2, 3, 3, 2, 1, 1}));
  EXPECT_EQ(values(pad(m, {{1, 0}, {1, 2}}, Pad::symmetric)),
            (Values{1, 1, 2, 2, 1, 1, 1, 2, 2, 1, 3, 3, 4, 4, 3}));
  EXPECT_EQ(values(pad(x, {0, 8}, Pad::symmetric)), (Values{1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2}));
}

TYPED_TEST(Padding, Periodically) {
  TYPES;
  EXPECT_EQ(values(pad(x, {2, 4}, Pad::wrap)), (Values{2, 3, 1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(values(pad(flip(x), {0, 8}, Pad::wrap)), (Values{3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2}));
  EXPECT_EQ(values(pad(m, {{1, 0}, {1, 2}}, Pad::wrap)),
            (Values{4, 3, 4, 3, 4, 2, 1, 2, 1, 2, 4, 3, 4, 3, 4}));
}

TYPED_TEST(Padding, WhatIsNoMarginIsRefused) {
  TYPES;
  EXPECT_EQ(message_of([&] { pad(x, -1); }), "the widths of a margin must be 0 or more, not -1");
  EXPECT_EQ(message_of([&] { pad(zeros<T, Space>({2, 2, 2}), {{1, 1}, {0, 0}}); }),
            "a margin has one pair of widths, or as many as the array has axes: 3, not 2");
  EXPECT_EQ(
      message_of([&] { pad(zeros<T, Space>({2, 0}), 1, Pad::edge); }),
      "axis 1 of an array of shape (2, 0) has no element to stand in a margin: give a number");
}

TYPED_TEST(Padding, ExtentsOfMoreThan63BitsAreRefused) {
  TYPES;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(message_of([&] { pad(x, {most, most}); }),
            "an axis has at most 2^63 - 1 elements, not 3 + 9223372036854775807");
}
