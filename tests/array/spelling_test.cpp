// What a NumPy user writes first compiles, and means the same.

#include <coir/array/all.hpp>

#include <array/naive.hpp>
#include <support/spaces.hpp>

#include <algorithm>
#include <type_traits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::values;

namespace {

template <class T, class E>
constexpr bool holds(E const&) {
  return std::is_same_v<value_t<E>, T>;
}

}  // namespace

TEST(Spelling, ShapesBetweenBraces) {
  std::int64_t const n = 3;
  EXPECT_EQ(zeros({2, 3}).shape(), (Shape<2>{2, 3}));
  EXPECT_EQ(zeros({5}).shape(), (Shape<1>{5}));
  EXPECT_EQ(zeros<float>({1, n, 0, 2}).shape(), (Shape<4>{1, n, 0, 2}));
  EXPECT_EQ(values(ones<int>({n})), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(empty<float>({n, n}).size(), 9);
  EXPECT_EQ(values(full({3}, 7.0)), (std::vector<double>{7, 7, 7}));
  EXPECT_EQ(values(full<float>({1, 2}, 7)), (std::vector<float>{7, 7}));
  EXPECT_TRUE(holds<int>(full({3}, 7)));
  EXPECT_EQ((zeros<float, Kokkos::HostSpace>({2, 2}).size()), 4);
  EXPECT_EQ(values(indices<1>({2, 2})), (std::vector<std::int64_t>{0, 1, 0, 1}));
  std::vector<double> numbers{1, 2, 3, 4};
  EXPECT_EQ(from_span(std::span(numbers), {2, 2}).shape(), (Shape<2>{2, 2}));
  EXPECT_EQ(borrow(std::span(numbers), {4, 1}).shape(), (Shape<2>{4, 1}));
  EXPECT_THROW(zeros({2, -1}), PreconditionError);
}

TEST(Spelling, ReshapedAndStretchedBetweenBraces) {
  auto const x = reshape(arange(6), {2, 3});
  EXPECT_EQ(x.shape(), (Shape<2>{2, 3}));
  EXPECT_EQ(reshape(x, {-1}).shape(), (Shape<1>{6}));
  EXPECT_EQ(reshape(x + 1, {3, -1, 1}).shape(), (Shape<3>{3, 2, 1}));
  EXPECT_EQ(values(broadcast_to(arange(2), {2, 2})), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_THROW(reshape(x, {4, 2}), PreconditionError);
}

TEST(Spelling, RangesOfMixedTypes) {
  auto const tenths = arange(0, 1, 0.1);
  EXPECT_TRUE(holds<double>(tenths));
  EXPECT_EQ(tenths.size(), 10);
  EXPECT_EQ(values(arange(0, 2.5)), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(values(arange(1.5f, 4, 1)), (std::vector<float>{1.5f, 2.5f, 3.5f}));
  EXPECT_EQ(values(arange(0, std::int64_t(3))), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(values(arange(0, std::size_t(2))), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(values(arange(3, 0, -1.5)), (std::vector<double>{3, 1.5}));
  // As before where types are named or equal.
  EXPECT_EQ(values(arange<double>(0, 3)), (std::vector<double>{0, 1, 2}));
  EXPECT_EQ((arange<float, Kokkos::HostSpace>(0, 3, 2).size()), 2);
  EXPECT_TRUE(holds<int>(arange(0, 3)));
}

TEST(Spelling, ArraysOfMixedNumbers) {
  auto const x = array({1, 2.5});
  EXPECT_TRUE(holds<double>(x));
  EXPECT_EQ(values(x), (std::vector<double>{1, 2.5}));
  EXPECT_EQ(values(array({0.5f, 2.5, 3})), (std::vector<double>{0.5, 2.5, 3}));
  int const i = 7;
  EXPECT_EQ(values(array({{1, 2.5}, {i, 4}})), (std::vector<double>{1, 2.5, 7, 4}));
  auto const whole = array({1, std::int64_t(1) << 60});
  EXPECT_EQ(values(whole), (std::vector<std::int64_t>{1, std::int64_t(1) << 60}));
  EXPECT_EQ(values(array({{true, 2}, {3, 4}})), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_TRUE(holds<int>(array({1, 2})));
  EXPECT_TRUE(holds<bool>(array({true, false})));
  EXPECT_EQ(values(array<float>({1, 2.5})), (std::vector<float>{1, 2.5}));
  EXPECT_EQ(message_of([] { array({1, 9223372036854775808u}); }),
            "integers of different types make an array of int64, up to 2^63 - 1, not "
            "9223372036854775808");
  EXPECT_EQ(message_of([] { array({{1, 2.5}, {3.5, 4, 5}}); }),
            "the rows of an array must be equally long: the first has 2 elements, another 3");
}

TEST(Spelling, LoopsGoAlongTheFirstAxis) {
  auto x = to_host(reshape(arange(6), {2, 3}));
  std::vector<int> seen;
  for (auto v : to_host(arange(3))) seen.push_back(v);
  for (auto const& row : x)
    for (int const v : row) seen.push_back(v);
  for (auto v : x(range(), -1)) seen.push_back(v);
  for (auto v : flip(x(0))) seen.push_back(v);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 0, 1, 2, 3, 4, 5, 2, 5, 2, 1, 0}));
  for (auto& v : x(0)) v = 9;
  for (auto row : x) row(0) = -1;
  EXPECT_EQ(values(x), (std::vector<int>{-1, 9, 9, -1, 4, 5}));
  for (auto v : zeros<int, Kokkos::HostSpace>(0)) FAIL() << v;
  auto const& fixed = x;
  EXPECT_TRUE((std::is_same_v<decltype(*fixed(0).begin()), int const&>));
  EXPECT_EQ(*std::max_element(x(1).begin(), x(1).end()), 5);
  EXPECT_EQ(std::vector<int>(x(1).begin(), x(1).end()), (std::vector<int>{-1, 4, 5}));
}
