// Solvers over ranks against the same solvers on one rank, bit for bit.

#include <coir/core/errors.hpp>
#include <coir/distributed/connections.hpp>
#include <coir/distributed/share.hpp>
#include <coir/poisson/over_ranks.hpp>

#include <poisson/random_fields.hpp>
#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace {

using coir::poisson::jacobi;
using coir::poisson::JacobiOptions;
using coir::poisson::JacobiScheme;
using coir::poisson::multigrid;
using coir::poisson::red_black;
using coir::poisson::RedBlackOptions;
using coir::testing::differing;
using coir::testing::Grid;
using coir::testing::message_of;
using coir::testing::on_host;
using coir::testing::world;

/// A View's rows first to first + count - 1.
template <class V>
auto rows_of(V const& view, std::int64_t first, std::int64_t count) {
  auto const range = std::pair<std::int64_t, std::int64_t>(first, first + count);
  if constexpr (V::rank == 2)
    return Kokkos::subview(view, range, Kokkos::ALL);
  else
    return Kokkos::subview(view, range, Kokkos::ALL, Kokkos::ALL);
}

template <class V>
V new_like(V const& view, std::int64_t rows) {
  if constexpr (V::rank == 2)
    return V("part", rows, view.extent(1));
  else
    return V("part", rows, view.extent(1), view.extent(2));
}

/// A whole problem on every rank, and this rank's rows of it. The other rows of its part of u are
/// 77, which no rank may use.
template <class Exec, class T, int Rank>
struct Problem {
  Grid<Exec, T, Rank> b, u, own_b, own_u;
  std::int64_t first, count;

  Problem(std::int64_t rows, std::int64_t columns, coir::distributed::Share const& own)
      : first(own.first), count(own.count) {
    if constexpr (Rank == 2) {
      b = Grid<Exec, T, 2>("b", rows, columns);
      u = Grid<Exec, T, 2>("u", rows + 2, columns + 2);
    } else {
      b = Grid<Exec, T, 3>("b", rows, columns, 6);
      u = Grid<Exec, T, 3>("u", rows + 2, columns + 2, 8);
    }
    coir::testing::fill_random(b, 1);
    coir::testing::fill_random(u, 2);
    own_b = new_like(b, count);
    own_u = new_like(u, count + 2);
    Kokkos::deep_copy(own_u, T(77));
    copy_part(rows_of(b, first, count), own_b);
    bool const is_first = first == 0, is_last = first + count == rows;
    std::int64_t const from = is_first ? 0 : 1, to = count + (is_last ? 2 : 1);
    copy_part(rows_of(u, first + from, to - from), rows_of(own_u, from, to - from));
  }
  Problem(std::int64_t rows, std::int64_t columns)
      : Problem(rows, columns, coir::distributed::share_of(rows, world().rank(), world().size())) {}

  /// How many cells of this rank's rows, and of those beside them, differ from one rank's.
  std::size_t wrong() const {
    auto const expected = new_like(u, count + 2);
    copy_part(rows_of(u, first, count + 2), expected);
    return differing(own_u, expected);
  }

 private:
  template <class A, class B>
  static void copy_part(A const& from, B const& to) {
    coir::copy_strided<Exec, T, Rank>(Exec(), coir::strided(typename A::const_type(from)),
                                      coir::strided(to));
    Exec().fence();
  }
};

COIR_RANKS_SUITE(SolversOverRanks);

template <class Exec, class T, int Rank>
void jacobi_has_the_same_bits(JacobiScheme scheme, int sweeps_per_exchange, std::int64_t sweeps) {
  Problem<Exec, T, Rank> const problem(43, Rank == 2 ? 13 : 5);
  JacobiOptions const options{.scheme = scheme, .sweeps = sweeps};
  auto const expected = jacobi(Exec(), problem.b, problem.u, options);
  auto const result =
      jacobi(Exec(), world(), problem.own_b, problem.own_u, options, sweeps_per_exchange);
  EXPECT_EQ(problem.wrong(), 0u) << sweeps_per_exchange << " sweeps of " << sweeps;
  EXPECT_EQ(result.scheme, expected.scheme);
  EXPECT_EQ(result.iterations, expected.iterations);
  EXPECT_NEAR(result.relative_residual, expected.relative_residual,
              1e-12 * expected.relative_residual);
}

