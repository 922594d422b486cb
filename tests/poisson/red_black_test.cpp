#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/red_black.hpp>

#include <poisson/random_fields.hpp>
#include <support/spaces.hpp>
#include <support/thread_counts.hpp>
#include <support/thread_times.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

using coir::poisson::optimal_omega;
using coir::poisson::red_black;
using coir::poisson::RedBlackOptions;
using coir::poisson::StoppedBy;
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

template <class C>
class RedBlack : public ::testing::Test {};
TYPED_TEST_SUITE(RedBlack, coir::testing::Cases, coir::testing::CaseName);

// For rates that rounding in float would hide.
template <class C>
class RedBlackInDouble : public ::testing::Test {};
TYPED_TEST_SUITE(RedBlackInDouble, coir::testing::DoubleCases, coir::testing::CaseName);

}  // namespace

TYPED_TEST(RedBlack, OneSweepSolvesOneCell) {
  auto const [b, u] = coir::testing::one_cell<TypeParam>();
  auto const result = red_black(b, u, {.sweeps = 1});
  EXPECT_EQ(on_host(u)(1, 1), 2);
  EXPECT_EQ(result.residual_norm, 0);
  EXPECT_TRUE(result.converged);
}

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

// At omega = 1 the step is 1/4, which multiplies without rounding, so that it doesn't matter whether a
// compiler fuses multiplications and additions. CTest runs this for several numbers of threads.
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
TYPED_TEST(RedBlack, EqualsThePlainLoopBitForBitInThreeDimensions) {
  struct Extents {
    int m, n, p;
  };
  Extents const shapes[] = {{1, 1, 1}, {1, 4, 9}, {5, 6, 7}, {40, 20, 33}};
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

TYPED_TEST(RedBlack, ExactSolutionIsAFixedPoint) {
  using T = typename TypeParam::Real;
  int const m = 23, n = 40;
  GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
  auto const u_h = Kokkos::create_mirror_view(u);
  for (int i = 0; i < m + 2; ++i)
    for (int j = 0; j < n + 2; ++j) u_h(i, j) = T(i * i - 2 * j * j + 3 * i * j);
  Kokkos::deep_copy(u, u_h);
  Kokkos::deep_copy(b, T(2 - 4));
  auto const start = coir::testing::copy_of(u);
  auto const result = red_black(b, u, {.sweeps = 50});
  EXPECT_EQ(coir::testing::differing(u, start), 0u);
  EXPECT_EQ(result.residual_norm, 0);
  EXPECT_TRUE(result.converged);
}

// Gauss-Seidel's radius is the square of Jacobi's; at the best omega it is omega - 1 (Young). The first
// is seen in the residual's decay, the second in the number of sweeps, given the factor k of a Jordan
// block.
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

TYPED_TEST(RedBlack, SolvesWithBoundaryValues) {
  using T = typename TypeParam::Real;
  int const m = 20, n = 31;
  GridOf<TypeParam, 2> const exact("exact", m + 2, n + 2), b("b", m, n), u("u", m + 2, n + 2);
  coir::testing::fill_random(exact, 3);
  coir::poisson::laplacian(exact, b);
  auto const exact_h = on_host(exact);
  auto const u_h = Kokkos::create_mirror_view(u);
  for (int i = 0; i < m + 2; ++i)
    for (int j = 0; j < n + 2; ++j)
      u_h(i, j) = i == 0 || j == 0 || i == m + 1 || j == n + 1 ? exact_h(i, j) : T(0);
  Kokkos::deep_copy(u, u_h);
  double const tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-12;
  auto const result = red_black(b, u, {.sweeps = 10000, .tolerance = tolerance});
  ASSERT_TRUE(result.converged) << result.relative_residual;
  // |error| <= |residual| over the operator's smallest eigenvalue
  double const pi = std::numbers::pi;
  double const eigenvalue =
      4 * std::pow(std::sin(pi / 2 / (m + 1)), 2) + 4 * std::pow(std::sin(pi / 2 / (n + 1)), 2);
  double const rounding = 8 * 100 * std::sqrt(double(m * n)) * std::numeric_limits<T>::epsilon();
  double const bound = (result.residual_norm + rounding) / eigenvalue;
  auto const solved_h = on_host(u);
  for (std::size_t i = 0; i < u_h.size(); ++i)
    ASSERT_NEAR(solved_h.data()[i], exact_h.data()[i], bound);
}

TYPED_TEST(RedBlack, StopsAtTheTolerance) {
  int const n = 20;
  GridOf<TypeParam, 2> const u("u", n + 2, n + 2), b("b", n, n);
  Kokkos::deep_copy(b, 1);
  auto const result = red_black(b, u, {.sweeps = 100000, .tolerance = 1e-3, .check_every = 5});
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.stopped_by, StoppedBy::tolerance);
  EXPECT_LE(result.relative_residual, 1e-3);
  EXPECT_EQ(result.iterations % 5, 0);
  EXPECT_NEAR(result.residual_norm, result.relative_residual * n, 1e-6 * n);
  EXPECT_EQ(result.residual_norm, coir::poisson::residual_norm(typename TypeParam::Exec{}, b, u));
}

