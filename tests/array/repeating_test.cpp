#include <coir/array/repeating.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <cstdint>
#include <limits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::values;

COIR_TYPED_SUITE(Repeating);

// Expected numbers are those of numpy.repeat.
TYPED_TEST(Repeating, EachElement) {
  TYPES_OF_CASE;
  using Values = std::vector<T>;
  auto const m = array<T, Space>({{1, 2}, {3, 4}});
  EXPECT_EQ(values(repeat(m, 2)), (Values{1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(values(repeat(m, 2, 0)), (Values{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(values(repeat(2 * m, 3, -1)), (Values{2, 2, 2, 4, 4, 4, 6, 6, 6, 8, 8, 8}));
  EXPECT_EQ(values(repeat(transpose(m), 2, 1)), (Values{1, 1, 3, 3, 2, 2, 4, 4}));
  EXPECT_EQ(repeat(ones<T, Space>({2, 1, 3, 5}), 4, 2).shape(), (Shape<4>{2, 1, 12, 5}));
  EXPECT_EQ(repeat(m, 0).size(), 0);
  EXPECT_EQ(repeat(m(range(0, 0)), 3, 1).shape(), (Shape<2>{0, 6}));
  EXPECT_EQ(message_of([&] { repeat(m, -1); }),
            "an element can be repeated 0 or more times, not -1");
  EXPECT_THROW(repeat(m, 2, 2), PreconditionError);
}

TYPED_TEST(Repeating, EachElementAsOftenAsTold) {
  TYPES_OF_CASE;
  auto const x = array<T, Space>({1, 2, 3});
  EXPECT_EQ(values(repeat(x, array<int, Space>({2, 0, 3}))), (std::vector<T>{1, 1, 3, 3, 3}));
  EXPECT_EQ(values(repeat(x, array<std::uint64_t, Space>({1, 0, 2}))), (std::vector<T>{1, 3, 3}));
  EXPECT_EQ(repeat(x, array<int, Space>({0, 0, 0})).size(), 0);
  EXPECT_EQ(repeat(x(range(0, 0)), arange<int, Space>(0)).size(), 0);
  EXPECT_EQ(message_of([&] { repeat(x, array<int, Space>({1, 2})); }),
            "a vector of 3 elements can't be repeated by 2 numbers: give one for each");
  EXPECT_EQ(message_of([&] { repeat(x, array<int, Space>({1, -2, 1})); }),
            "an element can be repeated 0 or more times, not -2");
}

// So many that several threads write, each behind those before it.
TYPED_TEST(Repeating, ManyElementsAsOftenAsTold) {
  TYPES_OF_CASE;
  std::int64_t const n = 20011;
  std::vector<T> x, expected;
  std::vector<int> times;
  for (std::int64_t i = 0; i < n; ++i) {
    x.push_back(static_cast<T>(i % 1000));
    times.push_back(static_cast<int>(i * i % 5) - static_cast<int>(i * i % 5 == 4));
    expected.insert(expected.end(), static_cast<std::size_t>(times.back()), x.back());
  }
  auto const a = coir::testing::array_of<Space>(x, Shape<1>{n});
  auto const counts = coir::testing::array_of<Space>(times, Shape<1>{n});
  EXPECT_EQ(values(repeat(a, counts)), expected);
  EXPECT_EQ(values(repeat(flip(a), flip(counts))),
            (std::vector<T>(expected.rbegin(), expected.rend())));
}

TYPED_TEST(Repeating, ExtentsOfMoreThan63BitsAreRefused) {
  TYPES_OF_CASE;
  constexpr std::int64_t large = 1L << 62;
  auto const x = array<T, Space>({1, 2, 3, 4});
  EXPECT_EQ(message_of([&] { repeat(x, large); }),
            "an axis has at most 2^63 - 1 elements, not 4 x 4611686018427387904");
  EXPECT_EQ(message_of([&] { repeat(x, full<std::int64_t, Space>({4}, large)); }),
            "a vector can be repeated to fewer than 2^62 elements, not 1.84467e+19");
  EXPECT_EQ(message_of([&] { repeat(x, full<std::uint64_t, Space>({4}, ~std::uint64_t(0))); }),
            "a vector can be repeated to fewer than 2^62 elements, not 7.3787e+19");
}
