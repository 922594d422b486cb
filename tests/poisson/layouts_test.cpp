// Views of any layout, for all solvers: LayoutLeft is the transposed grid, gaps and strides change
// nothing.

#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid.hpp>
#include <coir/poisson/multigrid_preconditioner.hpp>
#include <coir/poisson/red_black.hpp>

#include <poisson/random_fields.hpp>
#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

using coir::testing::copy_as;
using coir::testing::Laid;
using coir::testing::message_of;
using coir::testing::on_host;
using coir::testing::transposed;

namespace {

COIR_TYPED_SUITE(Layouts);

template <int Rank>
using Extents = std::array<std::int64_t, Rank>;

/// One cell, one row, odd, prime, and large enough for vectors, tiles and threads.
template <int Rank>
std::array<Extents<Rank>, 6> sizes() {
  if constexpr (Rank == 2)
    return {{{1, 1}, {1, 9}, {9, 1}, {3, 5}, {37, 13}, {61, 128}}};
  else
    return {{{1, 1, 1}, {1, 9, 1}, {3, 5, 7}, {13, 1, 11}, {1, 1, 9}, {17, 30, 19}}};
}

/// A source and a field with its ring, of whole numbers.
template <class C, int Rank>
struct Problem {
  using View = coir::testing::Grid<typename C::Exec, typename C::Real, Rank>;
  View b, u;

