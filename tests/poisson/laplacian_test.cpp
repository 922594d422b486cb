#include <coir/poisson/laplacian.hpp>

#include <poisson/random_fields.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

using coir::poisson::laplacian;
using coir::poisson::residual_norm;
using coir::poisson::source_norm;
using coir::testing::GridOf;
using coir::testing::on_host;

namespace {

/// u with f(i, j) at every cell of the grid and its ring, 0-based with the ring.
template <class C, class Function>
GridOf<C, 2> tabulate(int m, int n, Function f) {
  GridOf<C, 2> const u("u", m + 2, n + 2);
  auto const u_h = Kokkos::create_mirror_view(u);
  for (int i = 0; i < m + 2; ++i)
    for (int j = 0; j < n + 2; ++j) u_h(i, j) = static_cast<typename C::Real>(f(i, j));
  Kokkos::deep_copy(u, u_h);
  return u;
}

COIR_TYPED_SUITE(Laplacian);

// For an order that rounding in float would hide.
template <class C>
class LaplacianInDouble : public ::testing::Test {};
TYPED_TEST_SUITE(LaplacianInDouble, coir::testing::DoubleCases, coir::testing::CaseName);

}  // namespace

// One cell of 5 between 1, 2, 3 and 4: 1 + 2 + 3 + 4 - 4 * 5 = -10.
TYPED_TEST(Laplacian, OfOneCell) {
  auto const u = tabulate<TypeParam>(1, 1, [](int i, int j) {
    double const values[3][3] = {{9, 1, 9}, {3, 5, 4}, {9, 2, 9}};
    return values[i][j];
  });
  GridOf<TypeParam, 2> const b("b", 1, 1);
  laplacian(u, b);
  EXPECT_EQ(on_host(b)(0, 0), -10);
}

// The second differences of a quadratic are its second derivatives.
TYPED_TEST(Laplacian, OfAQuadraticIsConstant) {
  for (auto [m, n] : {std::pair{1, 9}, {9, 1}, {13, 130}}) {
    auto const u = tabulate<TypeParam>(
        m, n, [](int i, int j) { return 3 * i * i - 2 * j * j + 5 * i * j - i + 7; });
    GridOf<TypeParam, 2> const b("b", m, n);
    laplacian(u, b);
    auto const b_h = on_host(b);
    for (std::size_t cell = 0; cell < b_h.size(); ++cell) ASSERT_EQ(b_h.data()[cell], 6 - 4);
  }
}

TYPED_TEST(Laplacian, EqualsThePlainLoopInThreeDimensions) {
  int const m = 4, n = 6, p = 101;
  GridOf<TypeParam, 3> const u("u", m + 2, n + 2, p + 2), b("b", m, n, p);
  coir::testing::fill_random(u, 5);
  laplacian(u, b);
  auto const u_h = on_host(u);
  auto const b_h = on_host(b);
  for (int i = 1; i <= m; ++i)
    for (int j = 1; j <= n; ++j)
      for (int k = 1; k <= p; ++k)
        ASSERT_EQ(b_h(i - 1, j - 1, k - 1), u_h(i - 1, j, k) + u_h(i + 1, j, k) + u_h(i, j - 1, k) +
                                                u_h(i, j + 1, k) + u_h(i, j, k - 1) +
                                                u_h(i, j, k + 1) - 6 * u_h(i, j, k));
}

// On a grid of spacing h the five-point formula is off by h^2 / 12 times the fourth derivatives.
TYPED_TEST(LaplacianInDouble, IsOfSecondOrder) {
  double previous = 0;
  for (int n : {15, 31, 63}) {
    double const h = 1.0 / (n + 1);
    auto const u = tabulate<TypeParam>(
        n, n, [h](int i, int j) { return std::sin(3 * i * h) * std::exp(2 * j * h); });
    GridOf<TypeParam, 2> const b("b", n, n);
    laplacian(u, b);
    auto const b_h = on_host(b);
    double error = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double const x = (i + 1) * h, y = (j + 1) * h;
        double const exact = (4 - 9) * std::sin(3 * x) * std::exp(2 * y);
        error = std::max(error, std::abs(double(b_h(i, j)) / (h * h) - exact));
      }
    if (previous > 0) {
      EXPECT_NEAR(std::log2(previous / error), 2, 0.1) << n;
    }
    previous = error;
  }
}

