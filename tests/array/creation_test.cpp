#include <coir/array/creation.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <limits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::values;

COIR_TYPED_SUITE(Creation);

TYPED_TEST(Creation, ConstantArrays) {
  TYPES_OF_CASE;
  EXPECT_EQ(values(zeros<T, Space>(2, 3)), std::vector<T>(6, T(0)));
  EXPECT_EQ(values(ones<T, Space>(5)), std::vector<T>(5, T(1)));
  EXPECT_EQ(values(full<T, Space>(Shape<2>{1, 4}, T(7))), std::vector<T>(4, T(7)));
  EXPECT_EQ((empty<T, Space>(3, 0, 2).shape()), (Shape<3>{3, 0, 2}));
  auto const like = zeros<T, Space>(2, 2);
  static_assert(std::is_same_v<decltype(ones_like(like)), Array<T, 2, Space>>);
  EXPECT_EQ(values(ones_like(like)), std::vector<T>(4, T(1)));
  EXPECT_EQ(values(zeros_like(like + 1)), std::vector<T>(4, T(0)));
  EXPECT_EQ(values(full_like(like, 3)), std::vector<T>(4, T(3)));
  EXPECT_EQ(message_of([] { full_like(zeros<std::uint8_t, Space>(2), 300); }),
            "an array of uint8 takes numbers from 0 to 255, not 300: cast the array to a larger "
            "type");
  EXPECT_EQ(empty_like(like).shape(), like.shape());
}

TYPED_TEST(Creation, Progressions) {
  TYPES_OF_CASE;
  EXPECT_EQ(values(arange<T, Space>(T(4))), (std::vector<T>{0, 1, 2, 3}));
  EXPECT_EQ(values(arange<T, Space>(T(1), T(3), T(0.5))), (std::vector<T>{1, 1.5, 2, 2.5}));
  EXPECT_EQ(values(arange<T, Space>(T(3), T(0), T(-2))), (std::vector<T>{3, 1}));
  EXPECT_EQ(values(arange<T, Space>(T(3), T(3))).size(), 0u);
  EXPECT_EQ(values(arange<T, Space>(T(3), T(1))).size(), 0u);
  EXPECT_EQ(values(arange<int, Space>(-3, 8, 4)), (std::vector<int>{-3, 1, 5}));
  EXPECT_EQ(values(arange<int, Space>(8, -3, -4)), (std::vector<int>{8, 4, 0}));
  EXPECT_EQ(message_of([] { arange<T, Space>(T(0), T(1), T(0)); }),
            "the step of arange must not be 0");
  EXPECT_THROW((arange<T, Space>(T(0), std::numeric_limits<T>::infinity())), PreconditionError);
}