  explicit Problem(Extents<Rank> const& cells) {
    using Space = typename C::Exec::memory_space;
    auto ring = cells;
    for (auto& extent : ring) extent += 2;
    b = coir::testing::allocate<Laid::right, typename C::Real, Space>(cells);
    u = coir::testing::allocate<Laid::right, typename C::Real, Space>(ring);
    coir::testing::fill_random(b, 3, 9);
    coir::testing::fill_random(u, 5, 9);
  }
};

template <class V>
double largest_difference(V const& a, V const& b) {
  auto const a_h = on_host(a);
  auto const b_h = on_host(b);
  double largest = 0;
  for (std::size_t i = 0; i < a_h.size(); ++i)
    largest = std::max(largest, std::abs(double(a_h.data()[i]) - double(b_h.data()[i])));
  return largest;
}

template <class V>
double largest(V const& a) {
  auto const a_h = on_host(a);
  double result = 0;
  for (std::size_t i = 0; i < a_h.size(); ++i)
    result = std::max(result, std::abs(double(a_h.data()[i])));
  return result;
}

struct BySweeps {
  static constexpr char const* name = "jacobi";
  template <class B, class U>
  void operator()(B const& b, U const& u) const {
    coir::poisson::jacobi(b, u, {.sweeps = 7});
  }
};
struct ByPlainSweeps {
  static constexpr char const* name = "plain jacobi";
  template <class B, class U>
  void operator()(B const& b, U const& u) const {
    coir::poisson::jacobi(b, u, {.scheme = coir::poisson::JacobiScheme::plain, .sweeps = 6});
  }
};
struct ByRelaxation {
  static constexpr char const* name = "red_black";
  template <class B, class U>
  void operator()(B const& b, U const& u) const {
    coir::poisson::red_black(b, u, {.sweeps = 7, .omega = 1.25});
  }
};
struct ByMultigrid {
  static constexpr char const* name = "multigrid";
  template <class B, class U>
  void operator()(B const& b, U const& u) const {
    coir::poisson::multigrid(b, u, {.max_cycles = 2, .tolerance = 0});
  }
};
struct ByConjugateGradients {
  static constexpr char const* name = "conjugate_gradients";
  coir::poisson::Preconditioner preconditioner;
  template <class B, class U>
  void operator()(B const& b, U const& u) const {
    coir::poisson::conjugate_gradients(
        b, u, {.max_iterations = 3, .tolerance = 0, .preconditioner = preconditioner});
  }
};
/// Leaves M b in u, whose ring must be zero.
struct ByPreconditioner {
  static constexpr char const* name = "multigrid_preconditioner";
  template <class B, class U>
  void operator()(B const& b, U const& u) const {
    using Exec = typename U::execution_space;
    coir::poisson::MultigridPreconditioner<Exec, typename U::value_type> preconditioner(
        Exec{}, {static_cast<int>(b.extent(0)), static_cast<int>(b.extent(1))});
    preconditioner.apply(b, u);
    Exec{}.fence();
  }
};

template <class V>
void clear_ring(V const& u) {
  auto const u_h = on_host(u);
  std::size_t const m = u.extent(0), n = u.extent(1);
  for (std::size_t i = 0; i < m; ++i) u_h(i, 0) = u_h(i, n - 1) = 0;
  for (std::size_t j = 0; j < n; ++j) u_h(0, j) = u_h(m - 1, j) = 0;
  Kokkos::deep_copy(u, u_h);
}

/// Solves with a source and a field of these layouts; the field in C order.
template <Laid OfB, Laid OfU, class C, int Rank, class Solve>
auto solved(Problem<C, Rank> const& problem, Solve const& solve) {
  auto const b = copy_as<OfB>(problem.b);
  auto const u = copy_as<OfU>(problem.u);
  solve(b, u);
  return copy_as<Laid::right>(u);
}

/// What row-major Views get of the transposed problem, transposed back.
template <class C, int Rank, class Solve>
auto solved_transposed(Problem<C, Rank> const& problem, Solve const& solve) {
  auto const b = transposed(problem.b), u = transposed(problem.u);
  solve(b, u);
  return transposed(u);
}

/// Whether the layouts that need no other arithmetic must give the same bits. The products of
/// conjugate gradients are those of a device's library, which doesn't promise the same order of
/// additions each time.
template <class Exec, class Solve>
constexpr bool has_same_bits =
    coir::runs_on_host<Exec> || !std::is_same_v<Solve, ByConjugateGradients>;

/// Solves a problem in all layouts, and compares with what LayoutRight gets of it or of the
/// transposed problem.
template <class C, int Rank, class Solve>
void expect_any_layout(Problem<C, Rank> const& problem, Solve const& solve) {
  double const eps = std::numeric_limits<typename C::Real>::epsilon();
  SCOPED_TRACE(std::string(Solve::name) + " on " + std::to_string(problem.b.extent(0)) + " x " +
               std::to_string(problem.b.extent(1)) + " x " +
               std::to_string(problem.b.extent(Rank - 1)));
  auto const right = solved<Laid::right, Laid::right>(problem, solve);
  auto const turned = solved_transposed(problem, solve);
  // Each of up to 20 steps rounds a few times.
  auto const expect_near = [&](auto const& found, auto const& expected) {
    EXPECT_LE(largest_difference(found, expected), 100 * eps * largest(right));
  };
  auto const expect_same = [&](auto const& found, auto const& expected) {
    if (has_same_bits<typename C::Exec, Solve>)
      EXPECT_EQ(coir::testing::differing(found, expected), 0u);
    else
      expect_near(found, expected);
  };
  auto const left = solved<Laid::left, Laid::left>(problem, solve);
  expect_same(left, turned);
  expect_near(left, right);
  expect_same(solved<Laid::turned, Laid::turned>(problem, solve), turned);
  expect_same(solved<Laid::right, Laid::left>(problem, solve), turned);
  expect_same(solved<Laid::left, Laid::right>(problem, solve), right);
  expect_same(solved<Laid::with_gaps, Laid::with_gaps>(problem, solve), right);
  expect_same(solved<Laid::apart, Laid::apart>(problem, solve), right);
}

template <class C, int Rank, class Solve>
void expect_any_layout(Solve const& solve) {
  for (auto const& cells : sizes<Rank>()) expect_any_layout(Problem<C, Rank>(cells), solve);
}

// What is refused when it is compiled.
template <class B, class U>
inline constexpr bool taken = coir::poisson::SourceAndUnknown<Kokkos::DefaultExecutionSpace, B, U>;
using Right = Kokkos::View<double**, Kokkos::LayoutRight>;
using Left = Kokkos::View<double**, Kokkos::LayoutLeft>;
static_assert(taken<Right, Right> && taken<Left, Left> && taken<Right, Left>);
static_assert(taken<Kokkos::View<double const**>, Kokkos::View<double[8][9]>>);
static_assert(!taken<Right, Kokkos::View<double const**>>);
static_assert(!taken<Right, Kokkos::View<float**>> && !taken<Right, Kokkos::View<double***>>);
static_assert(!taken<Kokkos::View<int**>, Kokkos::View<int**>>);

}  // namespace

TYPED_TEST(Layouts, JacobiSolvesLayoutLeftAsTheTransposedGrid) {
  expect_any_layout<TypeParam, 2>(BySweeps{});
  expect_any_layout<TypeParam, 3>(BySweeps{});
  expect_any_layout<TypeParam, 2>(ByPlainSweeps{});
}

TYPED_TEST(Layouts, RedBlackSolvesLayoutLeftAsTheTransposedGrid) {
  expect_any_layout<TypeParam, 2>(ByRelaxation{});
  expect_any_layout<TypeParam, 3>(ByRelaxation{});
}

