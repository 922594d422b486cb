#include <coir/array/all.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <numeric>
#include <random>

using namespace coir;
using coir::testing::array_of;
using coir::testing::for_each_index;
using coir::testing::message_of;
using coir::testing::Naive;
using coir::testing::naive;
using coir::testing::random_array;
using coir::testing::values;

COIR_TYPED_SUITE(ArrayOf);

TYPED_TEST(ArrayOf, CopiesHaveTheirOwnElements) {
  TYPES_OF_CASE;
  auto a = full<T, Space>(Shape<2>{3, 5}, T(2));
  auto b = a;
  a(1, range()) = 7;
  EXPECT_EQ(values(b), std::vector<T>(15, T(2)));
  b = a;
  a = 0;
  EXPECT_EQ(sum(b), T(2 * 10 + 7 * 5));
}

TYPED_TEST(ArrayOf, AssignmentKeepsTheMemoryOfAnEqualShape) {
  TYPES_OF_CASE;
  auto a = zeros<T, Space>(4, 6);
  T* const memory = a.data();
  a = ones<T, Space>(4, 6) + 1;
  EXPECT_EQ(a.data(), memory);
  a = ones<T, Space>(2, 6) + 1;
  EXPECT_EQ(a.shape(), (Shape<2>{2, 6}));
  EXPECT_EQ(values(a), std::vector<T>(12, T(2)));
}

TYPED_TEST(ArrayOf, MovedFromHasNoMemory) {
  TYPES_OF_CASE;
  auto a = ones<T, Space>(4);
  auto const b = std::move(a);
  EXPECT_FALSE(a.has_memory());
  EXPECT_TRUE(b.has_memory());
  EXPECT_EQ(message_of([&] { evaluate(a + 1); }),
            "this array has no memory yet: assign to it, or make it by zeros, empty or the like");
  a = b;
  EXPECT_EQ(values(a), std::vector<T>(4, T(1)));
}

TYPED_TEST(ArrayOf, DefaultConstructedCanOnlyBeAssignedTo) {
  TYPES_OF_CASE;
  Array<T, 2, Space> a;
  EXPECT_EQ(a.size(), 0);
  EXPECT_THROW(sum(a), PreconditionError);
  EXPECT_THROW(a(0, 0), PreconditionError);
  EXPECT_THROW(a.all(), PreconditionError);
  Array<T, 2, Space> const copy = a;
  EXPECT_FALSE(copy.has_memory());
  a = zeros<T, Space>(0, 3);
  EXPECT_TRUE(a.has_memory());
  EXPECT_EQ(sum(a), T(0));
}

TYPED_TEST(ArrayOf, RankZeroIsANumber) {
  TYPES_OF_CASE;
  Array<T, 0, Space> x(Shape<0>{});
  x = 5;
  EXPECT_EQ(x.item(), T(5));
  x = x * 2 + 1;
  EXPECT_EQ(static_cast<T>(x), T(11));
  auto const y = evaluate(ones<T, Space>(3) * x);
  EXPECT_EQ(values(y), std::vector<T>(3, T(11)));
}

TYPED_TEST(ArrayOf, ElementsAreReadAndWritten) {
  TYPES_OF_CASE;
  auto a = zeros<T, Space>(2, 3);
  a(1, 2) = 4;
  a(-2, -3) = 9;
  T const corner = a(1, 2);
  EXPECT_EQ(corner, T(4));
  EXPECT_EQ(values(a), (std::vector<T>{9, 0, 0, 0, 0, 4}));
}

TYPED_TEST(ArrayOf, IndicesOutsideAreNamed) {
  TYPES_OF_CASE;
  auto a = zeros<T, Space>(3, 4);
  EXPECT_EQ(message_of([&] { a(3, 0) = 1; }), "index 3 is outside of axis 0 with 3 elements");
  EXPECT_EQ(message_of([&] { a(0, -5) = 1; }), "index -5 is outside of axis 1 with 4 elements");
  EXPECT_EQ(message_of([&] { a(range(0, 9)) = 1; }),
            "range bound 9 is outside of axis 0 with 3 elements");
  EXPECT_EQ(message_of([&] { a(range(-4, 2)) = 1; }),
            "range bound -4 is outside of axis 0 with 3 elements");
  EXPECT_EQ(message_of([&] { a(range(0, 2, 0)) = 1; }), "the step of a range must not be 0");
}

