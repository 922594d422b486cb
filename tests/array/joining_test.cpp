#include <coir/array/joining.hpp>
#include <coir/array/roll.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

using namespace coir;
using coir::testing::array_of;
using coir::testing::message_of;
using coir::testing::random_array;
using coir::testing::values;

COIR_TYPED_SUITE(Joining);

TYPED_TEST(Joining, Concatenated) {
  TYPES_OF_CASE;
  auto const a = array<T, Space>({{1, 2}, {3, 4}}), b = array<T, Space>({{5, 6}});
  EXPECT_EQ(values(concatenate(0, a, b, a)), (std::vector<T>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4}));
  EXPECT_EQ(values(concatenate(-1, a, 10 * a, transpose(b))),
            (std::vector<T>{1, 2, 10, 20, 5, 3, 4, 30, 40, 6}));
  EXPECT_EQ(message_of([&] { concatenate(1, a, b); }),
            "arrays of shapes (2, 2) and (1, 2) can't be joined along axis 1: the other extents "
            "must be equal");
  EXPECT_THROW(concatenate(2, a, b), PreconditionError);
}

TYPED_TEST(Joining, Stacked) {
  TYPES_OF_CASE;
  auto const a = array<T, Space>({1, 2, 3}), b = array<T, Space>({4, 5, 6});
  EXPECT_EQ(values(stack(0, a, b)), (std::vector<T>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(stack(1, a, b)), (std::vector<T>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(stack(-1, a, b, a).shape(), (Shape<2>{3, 3}));
  EXPECT_THROW(stack(0, a, ones<T, Space>(4)), PreconditionError);
}

TYPED_TEST(Joining, RolledAndTiled) {
  TYPES_OF_CASE;
  for (std::int64_t n : {1, 2, 31, 1009}) {
    auto const a = random_array<T, Space>(Shape<2>{3, n}, 4);
    auto const x = values(a);
    for (std::int64_t shift : {0, 1, -1, 5, -1000, 2018}) {
      auto const r = values(roll(a, shift, 1));
      for (int i = 0; i < 3; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          ASSERT_EQ(r[i * n + ((j + shift) % n + n) % n], x[i * n + j]) << n << " " << shift;
    }
    auto const t = values(tile(a, 2, 1));
    for (int i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 2 * n; ++j) ASSERT_EQ(t[i * 2 * n + j], x[i * n + j % n]);
  }
  EXPECT_EQ(tile(ones<T, Space>(3), 0).size(), 0);
  EXPECT_THROW(tile(ones<T, Space>(3), -1), PreconditionError);
  EXPECT_THROW(roll(ones<T, Space>(3), 1, 1), PreconditionError);
}

template <class A, class B>
void expect_equal(A const& a, B const& b) {
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(values(a), values(b));
}

// A statement reads rolled arrays where they are, whatever else it reads and writes.
TYPED_TEST(Joining, RolledInStatements) {
  TYPES_OF_CASE;
  for (std::int64_t n : {1, 3, 40, 1100}) {
    auto const a = random_array<T, Space>(Shape<3>{3, n, 4}, 5);
    auto const stored = evaluate(roll(a, {1, 5}, {0, 1}));
    expect_equal(evaluate(roll(a, {1, 5}, {0, 1}) + a), evaluate(stored + a));
    expect_equal(evaluate(transpose(evaluate(stored), {2, 1, 0}) +
                          roll(transpose(a, {2, 1, 0}), {5, 1}, {1, 2})),
                 evaluate(2 * transpose(stored, {2, 1, 0})));
    // Reductions of all elements and along each axis
    EXPECT_EQ(sum(roll(a, 2, 1) == stored), sum(evaluate(roll(a, 2, 1)) == stored));
    for (int axis = 0; axis < 3; ++axis)
      expect_equal(max(roll(a, {1, 5}, {0, 1}), axis), max(stored, axis));
    // An axis that is stretched
    auto const row = a(0, range(), range(0, 1));
    expect_equal(evaluate(roll(row, 3, 0) + a), evaluate(evaluate(roll(row, 3, 0)) + a));
    // Into a transpose, into every second element, and into the array itself
    Array<T, 3, Space> turned(Shape<3>{4, n, 3});
    transpose(turned, {2, 1, 0}) = roll(a, {1, 5}, {0, 1});
    expect_equal(evaluate(transpose(turned, {2, 1, 0})), stored);
    Array<T, 3, Space> spread(Shape<3>{3, n, 8});
    spread = T(0);
    spread(range(), range(), range(0, end, 2)) = roll(a, {1, 5}, {0, 1});
    expect_equal(evaluate(spread(range(), range(), range(0, end, 2))), stored);
    auto written = copy(a);
    written = roll(written, {1, 5}, {0, 1});
    expect_equal(written, stored);
    auto line = copy(a(1, range(), 2));
    auto const before = copy(line);
    line = roll(line, 1);
    expect_equal(line, evaluate(roll(before, 1)));
    line = copy(before);
    if (n > 1) {
      line(range(1, end)) = roll(line(range(0, n - 1)), 1);
      expect_equal(evaluate(line(range(1, end))), evaluate(roll(before(range(0, n - 1)), 1)));
    }
  }
}

// numpy.roll and numpy.tile of the same
TYPED_TEST(Joining, RolledAndTiledAlongSeveralAxes) {
  TYPES_OF_CASE;
  auto const m = array<T, Space>({{0, 1, 2}, {3, 4, 5}});
  EXPECT_EQ(values(roll(m, {1, -1}, {0, 1})), (std::vector<T>{4, 5, 3, 1, 2, 0}));
  EXPECT_EQ(values(roll(arange<T, Space>(5), {1, 2}, {0, 0})), (std::vector<T>{2, 3, 4, 0, 1}));
  EXPECT_EQ(values(roll(2 * m, {2, 3}, {-2, -1})), values(2 * m));
  for (std::int64_t n : {1, 7, 100}) {
    auto const a = random_array<T, Space>(Shape<3>{n, 3, 2}, 4);
    EXPECT_EQ(values(roll(a, {5, -1, 3}, {0, 1, 2})),
              values(roll(roll(roll(a, 5, 0), -1, 1), 3, 2)));
  }
  EXPECT_EQ(roll(m(range(0, 0)), {1, 1}, {0, 1}).shape(), (Shape<2>{0, 3}));
  EXPECT_EQ(values(roll(m, 1, 1)(1)), (std::vector<T>{5, 3, 4}));
  EXPECT_THROW(roll(m, {1, 1}, {0, 2}), PreconditionError);

  auto const square = array<T, Space>({{1, 2}, {3, 4}});
  EXPECT_EQ(values(tile(square, {2, 3})), (std::vector<T>{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4,  //
                                                          1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}));
  EXPECT_EQ(values(tile(square(0), {2, 2})), (std::vector<T>{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(values(tile(transpose(square(0, newaxis)), 2)), (std::vector<T>{1, 1, 2, 2}));
  EXPECT_EQ(tile(square, {1}).shape(), (Shape<2>{2, 2}));
  EXPECT_EQ(tile(square, {0, 3}).shape(), (Shape<2>{0, 6}));
  EXPECT_THROW(tile(square, {2, -1}), PreconditionError);
}

TYPED_TEST(Joining, CompressedByMasks) {
  TYPES_OF_CASE;
  for (std::int64_t n : {0, 1, 31, 5000}) {
    auto const a = random_array<T, Space>(Shape<2>{2, n}, 5);
    std::vector<T> expected;
    std::vector<std::int64_t> places;
    auto const x = values(a);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] > 20) {
        expected.push_back(2 * x[i]);
        places.push_back(static_cast<std::int64_t>(i));
      }
    EXPECT_EQ(values(compress(2 * a, a > 20)), expected);
    EXPECT_EQ(values(nonzero(ravel(a) > 20)), places);
    EXPECT_EQ(values(take(ravel(a), nonzero(ravel(a) > 20)) * 2), expected);
  }
  EXPECT_THROW(compress(ones<T, Space>(3), ones<T, Space>(4) > 0), PreconditionError);
}

TYPED_TEST(Joining, TakenByIndices) {
  TYPES_OF_CASE;
  auto const x = array<T, Space>({10, 20, 30});
  auto const at = array<int, Space>({{0, -1}, {2, 1}});
  EXPECT_EQ(values(take(x, at)), (std::vector<T>{10, 30, 30, 20}));
  EXPECT_EQ(message_of([&] { take(x, array<int, Space>({0, 3})); }),
            "index 3 is outside of a vector with 3 elements");
  EXPECT_EQ(message_of([&] { take(x, array<int, Space>({0, -4})); }),
            "index -4 is outside of a vector with 3 elements");
  EXPECT_EQ(message_of([&] {
              take(x, array<std::uint64_t, Space>({0, std::numeric_limits<std::uint64_t>::max()}));
            }),
            "index 18446744073709551615 is outside of a vector with 3 elements");
  EXPECT_EQ(take(x, array<int, Space>({0})(range(0, 0))).size(), 0);
}

// The types of elements combine as in operators, in whatever order.
TYPED_TEST(Joining, TypesCombineAsInOperators) {
  TYPES_OF_CASE;
  using Z = Kokkos::complex<float>;
  auto const check = [](auto const& x, auto const& y, auto const& right) {
    EXPECT_EQ(values(concatenate(0, x, y)), right);
    EXPECT_EQ(values(stack(0, x, y)), right);
    using T = value_t<decltype(concatenate(0, y, x))>;
    EXPECT_TRUE((std::is_same_v<T, promote_t<value_t<decltype(x)>, value_t<decltype(y)>>>));
  };
  auto const i8 = array<std::int8_t, Space>({-1});
  auto const i32 = array<std::int32_t, Space>({-1});
  auto const u32 = array<std::uint32_t, Space>({1});
  auto const i64 = array<std::int64_t, Space>({-1});
  auto const u64 = array<std::uint64_t, Space>({1});
  auto const f32 = array<float, Space>({0.5f});
  auto const f64 = array<double, Space>({0.1});
  auto const c32 = array_of<Space>(std::vector<Z>{Z(1, 2)}, Shape<1>{1});
  check(i32, u32, std::vector<std::int64_t>{-1, 1});
  check(i64, u64, std::vector<double>{-1, 1});
  check(i8, u32, std::vector<std::int64_t>{-1, 1});
  check(i64, f32, std::vector<float>{-1, 0.5f});
  check(c32, f64, std::vector<Kokkos::complex<double>>{{1, 2}, {0.1, 0}});
  check(c32, i64, std::vector<Z>{{1, 2}, {-1, 0}});
  auto const sixth = concatenate(0, i64, u64, f32), other = concatenate(0, f32, u64, i64);
  EXPECT_EQ(values(sixth), (std::vector<float>{-1, 1, 0.5f}));
  EXPECT_EQ(values(other), (std::vector<float>{0.5f, 1, -1}));
}

TYPED_TEST(Joining, ExtentsOfMoreThan63BitsAreRefused) {
  TYPES_OF_CASE;
  constexpr std::int64_t large = 1L << 62;
  auto const x = arange<T, Space>(4);
  EXPECT_EQ(message_of([&] { tile(x, large); }),
            "an axis has at most 2^63 - 1 elements, not 4 x 4611686018427387904");
  EXPECT_THROW(tile(x, {large, 1}), PreconditionError);
  EXPECT_EQ(tile(x(range(0, 0)), large).size(), 0);
  auto const wide = broadcast_to(x(range(0, 1)), {large});
  EXPECT_EQ(message_of([&] { concatenate(0, wide, wide); }),
            "an axis has at most 2^63 - 1 elements, not 4611686018427387904 + 4611686018427387904");
}