TYPED_TEST(SolversOverRanks, PlainJacobiHasTheSameBits) {
  TYPES_OF_CASE;
  for (int at_once : {0, 1, 2, 5}) {
    jacobi_has_the_same_bits<Exec, T, 2>(JacobiScheme::plain, at_once, 23);
    jacobi_has_the_same_bits<Exec, T, 3>(JacobiScheme::plain, at_once, 12);
  }
}

TYPED_TEST(SolversOverRanks, BlockedJacobiHasTheSameBits) {
  TYPES_OF_CASE;
  for (int at_once : {0, 1, 4, 5})
    jacobi_has_the_same_bits<Exec, T, 2>(JacobiScheme::blocked, at_once, 23);
  jacobi_has_the_same_bits<Exec, T, 2>(JacobiScheme::automatic, 0, 0);
}

TYPED_TEST(SolversOverRanks, RedBlackHasTheSameBits) {
  TYPES_OF_CASE;
  auto const compare = [&]<int Rank>(std::integral_constant<int, Rank>, int at_once) {
    Problem<Exec, T, Rank> const problem(43, Rank == 2 ? 13 : 5);
    RedBlackOptions const options{.sweeps = 7};
    auto const expected = red_black(Exec(), problem.b, problem.u, options);
    auto const result = red_black(Exec(), world(), problem.own_b, problem.own_u, options, at_once);
    EXPECT_EQ(problem.wrong(), 0u) << at_once << " sweeps between exchanges";
    EXPECT_NEAR(result.residual_norm, expected.residual_norm, 1e-12 * expected.residual_norm);
  };
  for (int at_once : {0, 1, 2}) {
    compare(std::integral_constant<int, 2>(), at_once);
    compare(std::integral_constant<int, 3>(), at_once);
  }
}

TYPED_TEST(SolversOverRanks, StopAtAToleranceTogether) {
  TYPES_OF_CASE;
  Problem<Exec, T, 2> const problem(29, 21);
  RedBlackOptions const options{.sweeps = 4000, .tolerance = 1e-4, .check_every = 5};
  auto const expected = red_black(Exec(), problem.b, problem.u, options);
  auto const result = red_black(Exec(), world(), problem.own_b, problem.own_u, options);
  EXPECT_EQ(problem.wrong(), 0u);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.iterations, expected.iterations);
}

/// Solves by multigrid over ranks, and alone.
template <class Exec, class T, int Rank>
void multigrid_converges(std::int64_t rows, std::int64_t columns,
                         coir::poisson::MultigridOptions const& options) {
  Problem<Exec, T, Rank> const problem(rows, columns);
  auto const alone = multigrid(Exec(), problem.b, problem.u, options);
  auto const result = multigrid(Exec(), world(), problem.own_b, problem.own_u, options);
  EXPECT_TRUE(result.converged) << rows << " rows, residual " << result.relative_residual;
  EXPECT_LE(result.iterations, alone.iterations + 1) << rows;
  // Both are within their residual of the solution, times the norm of L's inverse.
  double largest = 0;
  auto const own = on_host(problem.own_u), all = on_host(problem.u);
  std::size_t const row = own.size() / own.extent(0);
  for (std::size_t n = 0; n < own.size(); ++n)
    largest = std::max(
        largest, std::abs(double(own.data()[n]) -
                          double(all.data()[n + static_cast<std::size_t>(problem.first) * row])));
  double const inverse = double(columns + 1) * double(columns + 1) / 9.8;
  double const of_residuals = alone.residual_norm + result.residual_norm;
  double const rounding = 10 * double(std::numeric_limits<T>::epsilon()) * inverse * 300;
  EXPECT_LE(largest, inverse * of_residuals + rounding) << rows;
}