TYPED_TEST(ArrayOf, ShapesThatDontFitAreNamed) {
  TYPES_OF_CASE;
  auto a = zeros<T, Space>(3, 4);
  EXPECT_EQ(
      message_of([&] { a(0) = zeros<T, Space>(5); }),
      "values of shape (5,) can't fill shape (4,): extents must be equal, or 1 in the values");
  EXPECT_EQ(message_of([&] { evaluate(a + zeros<T, Space>(3)); }),
            "shapes (3, 4) and (3,) don't broadcast: axis 1 has 4 and 3 elements; they must be "
            "equal or one of them 1");
}

TYPED_TEST(ArrayOf, SizesThatCantBeAreRefused) {
  TYPES_OF_CASE;
  constexpr std::int64_t large = std::int64_t(1) << 40;
  EXPECT_THROW((zeros<T, Space>(large, large)), PreconditionError);
  EXPECT_THROW((zeros<T, Space>(-1, 2)), PreconditionError);
  EXPECT_THROW((empty<T, Space>(large, 1024)), ResourceError);
}

// What a range takes of an axis, index by index.
std::vector<std::int64_t> taken(std::int64_t extent, std::int64_t start, std::int64_t stop,
                                std::int64_t step) {
  std::vector<std::int64_t> result;
  if (step > 0)
    for (std::int64_t i = start; i < stop && i < extent; i += step) result.push_back(i);
  else
    for (std::int64_t i = std::min(start, extent - 1); i > stop; i += step) result.push_back(i);
  return result;
}

struct Cut {
  Range range{end, end, 1};
  std::vector<std::int64_t> indices;
};

Cut random_cut(std::mt19937& generator, std::int64_t extent) {
  auto const below = [&](std::int64_t n) { return static_cast<std::int64_t>(generator() % n); };
  std::int64_t const step = below(3) + 1;
  std::int64_t start = below(extent + 1), stop = below(extent + 1);
  if (below(2) == 0)
    return {range(start - (start < extent && below(2) ? extent : 0), stop, step),
            taken(extent, start, stop, step)};
  if (below(2) == 0) return {range(end, end, -step), taken(extent, extent - 1, -1, -step)};
  return {range(start, stop, -step), taken(extent, start, stop, -step)};
}

TYPED_TEST(ArrayOf, SlicesOfSlicesAreThoseOfPlainLoops) {
  TYPES_OF_CASE;
  std::mt19937 generator(5);
  for (int trial = 0; trial < 60; ++trial) {
    Shape<3> shape{};
    for (auto& extent : shape) extent = 1 + generator() % 9;
    auto a = random_array<T, Space>(shape, trial);
    auto const plain = naive(a);
    Cut const first = random_cut(generator, shape[0]), second = random_cut(generator, shape[1]),
              third = random_cut(generator, shape[2]);
    auto const part = a(first.range, second.range, third.range);
    Naive<T> expected({std::int64_t(first.indices.size()), std::int64_t(second.indices.size()),
                       std::int64_t(third.indices.size())});
    for_each_index(expected.shape, [&](auto const& i) {
      expected.at(i) = plain.at({first.indices[i[0]], second.indices[i[1]], third.indices[i[2]]});
    });
    EXPECT_EQ(naive(part).shape, expected.shape);
    EXPECT_EQ(values(part), expected.elements) << "trial " << trial;

    // Written through, it changes these elements and no others.
    auto after = plain;
    for_each_index(expected.shape, [&](auto const& i) {
      after.at({first.indices[i[0]], second.indices[i[1]], third.indices[i[2]]}) += T(1000);
    });
    part = part + 1000;
    EXPECT_EQ(values(a), after.elements) << "trial " << trial;
  }
}

