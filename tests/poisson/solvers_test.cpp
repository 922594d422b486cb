// What every solver promises, whatever its method.

#include <coir/core/errors.hpp>
#include <coir/core/tasks.hpp>
#include <coir/poisson/conjugate_gradients.hpp>
#include <coir/poisson/detail/crew.hpp>
#include <coir/poisson/jacobi.hpp>
#include <coir/poisson/laplacian.hpp>
#include <coir/poisson/multigrid.hpp>
#include <coir/poisson/red_black.hpp>

#include <poisson/random_fields.hpp>
#include <support/spaces.hpp>
#include <support/thread_counts.hpp>
#include <support/thread_times.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using coir::poisson::Monitor;
using coir::poisson::Result;
using coir::poisson::StoppedBy;
using coir::testing::GridOf;
using coir::testing::Host;
using coir::testing::on_host;

namespace {

/// What all of them take.
struct Limits {
  int iterations = 100'000;
  double tolerance = 0;
  Monitor monitor = {};
};

template <coir::poisson::JacobiScheme scheme>
struct Jacobi {
  static constexpr bool sweeps = true;  ///< many small steps; looks at the residual now and then
  template <class Exec, class B, class U>
  static Result solve(Exec const& exec, B const& b, U const& u, Limits const& limits) {
    return coir::poisson::jacobi(exec, b, u,
                                 {.scheme = scheme,
                                  .sweeps = limits.iterations,
                                  .tolerance = limits.tolerance,
                                  .check_every = 70,
                                  .monitor = limits.monitor});
  }
};
struct RedBlack {
  static constexpr bool sweeps = true;
  template <class Exec, class B, class U>
  static Result solve(Exec const& exec, B const& b, U const& u, Limits const& limits) {
    return coir::poisson::red_black(exec, b, u,
                                    {.sweeps = limits.iterations,
                                     .tolerance = limits.tolerance,
                                     .check_every = 70,
                                     .monitor = limits.monitor});
  }
};
struct Multigrid {
  static constexpr bool sweeps = false;
  template <class Exec, class B, class U>
  static Result solve(Exec const& exec, B const& b, U const& u, Limits const& limits) {
    return coir::poisson::multigrid(exec, b, u,
                                    {.max_cycles = limits.iterations,
                                     .tolerance = limits.tolerance,
                                     .monitor = limits.monitor});
  }
};
template <coir::poisson::Preconditioner preconditioner>
struct ConjugateGradients {
  static constexpr bool sweeps = false;
  template <class Exec, class B, class U>
  static Result solve(Exec const& exec, B const& b, U const& u, Limits const& limits) {
    return coir::poisson::conjugate_gradients(exec, b, u,
                                              {.max_iterations = limits.iterations,
                                               .tolerance = limits.tolerance,
                                               .preconditioner = preconditioner,
                                               .monitor = limits.monitor});
  }
};

using Plain = Jacobi<coir::poisson::JacobiScheme::plain>;
using Blocked = Jacobi<coir::poisson::JacobiScheme::blocked>;
using Conjugate = ConjugateGradients<coir::poisson::Preconditioner::none>;
using Preconditioned = ConjugateGradients<coir::poisson::Preconditioner::multigrid>;

/// Calls visit(name, solver) for each solver of this build.
template <class Visit>
void for_each_solver(Visit const& visit) {
  visit("plain Jacobi", Plain{});
  visit("blocked Jacobi", Blocked{});
  visit("red-black", RedBlack{});
  visit("multigrid", Multigrid{});
  if (!coir::poisson::has_conjugate_gradients()) return;
  visit("conjugate gradients", Conjugate{});
  visit("preconditioned conjugate gradients", Preconditioned{});
}

template <class C>
class Solvers : public ::testing::Test {
 public:
  /// Calls visit(solve, solver) for each solver, where solve(b, u, limits) returns a Result.
  template <class Visit>
  static void for_each(Visit const& visit) {
    for_each_solver([&](char const* name, auto solver) {
      SCOPED_TRACE(name);
      visit(
          [&](auto const& b, auto const& u, Limits const& limits = {}) {
            return solver.solve(typename C::Exec{}, b, u, limits);
          },
          solver);
    });
  }
};
TYPED_TEST_SUITE(Solvers, coir::testing::Cases, coir::testing::CaseName);

}  // namespace

