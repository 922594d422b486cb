#include <coir/array/calculus.hpp>

#include <array/naive.hpp>
#include <support/typed_suite.hpp>

#include <numbers>
#include <type_traits>

using namespace coir;
using coir::testing::message_of;
using coir::testing::values;

template <class Case>
class Calculus : public ::testing::Test {
 public:
  using T = typename Case::Real;
  using Space = typename Case::Exec::memory_space;

  template <class E>
  static void expect_near(E const& found, std::vector<double> const& expected) {
    auto const numbers = values(found);
    ASSERT_EQ(numbers.size(), expected.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_NEAR(numbers[i], expected[i],
                  4 * std::numeric_limits<T>::epsilon() * std::max(1.0, std::abs(expected[i])))
          << i;
  }
};
TYPED_TEST_SUITE(Calculus, coir::testing::Cases, coir::testing::CaseName);

#define TYPES                                              \
  TYPES_OF_CASE;                                           \
  auto const y = array<T, Space>({1, 4, 2, 8, 16});        \
  auto const x = array<T, Space>({0, 1, 3, 3.5, 6});       \
  auto const m = array<T, Space>({{1, 4, 9}, {16, 2, 3}}); \
  auto const at = array<T, Space>({0, 1, 4})

// Expected numbers are those of numpy.diff, numpy.gradient and numpy.trapezoid.

TYPED_TEST(Calculus, DifferencesOfNeighbours) {
  TYPES;
  EXPECT_EQ(values(diff(y)), (std::vector<T>{3, -2, 6, 8}));
  EXPECT_EQ(values(2 * diff(y)), (std::vector<T>{6, -4, 12, 16}));  // an expression
  EXPECT_EQ(values(diff(y, 2)), (std::vector<T>{-5, 8, 2}));
  EXPECT_EQ(values(diff(m, 1, 0)), (std::vector<T>{15, -2, -6}));
  EXPECT_EQ(values(diff(2 * m, 2)), (std::vector<T>{4, 30}));
  EXPECT_EQ(values(diff(y, 0)), values(y));
  EXPECT_EQ(diff(y, 7).size(), 0);
  EXPECT_EQ(diff(x(range(0, 1))).shape()[0], 0);
  EXPECT_EQ(diff(x(range(0, 0))).shape()[0], 0);
  auto const bytes = array<std::uint8_t, Space>({3, 1, 2});
  EXPECT_EQ(values(diff(bytes)), (std::vector<std::uint8_t>{254, 1}));
  EXPECT_EQ(values(diff(array<bool, Space>({true, false, false}))),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(message_of([&] { diff(y, -1); }), "differences can be taken 0 or more times, not -1");
  EXPECT_THROW(diff(y, 1, 1), PreconditionError);
}

TYPED_TEST(Calculus, GradientsOfEquallySpacedSamples) {
  TYPES;
  EXPECT_EQ(values(gradient(y)), (std::vector<T>{3, 0.5, 2, 7, 8}));
  EXPECT_EQ(values(gradient(y, 0.5)), (std::vector<T>{6, 1, 4, 14, 16}));
  EXPECT_EQ(values(gradient(m, 2, 0)), (std::vector<T>{7.5, -1, -3, 7.5, -1, -3}));
  EXPECT_EQ(values(gradient(m, 1, -1)), (std::vector<T>{3, 4, 5, -14, -6.5, 1}));
  auto const whole = gradient(array<int, Space>({1, 2, 4}));
  EXPECT_EQ(values(whole), (std::vector<double>{1, 1.5, 2}));
  EXPECT_EQ(message_of([&] { gradient(y(range(0, 1))); }),
            "a gradient needs at least 2 elements along axis 0, and the array has the shape (1,)");
}

TYPED_TEST(Calculus, GradientsAtCoordinates) {
  TYPES;
  this->expect_near(gradient(y, x), {3, 1.6666666666666667, 9.4, 10.533333333333333, 3.2});
  this->expect_near(gradient(m, at, 1), {3, 2.6666666666666665, 1.6666666666666667, -14,
                                         -10.416666666666666, 0.3333333333333333});
  // A parabola's slopes are exact inside, wherever the samples lie.
  this->expect_near(gradient(x * x, x)(range(1, -1)), {2, 6, 7});
  EXPECT_EQ(message_of([&] { gradient(m, at, 0); }),
            "axis 0 of an array of shape (2, 3) needs as many coordinates as elements, not 3");
}

TYPED_TEST(Calculus, IntegralsByTheTrapezoidalRule) {
  TYPES;
  EXPECT_EQ(trapezoid(y), T(22.5));
  EXPECT_EQ(trapezoid(y, 0.5), T(11.25));
  EXPECT_EQ(trapezoid(y, x), T(41));
  EXPECT_EQ(values(trapezoid(m, 1, 0)), (std::vector<T>{8.5, 3, 6}));
  EXPECT_EQ(values(trapezoid(m, at)), (std::vector<T>{22, 16.5}));
  EXPECT_EQ(trapezoid(array<int, Space>({1, 2, 4})), 4.5);
  EXPECT_EQ(trapezoid(y(range(0, 1))), T(0));
  EXPECT_EQ(trapezoid(y(range(0, 0))), T(0));
  EXPECT_TRUE((std::is_same_v<decltype(trapezoid(y)), T>));
  EXPECT_THROW(trapezoid(y, at), PreconditionError);
  EXPECT_THROW(trapezoid(y, 1, 1), PreconditionError);
}

// Expected numbers are those of numpy.unwrap.
TYPED_TEST(Calculus, AnglesWithoutJumps) {
  TYPES;
  T const pi = std::numbers::pi_v<T>, turn = 2 * pi;
  auto const angles = array<T, Space>({0, 3, -3, 0, 2, -2, -9});
  this->expect_near(unwrap(angles), {0, 3, turn - 3.0, turn, turn + 2.0, 2.0 * turn - 2,
                                     2.0 * turn - 2 + (turn - 7.0)});
  EXPECT_EQ(values(unwrap(array<T, Space>({0, 2, 4, 6, 1, 3}), 0, 8)),
            (std::vector<T>{0, 2, 4, 6, 9, 11}));
  // Steps of half a period stay.
  EXPECT_EQ(values(unwrap(array<T, Space>({0, 4, 0, -4, 8, 16}), 0, 8)),
            (std::vector<T>{0, 4, 0, -4, 0, 0}));
  EXPECT_EQ(values(unwrap(array<int, Space>({{0, 7, 1}, {5, 6, 0}}), 0, 8)),
            (std::vector<double>{0, 7, 1, -3, 6, 0}));
  EXPECT_EQ(values(unwrap(y(range(0, 1)))), (std::vector<T>{1}));
  EXPECT_EQ(unwrap(y(range(0, 0))).size(), 0);
  EXPECT_EQ(message_of([&] { unwrap(y, 0, 0); }),
            "the period of unwrap must be above 0 and finite, not 0");
  EXPECT_THROW(unwrap(y, 0, std::numeric_limits<double>::infinity()), PreconditionError);
  EXPECT_THROW(unwrap(y, 1), PreconditionError);
}