TYPED_TEST(Layouts, MultigridSolvesLayoutLeftAsTheTransposedGrid) {
  expect_any_layout<TypeParam, 2>(ByMultigrid{});
  expect_any_layout<TypeParam, 3>(ByMultigrid{});
}

TYPED_TEST(Layouts, ConjugateGradientsSolveLayoutLeftAsTheTransposedGrid) {
  if (!coir::poisson::has_conjugate_gradients()) GTEST_SKIP() << "no sparse matrices";
  using coir::poisson::Preconditioner;
  expect_any_layout<TypeParam, 2>(ByConjugateGradients{Preconditioner::multigrid});
  expect_any_layout<TypeParam, 2>(ByConjugateGradients{Preconditioner::none});
}

TYPED_TEST(Layouts, ThePreconditionerTakesLayoutLeftAsTheTransposedGrid) {
  for (auto const& cells : sizes<2>()) {
    Problem<TypeParam, 2> const problem(cells);
    clear_ring(problem.u);
    expect_any_layout(problem, ByPreconditioner{});
  }
}

// Its sums are symmetric in the first and the last axis.
TYPED_TEST(Layouts, RedBlackHasTheSameBitsForLayoutLeft) {
  if constexpr (coir::runs_on_host<typename TypeParam::Exec>) {
    for (auto const& cells : sizes<2>()) {
      Problem<TypeParam, 2> const problem(cells);
      EXPECT_EQ(
          coir::testing::differing((solved<Laid::left, Laid::left>(problem, ByRelaxation{})),
                                   (solved<Laid::right, Laid::right>(problem, ByRelaxation{}))),
          0u);
    }
  } else {
    GTEST_SKIP() << "devices may fuse products";
  }
}

TYPED_TEST(Layouts, LaplacianAndResidualsTakeAnyLayout) {
  using Exec = typename TypeParam::Exec;
  for (auto const& cells : sizes<3>()) {
    Problem<TypeParam, 3> const problem(cells);
    auto const expected = copy_as<Laid::right>(problem.b);
    coir::poisson::laplacian(problem.u, expected);  // of whole numbers: exact in any order
    double const residual = coir::poisson::residual_norm(Exec{}, problem.b, problem.u);
    double const source = coir::poisson::source_norm(Exec{}, problem.b, problem.u);
    auto const try_layout = [&](auto const& b, auto const& u) {
      EXPECT_DOUBLE_EQ(coir::poisson::residual_norm(Exec{}, b, u), residual);
      EXPECT_DOUBLE_EQ(coir::poisson::source_norm(Exec{}, b, u), source);
      coir::poisson::laplacian(u, b);
      EXPECT_EQ(coir::testing::differing(copy_as<Laid::right>(b), expected), 0u);
    };
    try_layout(copy_as<Laid::left>(problem.b), copy_as<Laid::left>(problem.u));
    try_layout(copy_as<Laid::right>(problem.b), copy_as<Laid::left>(problem.u));
    try_layout(copy_as<Laid::apart>(problem.b), copy_as<Laid::turned>(problem.u));
  }
}

// One solver, whose coarse grids follow the order of the axes in memory.
TYPED_TEST(Layouts, AMultigridSolverTakesOneLayoutAfterTheOther) {
  using Exec = typename TypeParam::Exec;
  Problem<TypeParam, 2> const problem({37, 13});
  coir::poisson::MultigridOptions const options{.max_cycles = 2, .tolerance = 0};
  coir::poisson::Multigrid<Exec, typename TypeParam::Real, 2> solver(Exec{}, {37, 13}, options);
  auto const solve = [&](auto const& b, auto const& u) { solver.solve(b, u); };
  auto const right = solved<Laid::right, Laid::right>(problem, ByMultigrid{});
  auto const turned = solved_transposed(problem, ByMultigrid{});
  EXPECT_EQ(coir::testing::differing((solved<Laid::left, Laid::left>(problem, solve)), turned), 0u);
  EXPECT_EQ(coir::testing::differing((solved<Laid::right, Laid::right>(problem, solve)), right),
            0u);
  EXPECT_EQ(coir::testing::differing((solved<Laid::left, Laid::left>(problem, solve)), turned), 0u);
  auto const other = transposed(problem.b), u = transposed(problem.u);
  EXPECT_THROW(solver.solve(other, u), coir::PreconditionError);
}

