#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid.hpp>

#include <poisson/random_fields.hpp>
#include <support/typed_suite.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using coir::poisson::multigrid;
using coir::poisson::Multigrid;
using coir::poisson::MultigridOptions;
using coir::poisson::Result;
using coir::poisson::Smoother;
using coir::testing::GridOf;
using coir::testing::on_host;

namespace {

template <class C, std::size_t Rank>
GridOf<C, int(Rank)> field(std::array<int, Rank> const& cells, int ring) {
  if constexpr (Rank == 2)
    return GridOf<C, 2>("field", cells[0] + ring, cells[1] + ring);
  else
    return GridOf<C, 3>("field", cells[0] + ring, cells[1] + ring, cells[2] + ring);
}

template <std::size_t Rank>
std::string name_of(std::array<int, Rank> const& cells) {
  std::string name;
  for (int n : cells) name += (name.empty() ? "" : " x ") + std::to_string(n);
  return name;
}

/// Sets the cells inside the ring to zero.
template <class U>
void clear_inside(U const& u) {
  auto const u_h = on_host(u);
  if constexpr (static_cast<int>(U::rank) == 2) {
    for (std::size_t i = 1; i + 1 < u.extent(0); ++i)
      for (std::size_t j = 1; j + 1 < u.extent(1); ++j) u_h(i, j) = 0;
  } else {
    for (std::size_t i = 1; i + 1 < u.extent(0); ++i)
      for (std::size_t j = 1; j + 1 < u.extent(1); ++j)
        for (std::size_t k = 1; k + 1 < u.extent(2); ++k) u_h(i, j, k) = 0;
  }
  Kokkos::deep_copy(u, u_h);
}

template <class A, class B>
double distance(A const& a, B const& b) {
  auto const a_h = on_host(a);
  auto const b_h = on_host(b);
  double sum = 0;
  for (std::size_t i = 0; i < a_h.size(); ++i)
    sum += std::pow(double(a_h.data()[i]) - double(b_h.data()[i]), 2);
  return std::sqrt(sum);
}

/// The smallest eigenvalue of -L: |error| <= |residual| / this.
template <std::size_t Rank>
double smallest_eigenvalue(std::array<int, Rank> const& cells) {
  double sum = 0;
  for (int n : cells) sum += 4 * std::pow(std::sin(std::numbers::pi / 2 / (n + 1)), 2);
  return sum;
}

/// Takes a random field's Laplacian and solves for the field again, from zero inside its ring.
template <class C, std::size_t Rank>
void expect_field_from_its_laplacian(std::array<int, Rank> const& cells) {
  using T = typename C::Real;
  auto const exact = field<C>(cells, 2), b = field<C>(cells, 0);
  coir::testing::fill_random(exact, 3);
  coir::poisson::laplacian(exact, b);
  auto const u = coir::testing::copy_of(exact);
  clear_inside(u);

  // What float can reach: each residual rounds by some units in the last place of 6 u.
  double const rounding =
      16 * 100 * std::sqrt(double(b.size())) * std::numeric_limits<T>::epsilon();
  double const tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-11;
  auto const result = multigrid(typename C::Exec{}, b, u, {.tolerance = tolerance});
  EXPECT_TRUE(result.converged || result.residual_norm < rounding)
      << name_of(cells) << ": " << name_of(result.stopped_by) << " at " << result.relative_residual;
  EXPECT_LE(distance(u, exact), (result.residual_norm + rounding) / smallest_eigenvalue(cells))
      << name_of(cells);
}

/// The convergence factor for a random source.
template <class C, std::size_t Rank>
Result solve_random(std::array<int, Rank> const& cells, MultigridOptions options) {
  auto const u = field<C>(cells, 2), b = field<C>(cells, 0);
  coir::testing::fill_random(b, 1);
  options.tolerance = 1e-10;
  return multigrid(typename C::Exec{}, b, u, options);
}

COIR_TYPED_SUITE(MultigridTest);

// For rates that rounding in float would hide.
template <class C>
class MultigridInDouble : public ::testing::Test {};
TYPED_TEST_SUITE(MultigridInDouble, coir::testing::DoubleCases, coir::testing::CaseName);

std::vector<std::array<int, 2>> const shapes_2d = {
    {1, 1},     {1, 2},     {2, 1},     {2, 2},     {3, 3},     {4, 4},     {5, 6},     {7, 8},
    {1, 1000},  {1000, 1},  {2, 300},   {3, 2000},  {2000, 3},  {5, 301},   {64, 1023}, {127, 127},
    {128, 128}, {129, 129}, {130, 130}, {131, 131}, {133, 133}, {266, 400}, {400, 266}};
// Devices smooth boxes of a million cells and more by other kernels.
std::vector<std::array<int, 3>> const shapes_3d = {
    {1, 1, 1},    {2, 2, 2},   {3, 3, 3},    {1, 20, 30},   {2, 31, 17},
    {30, 2, 21},  {19, 30, 3}, {15, 16, 17}, {31, 31, 31},  {32, 32, 32},
    {33, 34, 35}, {1, 1, 100}, {100, 1, 1},  {75, 110, 127}};

}  // namespace

