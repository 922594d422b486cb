#include <coir/array/interpolation.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <limits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::values;

COIR_TYPED_SUITE(Interpolation);

#define TYPES                                     \
  TYPES_OF_CASE;                                  \
  auto const points = array<T, Space>({1, 2, 4}); \
  auto const table = array<T, Space>({10, 20, 0})

// Expected numbers are those of numpy.interp.
TYPED_TEST(Interpolation, ReadsATable) {
  TYPES;
  auto const x = array<T, Space>({0, 1, 1.5, 2, 3, 4, 5});
  EXPECT_EQ(values(interp(x, points, table)), (std::vector<T>{10, 10, 15, 20, 10, 0, 0}));
  EXPECT_EQ(values(interp(x, points, table, -1, -2)), (std::vector<T>{-1, 10, 15, 20, 10, 0, -2}));
  EXPECT_EQ(values(interp(reshape(x(range(1, 5)), {2, 2}), 1 * points, 2 * table)),
            (std::vector<T>{20, 30, 40, 20}));
  T const nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  EXPECT_TRUE(std::isnan(values(interp(array<T, Space>({nan}), points, table))[0]));
  auto const cliff = array<T, Space>({infinity, infinity, 0});
  EXPECT_EQ(values(interp(array<T, Space>({1.5, 3}), points, cliff)),
            (std::vector<T>{infinity, infinity}));
  auto const one = array<T, Space>({1}), seven = array<T, Space>({7});
  EXPECT_EQ(values(interp(array<T, Space>({0, 1, 2}), one, seven)), (std::vector<T>{7, 7, 7}));
  EXPECT_EQ(interp(x(range(0, 0)), points, table).size(), 0);
}

TYPED_TEST(Interpolation, BetweenPointsAndValuesFarApart) {
  TYPES;
  (void)points, (void)table;
  T const most = std::numeric_limits<T>::max();
  auto const ends = array<T, Space>({-most, most}), small = array<T, Space>({-4, 4});
  EXPECT_EQ(values(interp(array<T, Space>({-4, 0, 4}), small, ends)),
            (std::vector<T>{-most, 0, most}));
  EXPECT_NEAR(values(interp(array<T, Space>({-2}), small, ends))[0] / most, -0.5,
              std::numeric_limits<T>::epsilon());
  EXPECT_EQ(values(interp(array<T, Space>({-most, -most / 2, 0, most / 2, most}), ends, small)),
            (std::vector<T>{-4, -2, 0, 2, 4}));
  EXPECT_EQ(values(interp(array<T, Space>({0, most}), ends, ends)), (std::vector<T>{0, most}));
}

TYPED_TEST(Interpolation, ReadsIntegersAndComplexValues) {
  TYPES;
  auto const whole = array<int, Space>({0, 10, 30});
  EXPECT_EQ(values(interp(array<int, Space>({5, 20}), whole, array<int, Space>({0, 1, 2}))),
            (std::vector<double>{0.5, 1.5}));
  using Complex = Kokkos::complex<T>;
  auto const waves = array<Complex, Space>({Complex(1, 1), Complex(3, 5), Complex(0, 0)});
  EXPECT_EQ(values(interp(array<T, Space>({1.5}), points, waves))[0], Complex(2, 3));
}

TYPED_TEST(Interpolation, AgreesWithTheLineInManyPlaces) {
  TYPES;
  for (std::int64_t n : {1, 2, 33, 1000}) {
    auto const grid = linspace<T, Space>(0, T(n), n + 1);
    auto const x = linspace<T, Space>(0, T(n), 777);
    EXPECT_LE(max(abs(interp(x, grid, 3 * grid - 1) - (3 * x - 1))),
              16 * n * std::numeric_limits<T>::epsilon());
  }
}

TYPED_TEST(Interpolation, WhatIsNoTableIsRefused) {
  TYPES;
  EXPECT_EQ(message_of([&] { interp(points, points, table(range(0, 2))); }),
            "a table needs as many values as points, at least one, not 2 at 3");
  EXPECT_THROW(interp(points, points(range(0, 0)), table(range(0, 0))), PreconditionError);
}
