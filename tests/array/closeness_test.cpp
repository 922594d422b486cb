#include <coir/array/closeness.hpp>
#include <coir/array/creation.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <limits>

using namespace coir;
using coir::testing::values;

COIR_TYPED_SUITE(Closeness);

// numpy.isclose and numpy.allclose of the same
TYPED_TEST(Closeness, IsThatOfNumPy) {
  TYPES_OF_CASE;
  T const infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  auto const a = array<T, Space>({1, 1, infinity, infinity, nan, T(1e-9), T(1e10)});
  auto const b =
      array<T, Space>({T(1.000005), T(1.0001), infinity, -infinity, nan, 0, T(1.000005e10)});
  EXPECT_EQ(values(isclose(a, b)),
            (std::vector<bool>{true, false, true, false, false, true, true}));
  EXPECT_EQ(values(isclose(a, b, {.equal_nan = true})),
            (std::vector<bool>{true, false, true, false, true, true, true}));
  EXPECT_FALSE(all(isclose(ones<T, Space>(1), infinity)));
  EXPECT_FALSE(allclose(a, b));
  EXPECT_TRUE(allclose(a(range(0, 1)), b(range(0, 1))));
  EXPECT_TRUE(allclose(a(range(0, 0)), b(range(0, 0))));
  // The second one is the measure.
  Tolerance const wide{.relative = 0.095, .absolute = 0};
  EXPECT_TRUE(allclose(ones<T, Space>(2), T(1.1), wide));
  EXPECT_FALSE(allclose(full<T, Space>({2}, T(1.1)), 1, wide));
  EXPECT_THROW(allclose(a, ones<T, Space>(2)), PreconditionError);
}

TYPED_TEST(Closeness, OfIntegersAndComplexNumbers) {
  TYPES_OF_CASE;
  EXPECT_EQ(values(isclose(array<int, Space>({1, 1000000, 3}), array<int, Space>({2, 1000001, 3}))),
            (std::vector<bool>{false, true, true}));
  auto const bytes = array<std::uint8_t, Space>({200, 44});
  EXPECT_EQ(values(isclose(bytes, 300)), (std::vector<bool>{false, false}));
  EXPECT_EQ(values(isclose(-1, bytes, {.relative = 0, .absolute = 50})),
            (std::vector<bool>{false, true}));
  using Complex = Kokkos::complex<T>;
  auto const z = array<Complex, Space>({Complex(1, 1), Complex(0, 2)});
  EXPECT_EQ(values(isclose(z, z + Complex(0, T(1e-6)))), (std::vector<bool>{true, true}));
  EXPECT_EQ(values(isclose(z, conj(z))), (std::vector<bool>{false, false}));
}
