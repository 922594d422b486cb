#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/laplacian.hpp>

#include <coir/core/errors.hpp>

#include <poisson/random_fields.hpp>
#include <support/sanitizers.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using coir::poisson::conjugate_gradients;
using coir::poisson::Preconditioner;
using coir::poisson::StoppedBy;
using coir::testing::GridOf;
using coir::testing::on_host;

namespace {

/// The solution of L u = b by Cholesky's factorisation of -L as a dense matrix.
template <class B, class U>
std::vector<double> solved_directly(B const& b, U const& u) {
  auto const b_h = on_host(b);
  auto const u_h = on_host(u);
  int const m = static_cast<int>(b.extent(0)), n = static_cast<int>(b.extent(1)), cells = m * n;
  std::vector<double> a(static_cast<std::size_t>(cells) * cells), x(cells);
  auto const at = [&](int i, int j) -> double& {
    return a[static_cast<std::size_t>(i) * cells + j];
  };
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int const cell = i * n + j;
      at(cell, cell) = 4;
      x[cell] = -double(b_h(i, j));
      for (auto const& [di, dj] : {std::pair{-1, 0}, {1, 0}, {0, -1}, {0, 1}}) {
        bool const inside = i + di >= 0 && i + di < m && j + dj >= 0 && j + dj < n;
        if (inside)
          at(cell, cell + di * n + dj) = -1;
        else
          x[cell] += double(u_h(i + 1 + di, j + 1 + dj));
      }
    }
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = at(i, j);
      for (int k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
    }
  for (int i = 0; i < cells; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
    x[i] /= at(i, i);
  }
  for (int i = cells - 1; i >= 0; --i) {
    for (int k = i + 1; k < cells; ++k) x[i] -= at(k, i) * x[k];
    x[i] /= at(i, i);
  }
  return x;
}

template <class C>
constexpr double tolerance() {
  return std::is_same_v<typename C::Real, float> ? 1e-5 : 1e-11;
}

COIR_TYPED_SUITE(ConjugateGradients);

template <class C>
class ConjugateGradientsInDouble : public ::testing::Test {};
TYPED_TEST_SUITE(ConjugateGradientsInDouble, coir::testing::DoubleCases, coir::testing::CaseName);

constexpr Preconditioner both[] = {Preconditioner::none, Preconditioner::multigrid};

}  // namespace

// The condition of -L on these grids is below 500.
TYPED_TEST(ConjugateGradients, AgreesWithADirectSolve) {
  for (auto [m, n] : {std::pair{1, 1},
                      {1, 2},
                      {2, 1},
                      {2, 2},
                      {3, 3},
                      {1, 23},
                      {19, 1},
                      {5, 7},
                      {13, 17},
                      {16, 16}})
    for (auto const preconditioner : both) {
      GridOf<TypeParam> const u("u", m + 2, n + 2), b("b", m, n);
      coir::testing::fill_random(u, 7);  // its ring is the boundary, the rest a first guess
      coir::testing::fill_random(b, 11);
      auto const expected = solved_directly(b, u);
      auto const result = conjugate_gradients(
          b, u, {.tolerance = tolerance<TypeParam>(), .preconditioner = preconditioner});
      EXPECT_TRUE(result.converged) << m << " x " << n;
      auto const u_h = on_host(u);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
          ASSERT_NEAR(u_h(i + 1, j + 1), expected[i * n + j], 5000 * 100 * tolerance<TypeParam>())
              << m << " x " << n;
    }
}

// What preconditioning is for: as many iterations on any grid, where else they grow with its side.
TYPED_TEST(ConjugateGradientsInDouble, MultigridKeepsTheIterationsFew) {
  for (auto [m, n] : {std::pair{32, 32}, {127, 127}, {201, 211}, {97, 131}, {3, 400}}) {
    // Without multigrid it takes half a minute with sanitizers, which see the same on the others.
    if (coir::testing::is_sanitized && std::min(m, n) > 200) continue;
    GridOf<TypeParam> const b("b", m, n);
    coir::testing::fill_random(b, 9);
    std::int64_t iterations[2];
    for (auto const preconditioner : both) {
      GridOf<TypeParam> const u("u", m + 2, n + 2);
      auto const result = conjugate_gradients(
          b, u, {.max_iterations = 5000, .tolerance = 1e-10, .preconditioner = preconditioner});
      EXPECT_TRUE(result.converged) << m << " x " << n;
      iterations[preconditioner == Preconditioner::multigrid] = result.iterations;
    }
    EXPECT_LE(iterations[1], 12) << m << " x " << n;
    EXPECT_GT(iterations[0], iterations[1]) << m << " x " << n;
    if (std::min(m, n) > 200) {
      EXPECT_GT(iterations[0], 20 * iterations[1]) << m << " x " << n;
    }
  }
}

TYPED_TEST(ConjugateGradients, LimitsAreKeptAndTold) {
  GridOf<TypeParam> const u("u", 42, 35), b("b", 40, 33);
  coir::testing::fill_random(b, 2);
  auto const none = conjugate_gradients(b, u, {.max_iterations = 0});
  EXPECT_EQ(none.iterations, 0);
  EXPECT_EQ(none.relative_residual, 1);
  EXPECT_EQ(none.stopped_by, StoppedBy::sweeps);
  auto const three = conjugate_gradients(b, u, {.max_iterations = 3, .tolerance = 0});
  EXPECT_EQ(three.iterations, 3);
  EXPECT_EQ(three.stopped_by, StoppedBy::sweeps);
  EXPECT_LT(three.relative_residual, 0.1);
  EXPECT_NEAR(three.residual_norm, coir::poisson::residual_norm(typename TypeParam::Exec{}, b, u),
              1e-12 * three.residual_norm);
}