TYPED_TEST(SolversOverRanks, MultigridSolvesWhatOneRankSolves) {
  TYPES_OF_CASE;
  double const tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10;
  for (std::int64_t rows : {40, 233, 256, 301})
    multigrid_converges<Exec, T, 2>(rows, 130, {.tolerance = tolerance});
  multigrid_converges<Exec, T, 3>(241, 37, {.tolerance = tolerance});
  multigrid_converges<Exec, T, 2>(250, 131,
                                  {.tolerance = tolerance, .pre_sweeps = 2, .post_sweeps = 0});
  multigrid_converges<Exec, T, 2>(
      250, 131, {.tolerance = tolerance, .smoother = coir::poisson::Smoother::jacobi});
}

using Exec = Kokkos::DefaultExecutionSpace;

// Parts of any size: the last rank has half of the rows, or all that are left.
TEST(SolversOverRanksInDouble, TakePartsOfAnySize) {
  int const rank = world().rank(), ranks = world().size();
  std::int64_t const few = 5, rows = 64;
  coir::distributed::Share const own{few * rank, rank + 1 == ranks ? rows - few * rank : few};
  Problem<Exec, double, 2> const problem(rows, 9, own);
  red_black(Exec(), problem.b, problem.u, {.sweeps = 5});
  red_black(Exec(), world(), problem.own_b, problem.own_u, {.sweeps = 5});
  EXPECT_EQ(problem.wrong(), 0u);
}

// Column-major parts are swept as row-major ones.
TEST(SolversOverRanksInDouble, TakeViewsOfAnyLayout) {
  Problem<Exec, double, 2> const problem(43, 13);
  using Left = Kokkos::View<double**, Kokkos::LayoutLeft, Exec::memory_space>;
  Left const b("b", problem.own_b.extent(0), 13), u("u", problem.own_u.extent(0), 15);
  Kokkos::deep_copy(b, problem.own_b);
  Kokkos::deep_copy(u, problem.own_u);
  jacobi(Exec(), problem.b, problem.u, {.sweeps = 11});
  jacobi(Exec(), world(), b, u, {.sweeps = 11});
  Kokkos::deep_copy(problem.own_u, u);
  EXPECT_EQ(problem.wrong(), 0u);
}

// One exchange brings b's halos, then one a block, and one before the residual.
TEST(SolversOverRanksInDouble, SendOneMessageToANeighbourForAllSweepsOfABlock) {
  Problem<Exec, double, 2> const problem(64, 9);
  auto const before = world().traffic("distributed/halos");
  jacobi(Exec(), world(), problem.own_b, problem.own_u,
         {.scheme = JacobiScheme::blocked, .sweeps = 20}, 4);
  auto const sent = world().traffic("distributed/halos");
  int const rank = world().rank(), neighbours = (rank > 0) + (rank + 1 < world().size());
  EXPECT_EQ(sent.messages - before.messages, neighbours * (1 + 5 + 1));
  EXPECT_EQ(sent.bytes - before.bytes, neighbours * 8 * (3 * 9 + 6 * 4 * 11));
}

// Memory of another rank takes a millisecond to open. A solver of another scheme may take other
// memory.
TEST(SolversOverRanksInDouble, OpenNoMemoryTwice) {
  Problem<Exec, double, 2> const problem(64, 9);
  auto const opens_none_again = [](auto const& solve) {
    solve();
    auto const opened = coir::distributed::memory_opened();
    solve();
    EXPECT_EQ(coir::distributed::memory_opened(), opened);
  };
  for (auto const scheme : {JacobiScheme::plain, JacobiScheme::blocked})
    opens_none_again([&] {
      jacobi(Exec(), world(), problem.own_b, problem.own_u, {.scheme = scheme, .sweeps = 5});
    });
  opens_none_again(
      [&] { red_black(Exec(), world(), problem.own_b, problem.own_u, {.sweeps = 5}); });
}

TEST(SolversOverRanksInDouble, AskTheMonitorsOfAllRanks) {
  Problem<Exec, double, 2> const problem(64, 9);
  bool const is_last = world().rank() + 1 == world().size();
  int asked = 0;
  auto const monitor = [&](coir::poisson::Progress const&) { return ++asked < 2 || !is_last; };
  auto const result = red_black(Exec(), world(), problem.own_b, problem.own_u,
                                {.sweeps = 1'000'000, .monitor = monitor});
  EXPECT_EQ(result.stopped_by, coir::poisson::StoppedBy::interrupted);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(world().max(result.iterations), world().min(result.iterations));
}