// Inside 1, 2 / 3, 4 and zero around: L u = 2 + 3 - 4, 1 + 4 - 8 / 1 + 4 - 12, 2 + 3 - 16.
TYPED_TEST(MultigridTest, SolvesFourCells) {
  using T = typename TypeParam::Real;
  GridOf<TypeParam, 2> const u("u", 4, 4), b("b", 2, 2);
  auto const b_h = Kokkos::create_mirror_view(b);
  b_h(0, 0) = 1, b_h(0, 1) = -3, b_h(1, 0) = -7, b_h(1, 1) = -11;
  Kokkos::deep_copy(b, b_h);
  // The residual over the smallest eigenvalue, 2, then stays below the bound.
  multigrid(b, u, {.tolerance = std::is_same_v<T, float> ? 1e-6 : 2e-15});
  auto const u_h = on_host(u);
  double const bound = 64 * std::numeric_limits<T>::epsilon();
  EXPECT_NEAR(u_h(1, 1), 1, bound);
  EXPECT_NEAR(u_h(1, 2), 2, bound);
  EXPECT_NEAR(u_h(2, 1), 3, bound);
  EXPECT_NEAR(u_h(2, 2), 4, bound);
}

TYPED_TEST(MultigridTest, FindsAFieldFromItsLaplacian) {
  for (auto const& cells : shapes_2d) expect_field_from_its_laplacian<TypeParam>(cells);
}

TYPED_TEST(MultigridTest, FindsAFieldFromItsLaplacianInThreeDimensions) {
  for (auto const& cells : shapes_3d) expect_field_from_its_laplacian<TypeParam>(cells);
}

// With one sweep before and one after 0.03 in 2-D and 0.06 in 3-D on large grids.
TYPED_TEST(MultigridInDouble, ConvergesAlikeOnEveryShape) {
  for (auto const& cells : shapes_2d) {
    auto const result = solve_random<TypeParam>(cells, {});
    EXPECT_TRUE(result.converged) << name_of(cells);
    EXPECT_LT(result.convergence_factor, 0.05) << name_of(cells);
  }
  for (auto const& cells : shapes_3d) {
    auto const result = solve_random<TypeParam>(cells, {});
    EXPECT_TRUE(result.converged) << name_of(cells);
    EXPECT_LT(result.convergence_factor, 0.09) << name_of(cells);
  }
}

TYPED_TEST(MultigridInDouble, ConvergesWithEveryOption) {
  std::array const flat{61, 94};
  std::array const solid{21, 18, 15};
  struct Case {
    MultigridOptions options;
    double flat_factor, solid_factor;
  };
  // Trottenberg et al., table 4.1, gives 0.25 and 0.074 for one and two sweeps of red-black, and
  // (1 - omega)^sweeps is what damped Jacobi leaves of the slowest mode that coarse grids can't
  // see.
  for (auto const& [options, flat_factor, solid_factor] : std::vector<Case>{
           {{.full_multigrid = false}, 0.08, 0.12},
           {{.omega = 1}, 0.16, 0.28},
           {{.pre_sweeps = 2, .post_sweeps = 1}, 0.06, 0.12},
           {{.pre_sweeps = 2, .post_sweeps = 2}, 0.06, 0.1},
           {{.pre_sweeps = 1, .post_sweeps = 0}, 0.4, 0.5},
           {{.pre_sweeps = 2, .post_sweeps = 1, .smoother = Smoother::jacobi}, 0.35, 0.45},
           {{.pre_sweeps = 2, .post_sweeps = 2, .smoother = Smoother::jacobi}, 0.25, 0.35}}) {
    auto const in_2d = solve_random<TypeParam>(flat, options);
    EXPECT_TRUE(in_2d.converged);
    EXPECT_LT(in_2d.convergence_factor, flat_factor);
    auto const in_3d = solve_random<TypeParam>(solid, options);
    EXPECT_TRUE(in_3d.converged);
    EXPECT_LT(in_3d.convergence_factor, solid_factor);
  }
}