TYPED_TEST(Laplacian, ResidualOfTheFieldItWasTakenOfIsZero) {
  GridOf<TypeParam, 2> const u("u", 33, 47), b("b", 31, 45);
  coir::testing::fill_random(u, 1);
  laplacian(u, b);
  EXPECT_EQ(residual_norm(typename TypeParam::Exec{}, b, u), 0);
}

// Whole numbers up to 100, so that every square and the sum are exact.
TYPED_TEST(Laplacian, NormsEqualThePlainLoop) {
  typename TypeParam::Exec const exec;
  for (auto const& shape : {std::pair{1, 1}, {1, 8}, {8, 1}, {2, 2}, {7, 300}}) {
    int const m = shape.first, n = shape.second;
    GridOf<TypeParam, 2> const u("u", m + 2, n + 2), b("b", m, n);
    coir::testing::fill_random(u, m);
    coir::testing::fill_random(b, n);
    auto const u_h = on_host(u);
    auto const b_h = on_host(b);
    auto const inside = [&](int i, int j) { return i >= 1 && i <= m && j >= 1 && j <= n; };
    double residual = 0, source = 0;
    for (int i = 1; i <= m; ++i)
      for (int j = 1; j <= n; ++j) {
        double sum = 0, ring = 0;
        for (auto [a, c] : {std::pair{i - 1, j}, {i + 1, j}, {i, j - 1}, {i, j + 1}}) {
          sum += u_h(a, c);
          if (!inside(a, c)) ring += u_h(a, c);
        }
        double const r = b_h(i - 1, j - 1) - (sum - 4 * u_h(i, j));
        double const s = b_h(i - 1, j - 1) - ring;
        residual += r * r;
        source += s * s;
      }
    EXPECT_EQ(residual_norm(exec, b, u), std::sqrt(residual)) << m << " x " << n;
    EXPECT_EQ(source_norm(exec, b, u), std::sqrt(source)) << m << " x " << n;
  }
}

TYPED_TEST(Laplacian, SourceNormIsTheResidualNormOfAnEmptyInside) {
  typename TypeParam::Exec const exec;
  struct Extents {
    int m, n, p;
  };
  Extents const shapes[] = {{1, 1, 1}, {1, 5, 2}, {3, 4, 50}, {2, 3, 1100}};
  for (auto const& [m, n, p] : shapes) {
    GridOf<TypeParam, 3> const u("u", m + 2, n + 2, p + 2), b("b", m, n, p);
    coir::testing::fill_random(u, 3);
    coir::testing::fill_random(b, 4);
    double const norm = source_norm(exec, b, u);
    auto const u_h = on_host(u);
    for (int i = 1; i <= m; ++i)
      for (int j = 1; j <= n; ++j)
        for (int k = 1; k <= p; ++k) u_h(i, j, k) = 0;
    Kokkos::deep_copy(u, u_h);
    EXPECT_EQ(residual_norm(exec, b, u), norm);
  }
}

// Part of a larger field keeps that field's strides.
TYPED_TEST(Laplacian, TakesPartOfALargerField) {
  using Part = std::pair<int, int>;
  GridOf<TypeParam, 2> const large("large", 40, 60), u("u", 12, 22), b("b", 10, 20), c("c", 10, 20);
  coir::testing::fill_random(large, 2);
  auto const part = Kokkos::subview(large, Part{3, 15}, Part{5, 27});
  if constexpr (coir::RowMajor<std::remove_const_t<decltype(part)>>) {
    Kokkos::deep_copy(u, part);
    laplacian(u, b);
    laplacian(part, c);
    EXPECT_EQ(coir::testing::differing(b, c), 0u);
  }
}

TYPED_TEST(Laplacian, RefusesExtentsThatDontFit) {
  typename TypeParam::Exec const exec;
  GridOf<TypeParam, 2> const b("b", 4, 5), u("u", 6, 7), short_u("u", 5, 7), wide_u("u", 6, 8);
  EXPECT_NO_THROW(laplacian(u, b));
  EXPECT_THROW(laplacian(short_u, b), coir::PreconditionError);
  EXPECT_THROW(laplacian(wide_u, b), coir::PreconditionError);
  EXPECT_THROW(residual_norm(exec, b, short_u), coir::PreconditionError);
  EXPECT_THROW(source_norm(exec, b, wide_u), coir::PreconditionError);
}