TYPED_TEST(Layouts, APreconditionerTakesOneLayoutAfterTheOther) {
  using Exec = typename TypeParam::Exec;
  Problem<TypeParam, 2> const problem({37, 13});
  clear_ring(problem.u);
  coir::poisson::MultigridPreconditioner<Exec, typename TypeParam::Real> preconditioner(Exec{},
                                                                                        {37, 13});
  auto const apply = [&](auto const& r, auto const& z) { preconditioner.apply(r, z); };
  auto const right = solved<Laid::right, Laid::right>(problem, ByPreconditioner{});
  auto const turned = solved_transposed(problem, ByPreconditioner{});
  EXPECT_EQ(coir::testing::differing((solved<Laid::left, Laid::left>(problem, apply)), turned), 0u);
  EXPECT_EQ(coir::testing::differing((solved<Laid::right, Laid::right>(problem, apply)), right),
            0u);
  EXPECT_EQ(coir::testing::differing((solved<Laid::apart, Laid::left>(problem, apply)), turned),
            0u);
  auto const other = transposed(problem.b), z = transposed(problem.u);
  EXPECT_EQ(message_of([&] { preconditioner.apply(other, z); }),
            "r must have as many cells along axis 0 as the preconditioner's grid (37), not 13");
}

// A source in the memory of the unknown's inside is read before that is written.
TYPED_TEST(Layouts, ASourceInsideTheUnknownIsSolvedAsACopyOfIt) {
  using Range = std::pair<int, int>;
  Problem<TypeParam, 2> const problem({37, 13});
  auto const together = [&](auto const& solve) {
    auto const u = copy_as<Laid::right>(problem.u);
    auto const b = Kokkos::subview(u, Range(1, 38), Range(1, 14));
    auto const b_apart = copy_as<Laid::right>(problem.b), u_apart = copy_as<Laid::right>(u);
    Kokkos::deep_copy(b_apart, b);
    solve(b, u);
    solve(b_apart, u_apart);
    EXPECT_EQ(coir::testing::differing(u, u_apart), 0u);
  };
  together(BySweeps{});
  together(ByRelaxation{});
  together(ByMultigrid{});
  if (coir::poisson::has_conjugate_gradients())
    together(ByConjugateGradients{coir::poisson::Preconditioner::multigrid});
  clear_ring(problem.u);
  together(ByPreconditioner{});

  auto const u = copy_as<Laid::right>(problem.u);
  auto const expected = copy_as<Laid::right>(problem.b);
  coir::poisson::laplacian(u, expected);
  auto const inside = Kokkos::subview(u, Range(1, 38), Range(1, 14));
  coir::poisson::laplacian(u, inside);
  auto const found = copy_as<Laid::right>(problem.b);
  Kokkos::deep_copy(found, inside);
  EXPECT_EQ(coir::testing::differing(found, expected), 0u);
}

TYPED_TEST(Layouts, UnknownsWhoseElementsMeetAreRefused) {
  TYPES_OF_CASE;
  Kokkos::View<T*, Space> const memory("memory", 100);
  Kokkos::View<T**, Kokkos::LayoutRight, Space> const b("b", 5, 5), u("u", 7, 7);
  using Met = Kokkos::View<T**, Kokkos::LayoutStride, Space>;
  for (int const row : {0, 3}) {
    Met const met(memory.data(), Kokkos::LayoutStride(7, row, 7, 1));
    EXPECT_EQ(message_of([&] { coir::poisson::jacobi(b, met); }),
              "a field with strides " + std::to_string(row) +
                  ", 1 has elements in the same place and can't be written: copy it first");
  }
  coir::poisson::MultigridPreconditioner<typename TypeParam::Exec, T> preconditioner({}, {5, 5});
  Met const all_alike(memory.data(), Kokkos::LayoutStride(7, 0, 7, 0));
  EXPECT_EQ(
      message_of([&] { preconditioner.apply(b, all_alike); }),
      "a field with strides 0, 0 has elements in the same place and can't be written: copy it "
      "first");
  // Where it is only read, one row may stand for all.
  Met const source(memory.data(), Kokkos::LayoutStride(5, 0, 5, 1));
  EXPECT_TRUE(coir::poisson::multigrid(source, u).converged);
}

TYPED_TEST(Layouts, EmptyGridsOfLayoutLeftAreSolved) {
  TYPES_OF_CASE;
  auto const b = coir::testing::allocate<Laid::left, T, Space>(Extents<2>{0, 5});
  auto const u = coir::testing::allocate<Laid::left, T, Space>(Extents<2>{2, 7});
  EXPECT_TRUE(coir::poisson::jacobi(b, u).converged);
  EXPECT_TRUE(coir::poisson::multigrid(b, u).converged);
  if (coir::poisson::has_conjugate_gradients()) {
    EXPECT_TRUE(coir::poisson::conjugate_gradients(b, u).converged);
  }
}