TYPED_TEST(RedBlack, WithoutAToleranceMakesAllSweeps) {
  GridOf<TypeParam, 2> const u("u", 14, 21), b("b", 12, 19);
  coir::testing::fill_random(b, 8);
  auto const result = red_black(b, u, {.sweeps = 5});
  EXPECT_EQ(result.iterations, 5);
  EXPECT_EQ(result.stopped_by, StoppedBy::sweeps);
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.convergence_factor, 0);
}

TYPED_TEST(RedBlack, StagnationIsReported) {
  int const n = 30;
  GridOf<TypeParam, 2> const u("u", n + 2, n + 2), b("b", n, n);
  coir::testing::fill_random(b, 9);
  auto const result = red_black(b, u, {.sweeps = 1000000, .tolerance = 1e-30});
  EXPECT_EQ(result.stopped_by, StoppedBy::stagnation);
  EXPECT_LT(result.iterations, 10000);
  EXPECT_LT(result.relative_residual,
            1e3 * std::numeric_limits<typename TypeParam::Real>::epsilon());
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

TYPED_TEST(RedBlack, NotANumberIsReported) {
  int const n = 9;
  for (double tolerance : {0.0, 1e-3}) {
    GridOf<TypeParam, 2> const u("u", n + 2, n + 2), b("b", n, n);
    auto const b_h = Kokkos::create_mirror_view(b);
    b_h(4, 4) = std::numeric_limits<typename TypeParam::Real>::quiet_NaN();
    Kokkos::deep_copy(b, b_h);
    auto const result = red_black(b, u, {.sweeps = 10, .tolerance = tolerance});
    EXPECT_EQ(result.stopped_by, StoppedBy::not_finite);
    EXPECT_FALSE(result.converged);
  }
}

TYPED_TEST(RedBlack, MonitorStopsIt) {
  int const n = 50;
  GridOf<TypeParam, 2> const u("u", n + 2, n + 2), b("b", n, n);
  Kokkos::deep_copy(b, 1);
  int calls = 0;
  auto const result = red_black(b, u, {.sweeps = 100000000, .monitor = [&](auto const& progress) {
                                         EXPECT_EQ(progress.total, 100000000);
                                         return ++calls < 3;
                                       }});
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(result.stopped_by, StoppedBy::interrupted);
  EXPECT_LT(result.iterations, 100000000);
}

// Checks and the monitor cut the sweeps into pieces; the pieces must not show.
TYPED_TEST(RedBlack, ChecksAndMonitorLeaveTheBitsAlone) {
  int const m = 61, n = 83;
  GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
  coir::testing::fill_random(u, 5);
  coir::testing::fill_random(b, 6);
  auto const expected = coir::testing::copy_of(u);
  red_black(b, expected, {.sweeps = 150});
  red_black(b, u,
            {.sweeps = 150,
             .tolerance = 1e-30,
             .check_every = 77,
             .monitor = [](coir::poisson::Progress const&) { return true; }});
  EXPECT_EQ(coir::testing::differing(u, expected), 0u);
}

TYPED_TEST(RedBlack, TakesViewsItDoesNotOwnAndPartsOfViews) {
  using T = typename TypeParam::Real;
  using Memory = typename TypeParam::Exec::memory_space;
  using Part = std::pair<int, int>;
  int const m = 10, n = 12;
  GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n), large("large", 30, 40);
  coir::testing::fill_random(u, 1);
  coir::testing::fill_random(b, 2);
  auto const start = coir::testing::copy_of(u), expected = coir::testing::copy_of(u);
  red_black(b, expected, {.sweeps = 9});

  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::View<T const**, Kokkos::LayoutRight, Memory, Unmanaged> const b_view(b.data(), m, n);
  Kokkos::View<T**, Kokkos::LayoutRight, Memory, Unmanaged> const u_view(u.data(), m + 2, n + 2);
  red_black(typename TypeParam::Exec{}, b_view, u_view, {.sweeps = 9});
  EXPECT_EQ(coir::testing::differing(u, expected), 0u);

  auto const part = Kokkos::subview(large, Part{3, 3 + m + 2}, Part{7, 7 + n + 2});
  if constexpr (coir::RowMajor<std::remove_const_t<decltype(part)>>) {
    Kokkos::deep_copy(part, start);
    red_black(b, part, {.sweeps = 9});
    Kokkos::deep_copy(u, part);
    EXPECT_EQ(coir::testing::differing(u, expected), 0u);
  }
}

