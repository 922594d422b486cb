#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid_preconditioner.hpp>

#include <coir/core/errors.hpp>

#include <poisson/random_fields.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using coir::poisson::MultigridPreconditioner;
using coir::testing::GridOf;
using coir::testing::on_host;

namespace {

constexpr std::array<int, 2> shapes[] = {{1, 1},  {1, 2},  {2, 2},   {3, 3},   {1, 37},
                                         {37, 1}, {7, 13}, {16, 16}, {31, 64}, {101, 59}};

/// M r as a vector of cells, on the host.
template <class C>
std::vector<double> applied(std::vector<double> const& r, std::array<int, 2> const& extents) {
  using T = typename C::Real;
  auto const [m, n] = extents;
  GridOf<C> const source("r", m, n), z("z", m + 2, n + 2);
  auto const source_h = Kokkos::create_mirror_view(source);
  for (std::size_t c = 0; c < r.size(); ++c) source_h.data()[c] = static_cast<T>(r[c]);
  Kokkos::deep_copy(source, source_h);
  typename C::Exec const exec;
  MultigridPreconditioner<typename C::Exec, T> preconditioner(exec, extents);
  preconditioner.apply(source, z);
  exec.fence();
  auto const z_h = on_host(z);
  std::vector<double> cells;
  for (int i = 1; i <= m; ++i)
    for (int j = 1; j <= n; ++j) cells.push_back(z_h(i, j));
  return cells;
}

std::vector<double> noise(std::array<int, 2> const& extents, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<double> values(static_cast<std::size_t>(extents[0]) * extents[1]);
  for (double& value : values) value = static_cast<double>(generator() % 2001) / 1000 - 1;
  return values;
}

double dot(std::vector<double> const& x, std::vector<double> const& y) {
  double sum = 0;
  for (std::size_t c = 0; c < x.size(); ++c) sum += x[c] * y[c];
  return sum;
}

COIR_TYPED_SUITE(MultigridPreconditionerTest);

}  // namespace

// -4 z = r.
TYPED_TEST(MultigridPreconditionerTest, SolvesOneCell) {
  double const z = applied<TypeParam>({8}, {1, 1})[0];
  EXPECT_NEAR(z, -2, 8 * std::numeric_limits<typename TypeParam::Real>::epsilon());
}

// x.My = y.Mx and x.Mx < 0: what conjugate gradients rest on. Both dots are sums of as many terms
// as there are cells, each of which rounds some tens of times on its way through the grids.
TYPED_TEST(MultigridPreconditionerTest, IsSymmetricAndNegativeDefinite) {
  double const epsilon = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (auto const& shape : shapes) {
    auto const x = noise(shape, 1), y = noise(shape, 2);
    auto const mx = applied<TypeParam>(x, shape), my = applied<TypeParam>(y, shape);
    double const size = std::sqrt(dot(x, x) * dot(my, my)) + std::sqrt(dot(y, y) * dot(mx, mx));
    EXPECT_NEAR(dot(x, my), dot(y, mx), 8 * epsilon * size) << shape[0] << " x " << shape[1];
    EXPECT_LT(dot(x, mx), 0) << shape[0] << " x " << shape[1];
    EXPECT_LT(dot(y, my), 0) << shape[0] << " x " << shape[1];
  }
}

TYPED_TEST(MultigridPreconditionerTest, ActsOnASumAsOnItsTerms) {
  double const epsilon = std::numeric_limits<typename TypeParam::Real>::epsilon();
  for (auto const& shape : shapes) {
    auto const x = noise(shape, 3), y = noise(shape, 4);
    auto both = x;
    for (std::size_t c = 0; c < both.size(); ++c) both[c] = x[c] - 2 * y[c];
    auto const mx = applied<TypeParam>(x, shape), my = applied<TypeParam>(y, shape);
    auto const m_both = applied<TypeParam>(both, shape);
    double largest = 0;
    for (double const value : m_both) largest = std::max(largest, std::abs(value));
    for (std::size_t c = 0; c < both.size(); ++c)
      ASSERT_NEAR(m_both[c], mx[c] - 2 * my[c], 200 * epsilon * largest)
          << shape[0] << " x " << shape[1];
  }
}

// Steps u <- u + M (b - L u) make the residual smaller on every shape.
TYPED_TEST(MultigridPreconditionerTest, StepsWithItConverge) {
  using T = typename TypeParam::Real;
  using Exec = typename TypeParam::Exec;
  for (auto const& shape : shapes) {
    auto residual = noise(shape, 5);
    double const first = std::sqrt(dot(residual, residual));
    for (int step = 0; step < 3; ++step) {
      auto const z = applied<TypeParam>(residual, shape);
      GridOf<TypeParam> const field("field", shape[0] + 2, shape[1] + 2),
          image("image", shape[0], shape[1]);
      auto const field_h = Kokkos::create_mirror_view(field);
      for (int i = 0; i < shape[0]; ++i)
        for (int j = 0; j < shape[1]; ++j)
          field_h(i + 1, j + 1) = static_cast<T>(z[static_cast<std::size_t>(i) * shape[1] + j]);
      Kokkos::deep_copy(field, field_h);
      coir::poisson::laplacian(Exec{}, field, image);
      auto const image_h = on_host(image);
      for (std::size_t c = 0; c < residual.size(); ++c) residual[c] -= image_h.data()[c];
    }
    EXPECT_LT(std::sqrt(dot(residual, residual)), 0.05 * first) << shape[0] << " x " << shape[1];
  }
}

TYPED_TEST(MultigridPreconditionerTest, RefusesOtherExtents) {
  using T = typename TypeParam::Real;
  using Exec = typename TypeParam::Exec;
  using Preconditioner = MultigridPreconditioner<Exec, T>;
  using Extents = std::array<int, 2>;
  EXPECT_THROW(Preconditioner(Exec{}, Extents{0, 3}), coir::PreconditionError);
  EXPECT_THROW(Preconditioner(Exec{}, Extents{3, -1}), coir::PreconditionError);
  Preconditioner preconditioner(Exec{}, Extents{4, 3});
  GridOf<TypeParam> const r("r", 4, 4), z("z", 6, 6), wrong("wrong", 6, 5);
  EXPECT_THROW(preconditioner.apply(r, z), coir::PreconditionError);
  EXPECT_THROW(preconditioner.apply(r, wrong), coir::PreconditionError);
}