TYPED_TEST(Solvers, OneIterationSolvesOneCell) {
  this->for_each([](auto const& solve, auto) {
    auto const [b, u] = coir::testing::one_cell<TypeParam>();
    auto const result = solve(b, u, {.iterations = 1});
    EXPECT_EQ(on_host(u)(1, 1), 2);
    EXPECT_EQ(result.residual_norm, 0);
    EXPECT_TRUE(result.converged);
  });
}

// A field that solves the equation exactly, in numbers that add without rounding, stays as it is.
TYPED_TEST(Solvers, ExactSolutionIsAFixedPoint) {
  using T = typename TypeParam::Real;
  int const m = 23, n = 40;
  GridOf<TypeParam> const u("u", m + 2, n + 2), b("b", m, n);
  auto const u_h = Kokkos::create_mirror_view(u);
  for (int i = 0; i < m + 2; ++i)
    for (int j = 0; j < n + 2; ++j) u_h(i, j) = T(i * i - 2 * j * j + 3 * i * j);
  Kokkos::deep_copy(u, u_h);
  Kokkos::deep_copy(b, T(2 - 4));
  auto const start = coir::testing::copy_of(u), source = coir::testing::copy_of(b);
  this->for_each([&](auto const& solve, auto) {
    auto const result = solve(b, u, {.iterations = 50, .tolerance = 1e-3});
    EXPECT_EQ(coir::testing::differing(u, start), 0u);
    EXPECT_EQ(coir::testing::differing(b, source), 0u);
    EXPECT_EQ(result.residual_norm, 0);
    EXPECT_TRUE(result.converged);
  });
}

TYPED_TEST(Solvers, KeepTheRingAndTheSource) {
  int const m = 10, n = 7;
  GridOf<TypeParam> const u("u", m + 2, n + 2), b("b", m, n);
  coir::testing::fill_random(u, 3);
  coir::testing::fill_random(b, 4);
  auto const source = coir::testing::copy_of(b);
  auto const before = on_host(coir::testing::copy_of(u));
  this->for_each([&](auto const& solve, auto) {
    solve(b, u, {.iterations = 20});
    auto const after = on_host(u);
    for (int i = 0; i < m + 2; ++i)
      for (int j = 0; j < n + 2; ++j)
        if (i == 0 || i == m + 1 || j == 0 || j == n + 1) {
          EXPECT_EQ(after(i, j), before(i, j));
        }
    EXPECT_EQ(coir::testing::differing(b, source), 0u);
  });
}

TYPED_TEST(Solvers, StopAtTheToleranceAndTellTheResidual) {
  int const n = 20;
  this->for_each([](auto const& solve, auto) {
    GridOf<TypeParam> const u("u", n + 2, n + 2), b("b", n, n);
    Kokkos::deep_copy(b, 1);
    auto const result = solve(b, u, {.tolerance = 1e-3});
    EXPECT_TRUE(result.converged);
    EXPECT_EQ(result.stopped_by, StoppedBy::tolerance);
    EXPECT_LE(result.relative_residual, 1e-3);
    EXPECT_GT(result.relative_residual, 0);
    EXPECT_NEAR(result.residual_norm, result.relative_residual * n, 1e-6 * n);
    // Both round each cell's residual, by some units in the last place of 4 u, which is below 40.
    double const rounding = 16 * 40 * n * std::numeric_limits<typename TypeParam::Real>::epsilon();
    EXPECT_NEAR(result.residual_norm,
                coir::poisson::residual_norm(typename TypeParam::Exec{}, b, u), rounding);
    EXPECT_EQ(solve(b, u, {.tolerance = 2e-3}).stopped_by, StoppedBy::tolerance);
  });
}