TYPED_TEST(RedBlack, EmptyGridIsSolved) {
  for (auto [m, n] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
    GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
    auto const result = red_black(b, u, {.sweeps = 3});
    EXPECT_EQ(result.residual_norm, 0);
    EXPECT_TRUE(result.converged);
  }
}

TYPED_TEST(RedBlack, RefusesWhatTheDocumentationRulesOut) {
  GridOf<TypeParam, 2> const b("b", 4, 5), u("u", 6, 7), short_u("u", 5, 7), narrow_u("u", 6, 6);
  EXPECT_THROW(red_black(b, short_u), coir::PreconditionError);
  EXPECT_THROW(red_black(b, narrow_u), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.sweeps = -1}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.omega = -0.5}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.omega = 2}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.omega = std::nan("")}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.tolerance = -1e-3}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.tolerance = 1}), coir::PreconditionError);
  EXPECT_THROW(red_black(b, u, {.check_every = -5}), coir::PreconditionError);
}

// CTest runs this for several numbers of threads, with threads that sleep while they wait.
TEST(RedBlackOnHost, UsesAllThreads) {
  if (!coir::testing::thread_times_tell()) GTEST_SKIP() << "OMP_WAIT_POLICY must be passive";
  coir::testing::Host const exec;
  coir::testing::Grid<coir::testing::Host, double, 2> const u("u", 702, 702), b("b", 700, 700);
  coir::testing::fill_random(b, 6);
  auto const shared =
      coir::testing::share_of_threads([&] { red_black(exec, b, u, {.sweeps = 100}); });
  EXPECT_EQ(shared.threads, static_cast<int>(exec.concurrency()));
}

// What the test below runs on several numbers of threads: at an omega that rounds.
TEST(RedBlackOnHost, PrintsADigestOfItsBits) {
  using Host = coir::testing::Host;
  coir::testing::Digest digest;
  for (auto [m, n] : {std::pair{400, 266}, {31, 2000}}) {
    coir::testing::Grid<Host, double, 2> const u("u", m + 2, n + 2), b("b", m, n);
    coir::testing::fill_random(b, 6);
    auto const result = red_black(Host{}, b, u, {.sweeps = 300, .tolerance = 1e-30});
    EXPECT_EQ(result.iterations, 300);
    digest.add(u);
    digest.add_number(result.residual_norm);
  }
  digest.print();
}

TEST(RedBlackOnHost, HasTheSameBitsForAnyThreadCount) {
  coir::testing::expect_same_digests("RedBlackOnHost.PrintsADigestOfItsBits");
}
