#include <coir/poisson/red_black.hpp>

#include <poisson/random_fields.hpp>
#include <support/typed_suite.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

using coir::poisson::optimal_omega;
using coir::poisson::red_black;
using coir::poisson::RedBlackOptions;
using coir::testing::GridOf;
using coir::testing::on_host;

namespace {

/// The sweeps as the definition has them, cell by cell on host copies.
template <class U, class B>
void plain_loop(U const& u, B const& b, int sweeps, double omega) {
  using T = typename U::value_type;
  auto const u_h = on_host(u);
  auto const b_h = on_host(b);
  if constexpr (static_cast<int>(U::rank) == 2) {
    T const step = T(omega) / T(4);
    int const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1));
    for (int half = 0; half < 2 * sweeps; ++half)
      for (int i = 1; i <= m; ++i)
        for (int j = 1; j <= n; ++j)
          if ((i + j) % 2 == half % 2) {
            T const sum = (u_h(i, j - 1) + u_h(i, j + 1)) + (u_h(i - 1, j) + u_h(i + 1, j));
            T const defect = (sum - b_h(i - 1, j - 1)) - 4 * u_h(i, j);
            u_h(i, j) = u_h(i, j) + step * defect;
          }
  } else {
    T const step = T(omega) / T(6);
    int const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1)),
              p = static_cast<int>(b.extent(2));
    for (int half = 0; half < 2 * sweeps; ++half)
      for (int i = 1; i <= m; ++i)
        for (int j = 1; j <= n; ++j)
          for (int k = 1; k <= p; ++k)
            if ((i + j + k + 1) % 2 == half % 2) {
              T const sum =
                  ((u_h(i, j, k - 1) + u_h(i, j, k + 1)) + (u_h(i - 1, j, k) + u_h(i + 1, j, k))) +
                  (u_h(i, j - 1, k) + u_h(i, j + 1, k));
              T const defect = (sum - b_h(i - 1, j - 1, k - 1)) - 6 * u_h(i, j, k);
              u_h(i, j, k) = u_h(i, j, k) + step * defect;
            }
  }
  Kokkos::deep_copy(u, u_h);
}

COIR_TYPED_SUITE(RedBlack);

// For rates that rounding in float would hide.
template <class C>
class RedBlackInDouble : public ::testing::Test {};
TYPED_TEST_SUITE(RedBlackInDouble, coir::testing::DoubleCases, coir::testing::CaseName);

}  // namespace

// Sources 1, 2 / 3, 4. Red: -1/4 and -4/4; then black: (-1/4 - 1 - 2) / 4 and (-1/4 - 1 - 3) / 4.
TYPED_TEST(RedBlack, OneSweepOnFourCells) {
  GridOf<TypeParam, 2> const u("u", 4, 4), b("b", 2, 2);
  auto const b_h = Kokkos::create_mirror_view(b);
  b_h(0, 0) = 1, b_h(0, 1) = 2, b_h(1, 0) = 3, b_h(1, 1) = 4;
  Kokkos::deep_copy(b, b_h);
  red_black(b, u, {.sweeps = 1, .omega = 1});
  auto const u_h = on_host(u);
  EXPECT_EQ(u_h(1, 1), -0.25);
  EXPECT_EQ(u_h(2, 2), -1);
  EXPECT_EQ(u_h(1, 2), -0.8125);
  EXPECT_EQ(u_h(2, 1), -1.0625);
}

// At omega = 1 the step is 1/4, which multiplies without rounding, so that it doesn't matter
// whether a compiler fuses multiplications and additions. CTest runs this for several numbers of
// threads.
TYPED_TEST(RedBlack, EqualsThePlainLoopBitForBit) {
  for (auto [m, n] : {std::pair{1, 1}, {1, 40}, {40, 1}, {2, 3}, {17, 31}, {37, 301}, {301, 203}})
    for (int sweeps : {0, 1, 2, 7, 70}) {
      GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
      coir::testing::fill_random(u, 7);
      coir::testing::fill_random(b, 11);
      auto const expected = coir::testing::copy_of(u);
      plain_loop(expected, b, sweeps, 1);
      auto const result = red_black(b, u, {.sweeps = sweeps, .omega = 1});
      EXPECT_EQ(result.iterations, sweeps);
      ASSERT_EQ(coir::testing::differing(u, expected), 0u)
          << m << " x " << n << ", " << sweeps << " sweeps";
    }
}