// The five-point formula solves a continuous problem to second order: u = exp(x) cos(y) + sin(pi x)
// y on the unit square, whose boundary values aren't zero.
TYPED_TEST(MultigridInDouble, SolutionIsOfSecondOrder) {
  double const pi = std::numbers::pi;
  double previous_error = 0, previous_h = 0;
  for (int n : {12, 24, 37, 64, 127}) {
    double const h = 1.0 / (n + 1);
    GridOf<TypeParam, 2> const u("u", n + 2, n + 2), b("b", n, n);
    auto const exact = [=](int i, int j) {
      double const x = i * h, y = j * h;
      return std::exp(x) * std::cos(y) + std::sin(pi * x) * y;
    };
    auto const u_h = Kokkos::create_mirror_view(u);
    auto const b_h = Kokkos::create_mirror_view(b);
    for (int i = 0; i < n + 2; ++i)
      for (int j = 0; j < n + 2; ++j) {
        bool const inside = i > 0 && j > 0 && i <= n && j <= n;
        u_h(i, j) = inside ? 0 : exact(i, j);
        if (inside) b_h(i - 1, j - 1) = -h * h * pi * pi * std::sin(pi * i * h) * j * h;
      }
    Kokkos::deep_copy(u, u_h);
    Kokkos::deep_copy(b, b_h);
    EXPECT_TRUE(multigrid(b, u, {.tolerance = 1e-11}).converged);
    auto const solved_h = on_host(u);
    double error = 0;
    for (int i = 0; i < n + 2; ++i)
      for (int j = 0; j < n + 2; ++j)
        error = std::max(error, std::abs(double(solved_h(i, j)) - exact(i, j)));
    if (previous_error > 0) {
      EXPECT_NEAR(std::log(previous_error / error) / std::log(previous_h / h), 2, 0.1) << n;
    }
    previous_error = error;
    previous_h = h;
  }
}

// On hosts large boxes of doubles are solved by corrections in float.
TYPED_TEST(MultigridInDouble, LargeBoxes) {
  std::array const cells{65, 64, 66};
  auto const b = field<TypeParam>(cells, 0);
  coir::testing::fill_random(b, 1);
  auto const solved = [&](MultigridOptions options, auto const& u) {
    return multigrid(typename TypeParam::Exec{}, b, u, std::move(options));
  };
  std::vector<double> told;
  auto const until = [&](std::int64_t last) {
    told.clear();
    return [&told, last](coir::poisson::Progress const& progress) {
      told.push_back(progress.relative_residual);
      EXPECT_EQ(progress.iterations, std::int64_t(told.size()));
      return progress.iterations < last;
    };
  };
  auto const u = field<TypeParam>(cells, 2);
  auto const exact = solved({.tolerance = 1e-13, .monitor = until(100)}, u);
  EXPECT_TRUE(exact.converged) << exact.relative_residual;
  EXPECT_EQ(std::int64_t(told.size()), exact.iterations - 1);
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_LT(told[i], told[i - 1]);

  auto const v = field<TypeParam>(cells, 2);
  auto const stopped = solved({.monitor = until(4)}, v);
  EXPECT_EQ(stopped.stopped_by, coir::poisson::StoppedBy::interrupted);
  EXPECT_EQ(stopped.iterations, 4);
  auto const more = solved({.max_cycles = 3, .tolerance = 0}, v);
  EXPECT_EQ(more.iterations, 3);
  EXPECT_EQ(more.stopped_by, coir::poisson::StoppedBy::sweeps);
  EXPECT_LT(more.relative_residual, stopped.relative_residual);
  EXPECT_LE(distance(u, v), 2 * more.residual_norm / smallest_eigenvalue(cells));

  // Numbers that float doesn't hold
  for (int exponent : {-300, 300}) {
    auto const scaled = field<TypeParam>(cells, 0), w = field<TypeParam>(cells, 2);
    auto const b_h = on_host(b), scaled_h = on_host(scaled);
    for (std::size_t i = 0; i < b_h.size(); ++i)
      scaled_h.data()[i] = std::ldexp(b_h.data()[i], exponent);
    Kokkos::deep_copy(scaled, scaled_h);
    auto const result = multigrid(typename TypeParam::Exec{}, scaled, w);
    EXPECT_TRUE(result.converged) << exponent;
    EXPECT_LE(result.iterations, exact.iterations) << exponent;
  }
  Kokkos::deep_copy(b, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(solved({}, u).stopped_by, coir::poisson::StoppedBy::not_finite);
}

TYPED_TEST(MultigridTest, StartsFromWhatItIsGiven) {
  std::array const cells{45, 64};
  auto const u = field<TypeParam>(cells, 2), b = field<TypeParam>(cells, 0);
  coir::testing::fill_random(b, 2);
  auto const first = multigrid(b, u, {.tolerance = 1e-4});
  EXPECT_GT(first.iterations, 0);
  auto const second = multigrid(b, u, {.tolerance = 1e-4});
  EXPECT_EQ(second.iterations, 0);
  EXPECT_TRUE(second.converged);
}

TYPED_TEST(MultigridTest, SourceOfZeroHasTheSolutionZero) {
  GridOf<TypeParam, 2> const u("u", 20, 30), b("b", 18, 28);
  coir::testing::fill_random(u, 1);
  auto const u_h = on_host(u);
  for (int i = 0; i < 20; ++i) u_h(i, 0) = u_h(i, 29) = 0;
  for (int j = 0; j < 30; ++j) u_h(0, j) = u_h(19, j) = 0;
  Kokkos::deep_copy(u, u_h);
  auto const result = multigrid(b, u);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.residual_norm, 0);
  EXPECT_EQ(coir::testing::differing(u, GridOf<TypeParam, 2>("zero", 20, 30)), 0u);
}