// The first rank solves grids alone that are too small to share.
TEST(SolversOverRanksInDouble, AskTheMonitorsOfAllRanksWhereTheFirstOneSolves) {
  bool const is_last = world().rank() + 1 == world().size();
  for (std::int64_t const rows : {41, 257}) {
    Problem<Exec, double, 2> const problem(rows, 67);
    for (int const last_one : {1, 2}) {
      int asked = 0;
      auto const result = multigrid(
          Exec(), world(), problem.own_b, problem.own_u,
          {.max_cycles = 30, .tolerance = 1e-300, .monitor = [&](coir::poisson::Progress const&) {
             return ++asked < last_one || !is_last;
           }});
      EXPECT_EQ(result.stopped_by, coir::poisson::StoppedBy::interrupted) << rows << " rows";
      EXPECT_EQ(asked, last_one) << rows << " rows";
    }
  }
}

TEST(SolversOverRanksInDouble, ThrowOnAllRanksWhatAMonitorThrowsOnOne) {
  for (int const who : {0, world().size() - 1}) {
    auto const monitor = [&](coir::poisson::Progress const&) {
      if (world().rank() == who) throw coir::NumericalError("enough");
      return true;
    };
    for (std::int64_t const rows : {41, 257}) {
      Problem<Exec, double, 2> const problem(rows, 67);
      auto const& b = problem.own_b;
      auto const& u = problem.own_u;
      EXPECT_EQ(message_of<coir::NumericalError>(
                    [&] { multigrid(Exec(), world(), b, u, {.monitor = monitor}); }),
                "enough");
      EXPECT_EQ(message_of<coir::NumericalError>([&] {
                  red_black(Exec(), world(), b, u, {.sweeps = 1'000'000, .monitor = monitor});
                }),
                "enough");
    }
  }
}

TEST(SolversOverRanksInDouble, NameBadInputOnEveryRank) {
  Problem<Exec, double, 2> const problem(64, 9);
  auto const& b = problem.own_b;
  auto const& u = problem.own_u;
  auto const jacobi_with = [&](JacobiOptions const& options, int at_once) {
    return message_of([&] { jacobi(Exec(), world(), b, u, options, at_once); });
  };
  EXPECT_EQ(jacobi_with({.sweeps = -1}, 0), "the number of sweeps must not be negative, not -1");
  EXPECT_EQ(jacobi_with({}, -2),
            "sweeps_per_exchange must be 1 or more, or 0 for a suitable number, not -2");
  EXPECT_EQ(message_of([&] { red_black(Exec(), world(), b, u, {.omega = 2}); }),
            "omega must lie in (0, 2), or be 0 for the best, not 2");
  if (world().size() == 1) {
    red_black(Exec(), world(), b, u, {.sweeps = 3}, 1 << 30);
    return;
  }
  EXPECT_NE(jacobi_with({}, 60).find("use fewer ranks"), std::string::npos);
  EXPECT_NE(message_of([&] {
              red_black(Exec(), world(), b, u, {}, 1 << 30);
            }).find("smaller, or use fewer ranks, not 1073741824"),
            std::string::npos);
  bool const is_last = world().rank() + 1 == world().size();
  EXPECT_NE(jacobi_with({.sweeps = is_last ? 3 : 4}, 0).find("sweeps"), std::string::npos);
  using Part = Grid<Exec, double, 2>;
  Part const wrong("u", u.extent(0) + (is_last ? 1 : 0), u.extent(1));
  EXPECT_NE(message_of([&] { jacobi(Exec(), world(), b, wrong); }).find("u"), std::string::npos);
  Part const narrow_b("b", 8, is_last ? 9 : 8), narrow_u("u", 10, is_last ? 11 : 10);
  EXPECT_NE(message_of([&] { jacobi(Exec(), world(), narrow_b, narrow_u); }).find("columns"),
            std::string::npos);
}

}  // namespace