// The same in 3-D: 1.5 / 6 = 1/4. 6 u isn't exact after many sweeps, hence whole numbers and few.
// Devices sweep boxes of a million cells and more from one field into another.
TYPED_TEST(RedBlack, EqualsThePlainLoopBitForBitInThreeDimensions) {
  struct Extents {
    int m, n, p;
  };
  Extents const shapes[] = {{1, 1, 1},      {1, 4, 9},      {5, 6, 7},      {40, 20, 33},
                            {41, 151, 167}, {16, 260, 257}, {42, 100, 249}, {71, 113, 127}};
  for (auto const& [m, n, p] : shapes)
    for (int sweeps : {1, 2}) {
      GridOf<TypeParam, 3> const u("u", m + 2, n + 2, p + 2), b("b", m, n, p);
      coir::testing::fill_random(u, 7);
      coir::testing::fill_random(b, 11);
      auto const expected = coir::testing::copy_of(u);
      plain_loop(expected, b, sweeps, 1.5);
      red_black(b, u, {.sweeps = sweeps, .omega = 1.5});
      ASSERT_EQ(coir::testing::differing(u, expected), 0u) << m << " x " << n << " x " << p;
    }
}

// Each of the sweeps' steps rounds by a few units in the last place of numbers up to 100.
TYPED_TEST(RedBlack, FollowsThePlainLoopAtAnyOmega) {
  using T = typename TypeParam::Real;
  int const m = 33, n = 50, sweeps = 20;
  for (double omega : {0.3, 1.7, 1.95}) {
    GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
    coir::testing::fill_random(u, 7);
    coir::testing::fill_random(b, 11);
    auto const expected = coir::testing::copy_of(u);
    plain_loop(expected, b, sweeps, omega);
    red_black(b, u, {.sweeps = sweeps, .omega = omega});
    auto const u_h = on_host(u), expected_h = on_host(expected);
    double const bound = 100 * sweeps * 16 * std::numeric_limits<T>::epsilon();
    for (std::size_t i = 0; i < u_h.size(); ++i)
      ASSERT_NEAR(u_h.data()[i], expected_h.data()[i], bound) << omega;
  }
}

// Gauss-Seidel's radius is the square of Jacobi's; at the best omega it is omega - 1 (Young). The
// first is seen in the residual's decay, the second in the number of sweeps, given the factor k of
// a Jordan block.
TYPED_TEST(RedBlackInDouble, ConvergesAsYoungsTheorySays) {
  double const pi = std::numbers::pi;
  int const m = 15, n = 24;
  double const rho = (std::cos(pi / (m + 1)) + std::cos(pi / (n + 1))) / 2;
  GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
  coir::testing::fill_random(b, 1);
  double const early = red_black(b, u, {.sweeps = 400, .omega = 1}).residual_norm;
  double const late = red_black(b, u, {.sweeps = 100, .omega = 1}).residual_norm;
  EXPECT_NEAR(std::pow(late / early, 0.01), rho * rho, 1e-4);

  Kokkos::deep_copy(u, 0);
  double const omega = optimal_omega({m, n});
  EXPECT_NEAR(omega, 2 / (1 + std::sqrt(1 - rho * rho)), 1e-14);
  auto const result = red_black(b, u, {.sweeps = 10000, .tolerance = 1e-9, .check_every = 1});
  EXPECT_TRUE(result.converged);
  double const sweeps = double(result.iterations);
  EXPECT_LT(sweeps * std::pow(omega - 1, sweeps), 1e-6);
  EXPECT_GT(std::pow(omega - 1, sweeps), 1e-13);
}

TEST(OptimalOmega, KnownValues) {
  EXPECT_DOUBLE_EQ(optimal_omega({1, 1}), 1);
  EXPECT_DOUBLE_EQ(optimal_omega({1, 1, 1}), 1);
  EXPECT_NEAR(optimal_omega({2, 2}), 2 / (1 + std::sqrt(0.75)), 1e-15);
  // a square or cube of n cells: 2 / (1 + sin(pi / (n + 1)))
  for (int n : {3, 10, 1000}) {
    double const expected = 2 / (1 + std::sin(std::numbers::pi / (n + 1)));
    EXPECT_NEAR(optimal_omega({n, n}), expected, 1e-12) << n;
    EXPECT_NEAR(optimal_omega({n, n, n}), expected, 1e-12) << n;
  }
  EXPECT_THROW(optimal_omega({0, 3}), coir::PreconditionError);
}

// The residual of over-relaxation falls late, but it falls: that is no stagnation.
TYPED_TEST(RedBlack, TransientIsNotTakenForStagnation) {
  int const n = 200;
  GridOf<TypeParam, 2> const u("u", n + 2, n + 2), b("b", n, n);
  auto const b_h = Kokkos::create_mirror_view(b);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      b_h(i, j) = std::sin(std::numbers::pi * (i + 1) / (n + 1)) *
                  std::sin(std::numbers::pi * (j + 1) / (n + 1));
  Kokkos::deep_copy(b, b_h);
  auto const result = red_black(b, u, {.sweeps = 10000, .tolerance = 1e-2});
  EXPECT_TRUE(result.converged) << name_of(result.stopped_by);
}

TYPED_TEST(RedBlack, RefusesWhatTheDocumentationRulesOut) {
  GridOf<TypeParam, 2> const b("b", 4, 5), u("u", 6, 7);
  EXPECT_THROW(red_black(b, u, {.omega = -0.5}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.omega = 2}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.omega = std::nan("")}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.check_every = -5}), coir::PreconditionError);
}