// A solver keeps nothing of one problem that shows in the next.
TYPED_TEST(MultigridTest, SolverCanBeUsedAgain) {
  typename TypeParam::Exec const exec;
  std::array const cells{61, 130};
  Multigrid<typename TypeParam::Exec, typename TypeParam::Real, 2> solver(exec, cells, {});
  for (int seed : {1, 2, 3}) {
    auto const u = field<TypeParam>(cells, 2), v = field<TypeParam>(cells, 2),
               b = field<TypeParam>(cells, 0);
    coir::testing::fill_random(b, seed);
    coir::testing::fill_random(u, seed + 10);
    Kokkos::deep_copy(v, u);
    auto const again = solver.solve(b, u);
    auto const once = multigrid(exec, b, v);
    EXPECT_EQ(again.residual_norm, once.residual_norm);
    EXPECT_EQ(coir::testing::differing(u, v), 0u);
  }
  auto const moved = std::move(solver);
}

TYPED_TEST(MultigridTest, RefusesWhatTheDocumentationRulesOut) {
  using Exec = typename TypeParam::Exec;
  using Solver = Multigrid<Exec, typename TypeParam::Real, 2>;
  GridOf<TypeParam, 2> const b("b", 4, 5), u("u", 6, 7);
  EXPECT_THROW(multigrid(b, u, {.max_cycles = 0}), coir::PreconditionError);
  EXPECT_THROW(multigrid(b, u, {.pre_sweeps = 0}), coir::PreconditionError);
  EXPECT_THROW(multigrid(b, u, {.post_sweeps = -1}), coir::PreconditionError);
  EXPECT_THROW(multigrid(b, u, {.omega = 2}), coir::PreconditionError);
  EXPECT_THROW(multigrid(b, u, {.omega = -1}), coir::PreconditionError);
  EXPECT_THROW(Solver(Exec{}, {0, 3}), coir::PreconditionError);
  EXPECT_THROW(Solver(Exec{}, {4, 6}).solve(b, u), coir::PreconditionError);
}

TYPED_TEST(MultigridTest, AsksForMemoryBeforeAllocating) {
  TYPES_OF_CASE;
  EXPECT_THROW((Multigrid<Exec, T, 2>(Exec{}, {10'000'000, 10'000'000})), coir::ResourceError);
  EXPECT_THROW((Multigrid<Exec, T, 3>(Exec{}, {50'000, 50'000, 50'000})), coir::ResourceError);
}