TYPED_TEST(ArrayOf, IntegersAndNewAxesChangeTheRank) {
  TYPES_OF_CASE;
  auto const a = random_array<T, Space>(Shape<3>{4, 5, 6}, 1);
  auto const plain = naive(a);
  auto const row = a(2, -1);
  auto const column = a(range(), 3, 0);
  auto const thick = a(0, newaxis, range(1, 3), newaxis, 5);
  static_assert(decltype(row)::rank == 1 && decltype(column)::rank == 1 &&
                decltype(thick)::rank == 3);
  EXPECT_EQ(thick.shape(), (Shape<3>{1, 2, 1}));
  for (int k = 0; k < 6; ++k) EXPECT_EQ(values(row)[k], plain.at({2, 4, k}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(values(column)[i], plain.at({i, 3, 0}));
  for (int j = 0; j < 2; ++j) EXPECT_EQ(values(thick)[j], plain.at({0, 1 + j, 5}));
}

TYPED_TEST(ArrayOf, LongRowsAreStretchedToo) {
  TYPES_OF_CASE;
  for (std::int64_t n : {1, 2, 31, 513, 1009, 5000}) {
    auto const x = random_array<T, Space>(Shape<2>{3, n}, 2);
    auto const column = random_array<T, Space>(Shape<2>{3, 1}, 3);
    auto const x_n = naive(x), column_n = naive(column);
    auto const result = naive(x * column);
    for_each_index(result.shape, [&](auto const& i) {
      ASSERT_EQ(result.at(i), x_n.at(i) * column_n.at({i[0], 0})) << n;
    });
    auto const across = naive(transpose(x) * x(0, range(0, 3 < n ? 3 : 1)));
    for_each_index(across.shape, [&](auto const& i) {
      ASSERT_EQ(across.at(i), x_n.at({i[1], i[0]}) * x_n.at({0, n > 3 ? i[1] : 0})) << n;
    });
  }
}

// What is read is what was there before, however the parts overlap.
// Devices write long rows 16 bytes at a time where addresses and lengths allow it.
TYPED_TEST(ArrayOf, VeryLongRowsAreWrittenWhereTheyLie) {
  TYPES_OF_CASE;
  std::int64_t const n = (1 << (runs_on_host<typename Space::execution_space> ? 20 : 22)) + 16;
  auto x = zeros<T, Space>(n);
  x = cast<T>(indices<0>(x.shape()) % 1000);
  for (auto const& [first, last] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, n}, {8, n - 8}, {1, n - 7}, {8, n - 5}}) {
    auto y = zeros<T, Space>(n);
    auto large = zeros<bool, Space>(n);
    auto const part = range(first, last);
    y(part) = 2 * x(part) + 1;
    large(part) = x(part) > 500;
    auto const written = values(y);
    auto const marked = values(large);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      bool const in = first <= i && i < last;
      auto const at = static_cast<std::size_t>(i);
      wrong += written[at] != (in ? static_cast<T>(2 * (i % 1000) + 1) : T(0));
      wrong += marked[at] != (in && i % 1000 > 500);
    }
    EXPECT_EQ(wrong, 0) << "from " << first << " to " << last << " of " << n;
  }
}

TYPED_TEST(ArrayOf, OverlappingAssignmentsReadTheOldElements) {
  TYPES_OF_CASE;
  std::mt19937 generator(3);
  for (std::int64_t n : {2, 3, 100, 5000}) {
    for (int trial = 0; trial < 20; ++trial) {
      auto x = random_array<T, Space>(Shape<1>{n}, trial);
      auto plain = values(x);
      std::int64_t const length = 1 + generator() % n;
      std::int64_t const from = generator() % (n - length + 1), to = generator() % (n - length + 1);
      auto expected = plain;
      for (std::int64_t i = 0; i < length; ++i)
        expected[to + i] = plain[from + i] + plain[from + length - 1 - i];
      x(range(to, to + length)) =
          x(range(from, from + length)) + flip(x(range(from, from + length)));
      ASSERT_EQ(values(x), expected) << n << " " << length << " " << from << " " << to;
    }
  }
}

TYPED_TEST(ArrayOf, TransposingInPlaceIsSafe) {
  TYPES_OF_CASE;
  auto a = random_array<T, Space>(Shape<2>{37, 37}, 4);
  auto const plain = naive(a);
  a = transpose(a);
  auto const result = naive(a);
  for_each_index(plain.shape,
                 [&](auto const& i) { ASSERT_EQ(result.at(i), plain.at({i[1], i[0]})); });
}

TYPED_TEST(ArrayOf, MasksChooseWhatIsWritten) {
  TYPES_OF_CASE;
  for (std::int64_t n : {0, 1, 31, 1009}) {
    auto x = random_array<T, Space>(Shape<1>{n}, 6);
    auto const y = random_array<T, Space>(Shape<1>{n}, 7);
    auto expected = values(x);
    auto const other = values(y);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (expected[i] < 0) expected[i] = 0;
      if (other[i] > 10) expected[i] = 2 * other[i];
      if (expected[i] > 50) expected[i] -= 50;
    }
    x(x < 0) = 0;
    x(y > 10) = 2 * y;
    x(x > 50) -= 50;
    EXPECT_EQ(values(x), expected);
  }
  auto matrix = zeros<T, Space>(3, 4);
  auto const row = array_of<Space>(std::vector<T>{1, -1, 1, -1}, Shape<1>{4});
  matrix(row > 0) = 5;
  EXPECT_EQ(sum(matrix), T(30));
  EXPECT_THROW((matrix(zeros<T, Space>(3) > 0) = 1), PreconditionError);
}