TYPED_TEST(Solvers, WithoutAToleranceMakeAllIterations) {
  this->for_each([](auto const& solve, auto) {
    for (int const iterations : {1, 5}) {
      GridOf<TypeParam> const u("u", 32, 29), b("b", 30, 27);
      coir::testing::fill_random(b, 8);
      auto const result = solve(b, u, {.iterations = iterations});
      EXPECT_EQ(result.iterations, iterations);
      EXPECT_EQ(result.stopped_by, StoppedBy::sweeps);
      EXPECT_FALSE(result.converged);
    }
  });
}

TYPED_TEST(Solvers, ReportStagnation) {
  int const n = 15;
  this->for_each([](auto const& solve, auto) {
    GridOf<TypeParam> const u("u", n + 2, n + 2), b("b", n, n);
    coir::testing::fill_random(b, 9);
    auto const result = solve(b, u, {.tolerance = 1e-30});
    EXPECT_TRUE(result.stopped_by == StoppedBy::stagnation || result.residual_norm == 0)
        << name_of(result.stopped_by);
    EXPECT_LT(result.iterations, 100'000);
    EXPECT_LT(result.relative_residual,
              1e3 * std::numeric_limits<typename TypeParam::Real>::epsilon());
  });
}

TYPED_TEST(Solvers, ReportWhatIsNoNumber) {
  using T = typename TypeParam::Real;
  for (T const bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    for (double const tolerance : {0.0, 1e-3})
      this->for_each([&](auto const& solve, auto) {
        GridOf<TypeParam> const u("u", 32, 42), b("b", 30, 40);
        auto const b_h = Kokkos::create_mirror_view(b);
        b_h(14, 4) = bad;
        Kokkos::deep_copy(b, b_h);
        auto const result = solve(b, u, {.iterations = 10, .tolerance = tolerance});
        EXPECT_EQ(result.stopped_by, StoppedBy::not_finite);
        EXPECT_FALSE(result.converged);
      });
}

TYPED_TEST(Solvers, MonitorStopsThem) {
  int const n = 50;
  this->for_each([](auto const& solve, auto) {
    GridOf<TypeParam> const u("u", n + 2, n + 2), b("b", n, n);
    Kokkos::deep_copy(b, 1);
    int calls = 0;
    auto const result =
        solve(b, u, {.iterations = 100'000'000, .monitor = [&](auto const& progress) {
                       EXPECT_EQ(progress.total, 100'000'000);
                       return ++calls < 3;
                     }});
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(result.stopped_by, StoppedBy::interrupted);
    EXPECT_LT(result.iterations, 100'000'000);
    EXPECT_GT(result.iterations, 0);
  });
}

// Interruptions and checks cut sweeps into pieces; the pieces must not show.
TYPED_TEST(Solvers, ChecksAndMonitorLeaveTheBitsAlone) {
  this->for_each([](auto const& solve, auto solver) {
    GridOf<TypeParam> const u("u", 63, 85), b("b", 61, 83);
    coir::testing::fill_random(u, 5);
    coir::testing::fill_random(b, 6);
    auto const expected = coir::testing::copy_of(u);
    int const iterations = solver.sweeps ? 150 : 3;
    solve(b, expected, {.iterations = iterations});
    auto const result =
        solve(b, u, {.iterations = iterations, .tolerance = 1e-30, .monitor = [](auto const&) {
                       return true;
                     }});
    EXPECT_EQ(result.iterations, iterations);
    EXPECT_EQ(coir::testing::differing(u, expected), 0u);
  });
}

TYPED_TEST(Solvers, TakeViewsTheyDontOwnAndPartsOfViews) {
  using T = typename TypeParam::Real;
  using Memory = typename TypeParam::Exec::memory_space;
  using Part = std::pair<int, int>;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  int const m = 40, n = 52;
  this->for_each([](auto const& solve, auto) {
    GridOf<TypeParam> const u("u", m + 2, n + 2), b("b", m, n), large("large", 90, 99);
    coir::testing::fill_random(u, 1);
    coir::testing::fill_random(b, 2);
    auto const start = coir::testing::copy_of(u), expected = coir::testing::copy_of(u);
    solve(b, expected, {.iterations = 9});
    Kokkos::View<T const**, Kokkos::LayoutRight, Memory, Unmanaged> const b_view(b.data(), m, n);
    Kokkos::View<T**, Kokkos::LayoutRight, Memory, Unmanaged> const u_view(u.data(), m + 2, n + 2);
    solve(b_view, u_view, {.iterations = 9});
    EXPECT_EQ(coir::testing::differing(u, expected), 0u);

    auto const part = Kokkos::subview(large, Part{3, 3 + m + 2}, Part{7, 7 + n + 2});
    if constexpr (coir::RowMajor<std::remove_const_t<decltype(part)>>) {
      Kokkos::deep_copy(part, start);
      solve(b, part, {.iterations = 9});
      Kokkos::deep_copy(u, part);
      EXPECT_EQ(coir::testing::differing(u, expected), 0u);
    }
  });
}

TYPED_TEST(Solvers, EmptyGridsAreSolved) {
  this->for_each([](auto const& solve, auto) {
    for (auto const& [m, n] : {std::pair{0, 5}, {5, 0}, {0, 0}}) {
      GridOf<TypeParam> const u("u", m + 2, n + 2), b("b", m, n);
      auto const result = solve(b, u, {.iterations = 3});
      EXPECT_EQ(result.residual_norm, 0);
      EXPECT_TRUE(result.converged);
    }
  });
}

TYPED_TEST(Solvers, RefuseWhatTheDocumentationRulesOut) {
  GridOf<TypeParam> const b("b", 4, 5), u("u", 6, 7), short_u("u", 5, 7), narrow_u("u", 6, 6);
  this->for_each([&](auto const& solve, auto) {
    EXPECT_THROW(solve(b, short_u), coir::PreconditionError);
    EXPECT_THROW(solve(b, narrow_u), coir::PreconditionError);
    EXPECT_THROW(solve(b, u, {.iterations = -1}), coir::PreconditionError);
    for (double const tolerance : {-1e-3, 1.0, std::nan("")})
      EXPECT_THROW(solve(b, u, {.tolerance = tolerance}), coir::PreconditionError);
  });
}

// CTest runs this for several numbers of threads, with threads that sleep while they wait.
TEST(SolversOnHost, UseAllThreads) {
  if (!coir::testing::thread_times_tell()) GTEST_SKIP() << "OMP_WAIT_POLICY must be passive";
  Host const exec;
  auto const expect_all = [&](auto solver, int iterations, auto const& b, auto const& u) {
    coir::testing::fill_random(b, 6);
    auto const shared = coir::testing::share_of_threads(
        [&] { solver.solve(exec, b, u, {.iterations = iterations}); });
    EXPECT_EQ(shared.threads, static_cast<int>(exec.concurrency()));
  };
  using Plane = coir::testing::Grid<Host, double, 2>;
  using Solid = coir::testing::Grid<Host, double, 3>;
  Plane const b("b", 700, 700), u("u", 702, 702);
  // Blocked sweeps begin and end with copies by one thread, which 100 sweeps by eight threads take
  // no longer than.
  expect_all(Plain{}, 800, b, u);
  expect_all(Blocked{}, 800, b, u);
  expect_all(RedBlack{}, 100, b, u);
  expect_all(Multigrid{}, 8, Plane("b", 1000, 1000), Plane("u", 1002, 1002));
  expect_all(Multigrid{}, 8, Solid("b", 120, 100, 100), Solid("u", 122, 102, 102));
}

// Whatever threads stay for, each call of a piece is made once, by threads that run side by side.
TEST(CrewOnHost, PiecesUseAllThreads) {
  Host const exec;
  coir::poisson::detail::Crew<Host> crew(exec);
  int const threads = crew.threads();
  EXPECT_LE(threads, static_cast<int>(exec.concurrency()));
  std::vector<int> calls(static_cast<std::size_t>(threads), 0);
  std::atomic<int> here = 0;
  auto const work = [&] {
    for (int piece = 0; piece < 300; ++piece) {
      int const sharing = 1 + piece % threads;
      here = 0;
      crew.run("coir::poisson::solvers_test/piece", sharing, [&](int thread) {
        ++calls[thread];
        for (++here; here < sharing;) std::this_thread::yield();
      });
      EXPECT_EQ(here, sharing);
    }
  };
  auto const expected = [&](int thread) {
    int count = 0;
    for (int piece = 0; piece < 300; ++piece) count += thread <= piece % threads;
    return count;
  };
  work();  // kernels of their own
  crew.stay_for("coir::poisson::solvers_test/stay", threads, [&] {
    // All pieces share a kernel, in which there is one thread for kernels of other work.
    EXPECT_TRUE(threads == 1 || coir::most_tasks_at_once(exec) == 1);
    work();
  });
  for (int thread = 0; thread < threads; ++thread) EXPECT_EQ(calls[thread], 2 * expected(thread));

  EXPECT_THROW(crew.stay_for("coir::poisson::solvers_test/stay", threads,
                             [] { throw coir::PreconditionError("from within"); }),
               coir::PreconditionError);
  work();
  EXPECT_EQ(calls[0], 3 * expected(0));
}

// What the test below runs on several numbers of threads.
TEST(SolversOnHost, PrintADigestOfTheirBits) {
  coir::testing::Digest digest;
  auto const add = [&](auto solver, auto const& b, auto const& u, Limits const& limits) {
    coir::testing::fill_random(b, 6);
    Kokkos::deep_copy(u, 0);
    auto const result = solver.solve(Host{}, b, u, limits);
    digest.add(u);
    digest.add_number(result.residual_norm);
    digest.add_number(result.iterations);
  };
  for (auto const& [m, n] : {std::pair{401, 266}, {31, 2000}, {700, 301}}) {
    coir::testing::Grid<Host, double, 2> const u("u", m + 2, n + 2), b("b", m, n);
    for_each_solver([&](char const*, auto solver) {
      add(solver, b, u, {.iterations = solver.sweeps ? 140 : 12, .tolerance = 1e-30});
    });
  }
  for (auto const& [m, n, p] : {std::array{40, 50, 61}, {90, 30, 33}}) {
    coir::testing::Grid<Host, float, 3> const u("u", m + 2, n + 2, p + 2), b("b", m, n, p);
    add(RedBlack{}, b, u, {.iterations = 140, .tolerance = 1e-30});
    add(Multigrid{}, b, u, {.tolerance = 1e-4});
  }
  digest.print();
}

TEST(SolversOnHost, HaveTheSameBitsForAnyThreadCount) {
  coir::testing::expect_same_digests("SolversOnHost.PrintADigestOfTheirBits");
}

TEST(Results, NameEveryReasonToStop) {
  EXPECT_EQ(name_of(StoppedBy::sweeps), "sweeps");
  EXPECT_EQ(name_of(StoppedBy::tolerance), "tolerance");
  EXPECT_EQ(name_of(StoppedBy::stagnation), "stagnation");
  EXPECT_EQ(name_of(StoppedBy::not_finite), "not finite");
  EXPECT_EQ(name_of(StoppedBy::interrupted), "interrupted");
}