TYPED_TEST(Creation, ProgressionsOfATypeHoldTheirNumbersOrRefuse) {
  TYPES_OF_CASE;
  using U8 = std::uint8_t;
  auto const bytes = values(arange<U8, Space>(256));  // of which the bound is none
  ASSERT_EQ(bytes.size(), 256U);
  EXPECT_EQ(bytes.back(), 255);
  EXPECT_EQ(values(arange<U8, Space>(5, 0, -2)), (std::vector<U8>{5, 3, 1}));
  EXPECT_EQ(values(arange<U8, Space>(2, -1, -1)), (std::vector<U8>{2, 1, 0}));
  EXPECT_EQ(values(arange<U8, Space>(300, 300)), std::vector<U8>{});
  EXPECT_EQ(values(arange<std::int8_t, Space>(-128, 128, 255)),
            (std::vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(message_of([] { arange<U8, Space>(300); }),
            "arange of numbers from 0 to 255 can't begin with 0 and end with 299: take a larger "
            "type");
  EXPECT_THROW((arange<U8, Space>(-1, 4)), PreconditionError);
  EXPECT_EQ(values(arange<unsigned, Space>(4U, 0U, -2)), (std::vector<unsigned>{4, 2}));
  EXPECT_THROW((arange<U8, Space>(0, 4, 0)), PreconditionError);
  auto const most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(values(arange<std::int64_t, Space>(-most, most, most)),
            (std::vector<std::int64_t>{-most, 0}));
  auto const first = ~std::uint64_t(0) - 2;
  EXPECT_EQ(values(arange<std::uint64_t, Space>(std::uint64_t(1), first, first / 2)),
            (std::vector<std::uint64_t>{1, first / 2 + 1}));
}

TYPED_TEST(Creation, PointsAtEqualDistances) {
  TYPES_OF_CASE;
  for (int n : {2, 5, 31, 1009, 5000}) {
    auto const x = values(linspace<T, Space>(-1, 2, n));
    ASSERT_EQ(x.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(x.front(), T(-1));
    EXPECT_EQ(x.back(), T(2));
    for (int i = 0; i < n; ++i)  // a quotient, a product and a sum of numbers below 3
      EXPECT_NEAR(x[i], -1 + 3.0 * i / (n - 1), 3 * 1.5 * std::numeric_limits<T>::epsilon());
  }
  EXPECT_EQ(values(linspace<T, Space>(3, 4, 1)), std::vector<T>{3});
  EXPECT_EQ(values(linspace<T, Space>(3, 4, 0)).size(), 0u);
  EXPECT_THROW((linspace<T, Space>(3, 4, -1)), PreconditionError);
  auto const powers = values(logspace<T, Space>(0, 4, 5, 2));
  for (int i = 0; i < 5; ++i)
    EXPECT_NEAR(powers[i], std::pow(2, i), 16 * 4 * std::numeric_limits<T>::epsilon());
}

// Bits of NumPy 2.4, on a machine whose g++ fuses products and sums wherever it may.
TYPED_TEST(Creation, LinspaceAndArangeHaveNumPysBits) {
  TYPES_OF_CASE;
  EXPECT_EQ(values(linspace<double, Space>(-1.3, 2.7, 7)),
            (std::vector<double>{-0x1.4cccccccccccdp+0, -0x1.4444444444445p-1, 0x1.11111111111p-5,
                                 0x1.6666666666666p-1, 0x1.5ddddddddddddp+0, 0x1.0444444444444p+1,
                                 0x1.599999999999ap+1}));
  EXPECT_EQ(values(linspace<float, Space>(-1.3, 2.7, 7)),
            (std::vector<float>{-0x1.4ccccc0000000p+0, -0x1.4444440000000p-1, 0x1.1111120000000p-5,
                                0x1.6666660000000p-1, 0x1.5dddde0000000p+0, 0x1.0444440000000p+1,
                                0x1.59999a0000000p+1}));
  EXPECT_EQ(values(arange<double, Space>(1., 2., 0.1)),
            (std::vector<double>{0x1.0p+0, 0x1.199999999999ap+0, 0x1.3333333333334p+0,
                                 0x1.4cccccccccccep+0, 0x1.6666666666668p+0, 0x1.8000000000002p+0,
                                 0x1.999999999999cp+0, 0x1.b333333333336p+0, 0x1.cccccccccccd0p+0,
                                 0x1.e66666666666ap+0}));
  EXPECT_TRUE(all(cast<int>(linspace<T, Space>(0, 99, 100)) == arange<int, Space>(100)));
  EXPECT_THROW((arange<T, Space>(T(0), T(1), std::numeric_limits<T>::infinity())),
               PreconditionError);
}

TYPED_TEST(Creation, PointsRoundTwice) {
  TYPES_OF_CASE;
  for (int n : {2, 3, 10, 101, 1009})
    for (double const high : {0.1, 0.7, 1.9, 1e-300}) {
      auto const x = values(linspace<double, Space>(-0.3, high, n));
      double const step = (high + 0.3) / (n - 1);
      for (int i = 0; i + 1 < n; ++i) {
        double const volatile moved = i * step;
        ASSERT_EQ(x[i], -0.3 + moved) << i << " of " << n;
      }
      ASSERT_EQ(x.back(), high);
    }
  // A step of 0 for its type.
  double const tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(values(linspace<double, Space>(0, tiny, 4)), (std::vector<double>{0, 0, tiny, tiny}));
}

TYPED_TEST(Creation, Matrices) {
  TYPES_OF_CASE;
  EXPECT_EQ(values(eye<T, Space>(2)), (std::vector<T>{1, 0, 0, 1}));
  EXPECT_EQ(values(eye<T, Space>(2, 3, 1)), (std::vector<T>{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(values(eye<T, Space>(2, 3, -1)), (std::vector<T>{0, 0, 0, 1, 0, 0}));
}

template <class T, class Space>
void check_functions_of_indices() {
  for (std::int64_t n : {1, 31, 600}) {
    auto const a = from_function<Space>(
        Shape<3>{3, 2, n}, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j, std::int64_t k) {
          return T(i * 100 + j * 10 - k);
        });
    auto const x = coir::testing::naive(a);
    coir::testing::for_each_index(
        x.shape, [&](auto const& i) { ASSERT_EQ(x.at(i), T(i[0] * 100 + i[1] * 10 - i[2])); });
    // Stretched, an index along an axis of one element stays 0.
    auto const row = index_map(
        Shape<2>{1, n}, KOKKOS_LAMBDA(std::int64_t i, std::int64_t k) { return T(i * 1000 + k); });
    auto const stretched = coir::testing::naive(zeros<T, Space>(4, n) + row);
    coir::testing::for_each_index(stretched.shape,
                                  [&](auto const& i) { ASSERT_EQ(stretched.at(i), T(i[1])); });
  }
}

TYPED_TEST(Creation, FunctionsOfIndices) {
  TYPES_OF_CASE;
  check_functions_of_indices<T, Space>();
  auto const shape = Shape<2>{3, 4};
  auto const along = coir::testing::naive(zeros<T, Space>(shape) +
                                          cast<T>(indices<0>(shape) * 10 + indices<1>(shape)));
  coir::testing::for_each_index(
      along.shape, [&](auto const& i) { EXPECT_EQ(along.at(i), T(i[0] * 10 + i[1])); });
}

TYPED_TEST(Creation, Grids) {
  TYPES_OF_CASE;
  auto const x = linspace<T, Space>(0, 1, 3), y = linspace<T, Space>(5, 8, 4);
  auto const [across, down] = meshgrid(x, y);
  auto const sums = coir::testing::naive(across + 10 * down);
  EXPECT_EQ(sums.shape, (std::vector<std::int64_t>{4, 3}));
  coir::testing::for_each_index(sums.shape, [&](auto const& i) {
    EXPECT_EQ(sums.at(i), T(0.5) * T(i[1]) + 10 * T(5 + i[0]));
  });
}

TYPED_TEST(Creation, FromNumbersAndBack) {
  TYPES_OF_CASE;
  auto const a = array<T, Space>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(a.shape(), (Shape<2>{2, 3}));
  EXPECT_EQ(values(a), (std::vector<T>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values(array<T, Space>({7, 8})), (std::vector<T>{7, 8}));
  EXPECT_EQ(message_of([] { array<T, Space>({{1, 2}, {3}}); }),
            "the rows of an array must be equally long: the first has 2 elements, another 1");
  std::vector<T> const elements{1, 2, 3};
  EXPECT_EQ(message_of([&] { from_span<Space>(std::span(elements), Shape<2>{2, 2}); }),
            "3 elements don't fill shape (2, 2)");
  auto const host = to_host(a * 2);
  static_assert(std::is_same_v<typename decltype(host)::space, Kokkos::HostSpace>);
  EXPECT_EQ(host(1, 2), T(12));
  EXPECT_EQ(values(to_device(host) + 1), (std::vector<T>{3, 5, 7, 9, 11, 13}));
}