TYPED_TEST(ArrayOf, ViewsAreBorrowed) {
  TYPES_OF_CASE;
  Kokkos::View<T**, Kokkos::LayoutRight, Space> const view("view", 3, 5);
  auto a = borrow(view);
  a = 3;
  a(1) += 1;
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
  EXPECT_EQ(host(0, 4), T(3));
  EXPECT_EQ(host(1, 0), T(4));
  EXPECT_EQ(a.view().data(), view.data());
  EXPECT_EQ(a.view().extent(1), 5u);

  auto const copy = a;
  EXPECT_NE(copy.data(), view.data());

  Kokkos::View<T**, Kokkos::LayoutLeft, Space> const fortran("fortran", 3, 5);
  slice_of(fortran) = a;
  EXPECT_EQ(values(slice_of(fortran)), values(a));
  EXPECT_THROW(borrow(Kokkos::subview(view, Kokkos::ALL, std::pair(0, 3))), PreconditionError);
}

TYPED_TEST(ArrayOf, SlicesKeepTheirMemoryAlive) {
  TYPES_OF_CASE;
  auto const part = ones<T, Space>(1000)(range(10, 20));
  auto const other = full<T, Space>(Shape<1>{1000}, T(7));  // would take the freed memory
  EXPECT_EQ(values(part), std::vector<T>(10, T(1)));
  auto const expression = ones<T, Space>(1000) + 1;
  auto const another = full<T, Space>(Shape<1>{1000}, T(7));
  EXPECT_EQ(sum(expression), T(2000));
}

TYPED_TEST(ArrayOf, EmptyArraysGoThroughEverything) {
  TYPES_OF_CASE;
  auto const none = zeros<T, Space>(0, 5);
  EXPECT_EQ((none + 1).shape(), (Shape<2>{0, 5}));
  EXPECT_EQ(values(sqrt(none) * 2).size(), 0u);
  EXPECT_EQ(sum(none), T(0));
  EXPECT_EQ(prod(none), T(1));
  EXPECT_FALSE(any(none));
  EXPECT_TRUE(all(none));
  EXPECT_THROW(max(none), PreconditionError);
  EXPECT_EQ(values(sum(none, 0)), std::vector<T>(5, T(0)));
  EXPECT_EQ(values(sum(none, 1)).size(), 0u);
  EXPECT_THROW(min(none, 0), PreconditionError);
  EXPECT_NO_THROW(min(none, 1));
  EXPECT_EQ(transpose(none).shape(), (Shape<2>{5, 0}));
  EXPECT_EQ(flip(none, 0).size(), 0);
  EXPECT_EQ(roll(none, 3).size(), 0);
  EXPECT_EQ(concatenate(0, none, none).size(), 0);
  EXPECT_EQ(reshape(none, Shape<1>{0}).size(), 0);
  EXPECT_EQ(compress(none, none > 0).size(), 0);
  auto written = none;
  written = none + none;
  written(written > 0) = 1;
  EXPECT_EQ(written.size(), 0);
}

TEST(ArraySpans, ElementsAreInCOrder) {
  Array<int, 2, Kokkos::HostSpace> a({2, 3});
  a = indices<0>(a.shape()) * 10 + indices<1>(a.shape());
  auto const span = a.span();
  EXPECT_EQ(std::vector<int>(span.begin(), span.end()), (std::vector<int>{0, 1, 2, 10, 11, 12}));
  std::vector<double> mine{1, 2, 3, 4};
  auto over = borrow(std::span(mine), Shape<2>{2, 2});
  over *= 2;
  EXPECT_EQ(mine[3], 8);
  EXPECT_THROW(borrow(std::span(mine), Shape<1>{5}), PreconditionError);
}

// What must not compile. NumPy would say so when it runs.
template <class A, class B>
concept Adds = requires(A a, B b) { a + b; };
template <class A, class B>
concept BitAnds = requires(A a, B b) { a & b; };
template <class A, class... I>
concept Indexes = requires(A a, I... i) { a(i...); };

TEST(ArrayTypes, WhatMakesNoSenseDoesNotCompile) {
  using Reals = Array<double, 2>;
  static_assert(Adds<Reals, Reals> && Adds<Reals, int>);
  static_assert(!Adds<Reals, char const*>);
  static_assert(!BitAnds<Reals, Reals> && BitAnds<Array<int, 1>, Array<bool, 1>>);
  static_assert(Indexes<Reals, int, int> && !Indexes<Reals, int, int, int>);
  static_assert(!Indexes<Reals, double>);
  static_assert(!std::is_constructible_v<Reals, Array<double, 1>>);
  struct OtherSpace : Kokkos::HostSpace {};
  static_assert(!Adds<Reals, Slice<double, 2, OtherSpace>>);
}
