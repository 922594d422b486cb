// Exchanges of Views of any layout, and what is made of them: broadcasts, gathers, grids, halos.

#include <coir/core/loops.hpp>
#include <coir/distributed/cartesian.hpp>
#include <coir/distributed/collectives.hpp>
#include <coir/distributed/halos.hpp>
#include <coir/distributed/reductions.hpp>
#include <coir/distributed/view_exchange.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using coir::distributed::Cartesian;
using coir::distributed::Halos;
using coir::distributed::ViewExchange;
using coir::testing::message_of;
using coir::testing::world;

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

template <class T, class Layout>
using Cube = Kokkos::View<T***, Layout, Memory>;
template <class T, class Layout = Kokkos::LayoutRight>
using Matrix = Kokkos::View<T**, Layout, Memory>;

/// Sets the elements of a View of two or three axes to f(i, j) or f(i, j, k).
template <class V, class F>
void set(V const& view, F const& f) {
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < view.extent(0); ++i)
    for (std::size_t j = 0; j < view.extent(1); ++j) {
      if constexpr (V::rank == 2)
        host(i, j) = f(static_cast<int>(i), static_cast<int>(j));
      else
        for (std::size_t k = 0; k < view.extent(2); ++k)
          host(i, j, k) = f(static_cast<int>(i), static_cast<int>(j), static_cast<int>(k));
    }
  Kokkos::deep_copy(view, host);
}

template <class V>
auto on_host(V const& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

int other(int step) { return (world().rank() + step + world().size()) % world().size(); }

// Each rank sends every rank, itself too, a plane across memory and a row without gaps.
TEST(ViewExchange, MovesViewsOfAnyLayoutInOneMessageForEachRank) {
  int const rank = world().rank(), ranks = world().size();
  Cube<std::int16_t, Kokkos::LayoutRight> const sent("sent", 3, ranks, 5);
  Cube<std::int16_t, Kokkos::LayoutLeft> const came("came", 3, 5, ranks);
  set(sent, [&](int i, int j, int k) {
    return static_cast<std::int16_t>(1000 * rank + 100 * i + 10 * j + k);
  });
  Matrix<double> const rows("rows", ranks, 7), rows_came("rows_came", ranks, 7);
  set(rows, [&](int i, int j) { return 100.0 * rank + 10 * i + j / 8.0; });
  auto const before = world().traffic("test/views").messages;
  ViewExchange exchange(Exec(), world(), "test/views");
  for (int run = 0; run < 2; ++run) {
    Kokkos::deep_copy(came, std::int16_t(-1));
    Kokkos::deep_copy(rows_came, -1.0);
    for (int r = 0; r < ranks; ++r) {
      exchange.send(r, Kokkos::subview(rows, r, Kokkos::ALL), 7);
      exchange.send(r, Kokkos::subview(sent, Kokkos::ALL, r, Kokkos::ALL), 5);
      exchange.receive(r, Kokkos::subview(came, Kokkos::ALL, Kokkos::ALL, r), 5);
      exchange.receive(r, Kokkos::subview(rows_came, r, Kokkos::ALL), 7);
    }
    exchange.run();
    auto const planes = on_host(came);
    auto const numbers = on_host(rows_came);
    for (int r = 0; r < ranks; ++r) {
      for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 5; ++k)
          ASSERT_EQ(planes(i, k, r), 1000 * r + 100 * i + 10 * rank + k) << run;
      for (int j = 0; j < 7; ++j) ASSERT_EQ(numbers(r, j), 100.0 * r + 10 * rank + j / 8.0) << run;
    }
  }
  EXPECT_EQ(world().traffic("test/views").messages - before, 2 * (ranks - 1));
}

// A View with gaps at one end may be one without gaps at the other. On two ranks both neighbours
// are one.
TEST(ViewExchange, MatchesByKeysAndNotByOrder) {
  int const up = other(1), down = other(-1);
  Matrix<float> const sent("sent", 3, 3), came("came", 2, 3);
  set(sent, [&](int, int j) { return static_cast<float>(10 * world().rank() + j); });
  ViewExchange exchange(Exec(), world(), "test/keys");
  exchange.send(up, Kokkos::subview(sent, Kokkos::ALL, 2), 1);
  exchange.send(down, Kokkos::subview(sent, Kokkos::ALL, 0), 0);
  exchange.receive(up, Kokkos::subview(came, 0, Kokkos::ALL), 0);
  exchange.receive(down, Kokkos::subview(came, 1, Kokkos::ALL), 1);
  exchange.run();
  auto const numbers = on_host(came);
  EXPECT_EQ(numbers(0, 1), static_cast<float>(10 * up));
  EXPECT_EQ(numbers(1, 2), static_cast<float>(10 * down + 2));
}

TEST(ViewExchange, RefusesEqualKeysAndWhatDoesNotMatch) {
  int const self = world().rank();
  Matrix<float> const view("view", 3, 3);
  auto const row = Kokkos::subview(view, 0, Kokkos::ALL);
  EXPECT_EQ(message_of([&] {
              ViewExchange exchange(Exec(), world(), "test/refused");
              exchange.send(self, row, 4);
              exchange.send(self, row, 4);
              exchange.begin();
            }),
            "Views between the same two ranks must have different keys, not 4");
  EXPECT_EQ(message_of([&] {
              ViewExchange exchange(Exec(), world(), "test/refused");
              exchange.send(self, row, 4);
              exchange.receive(self, row, 5);
              exchange.begin();
            }),
            "what a rank sends to itself must be received by it, key by key");
  EXPECT_EQ(message_of([&] { ViewExchange(Exec(), world(), "test/refused").finish(); }),
            "an exchange of Views is begun before it is finished");
}

TEST(ViewExchange, AddsUpViewsWithGaps) {
  Cube<std::int64_t, Kokkos::LayoutLeft> const whole("whole", 4, 3, 2);
  set(whole, [&](int i, int j, int k) { return world().rank() + 100 * i + 10 * j + k; });
  auto const part = Kokkos::subview(whole, std::pair(1, 3), Kokkos::ALL, 1);
  std::int64_t const ranks = world().size();
  auto const sum = on_host(coir::distributed::sum(part, world()));
  auto const most = on_host(coir::distributed::max(part, world()));
  coir::distributed::min_in_place(Exec(), part, world());
  auto const host = on_host(whole);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 3; ++j) {
      std::int64_t const first = 100 * i + 10 * j + 1;
      if (i == 1 || i == 2) {
        EXPECT_EQ(sum(i - 1, j), ranks * first + ranks * (ranks - 1) / 2);
        EXPECT_EQ(most(i - 1, j), first + ranks - 1);
      }
      EXPECT_EQ(host(i, j, 1), i == 1 || i == 2 ? first : first + world().rank());
      EXPECT_EQ(host(i, j, 0), first - 1 + world().rank());
    }
}

TEST(ViewExchange, TakesSingleNumbers) {
  Kokkos::View<float, Memory> const one("one");
  Kokkos::deep_copy(one, static_cast<float>(1 + world().rank()));
  auto const ranks = static_cast<float>(world().size());
  EXPECT_EQ(on_host(coir::distributed::sum(one, world()))(), ranks * (ranks + 1) / 2);
  EXPECT_EQ(on_host(coir::distributed::gather(one, world()))(world().size() - 1), ranks);
  coir::distributed::max_in_place(Exec(), one, world());
  EXPECT_EQ(on_host(one)(), ranks);
}

TEST(ViewExchange, BroadcastsAndGathers) {
  int const last = world().size() - 1;
  Cube<double, Kokkos::LayoutRight> const cube("cube", 2, 3, 4);
  set(cube, [&](int i, int j, int k) { return 1000.0 * world().rank() + 100 * i + 10 * j + k; });
  auto const part = Kokkos::subview(cube, Kokkos::ALL, std::pair(0, 2), 3);
  auto const all = on_host(coir::distributed::gather(part, world()));
  static_assert(decltype(all)::rank == 3);
  for (int r = 0; r <= last; ++r)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) EXPECT_EQ(all(r, i, j), 1000.0 * r + 100 * i + 10 * j + 3);
  coir::distributed::broadcast(part, world(), last);
  auto const host = on_host(cube);
  EXPECT_EQ(host(1, 1, 3), 1000.0 * last + 113);
  EXPECT_EQ(host(1, 2, 3), 1000.0 * world().rank() + 123);
  std::string const after = std::to_string(last + 1);
  EXPECT_EQ(message_of([&] { coir::distributed::broadcast(part, world(), last + 1); }),
            "a broadcast must come from a rank of the group, not " + after);
  if (last == 0) return;
  Matrix<float> const uneven("uneven", world().rank() == 0 ? 1 : 2, 3);
  for (auto const& [message, what] :
       {std::pair(message_of([&] { coir::distributed::broadcast(uneven, world()); }), "broadcast"),
        std::pair(message_of([&] { coir::distributed::gather(uneven, world()); }), "gathered")})
    EXPECT_EQ(message.substr(0, message.find(':')),
              std::string("all ranks must be given the same shape of what is ") + what);
}

TEST(Group, SplitsByColourAndOrder) {
  int const rank = world().rank(), ranks = world().size();
  auto const half = world().split(rank % 2, -rank);
  std::vector<int> expected;
  for (int r = ranks; r-- > 0;)
    if (r % 2 == rank % 2) expected.push_back(r);
  EXPECT_EQ(half.gather(rank), expected);
}

TEST(Cartesian, IsAsSquareAsTheGroupAllows) {
  std::vector<std::array<int, 2>> const squares{{1, 1}, {2, 1}, {3, 1}, {2, 2},
                                                {5, 1}, {3, 2}, {7, 1}, {4, 2}};
  int const ranks = world().size();
  Cartesian<2> const grid(world(), {}, {true, false});
  EXPECT_EQ(grid.ranks(), squares[static_cast<std::size_t>(ranks - 1)]);
  auto const [rows, columns] = grid.ranks();
  auto const [row, column] = grid.place();
  EXPECT_EQ(world().rank(), row * columns + column);
  EXPECT_EQ(grid.neighbour(0, 1), (row + 1) % rows * columns + column);
  EXPECT_EQ(grid.neighbour(1, 1), column + 1 < columns ? world().rank() + 1 : -1);
  auto const line = grid.along(0);
  EXPECT_EQ(line.size(), rows);
  EXPECT_EQ(line.rank(), row);
  EXPECT_EQ(line.gather(column), std::vector<int>(static_cast<std::size_t>(rows), column));
}

TEST(Cartesian, RefusesOtherNumbersOfRanks) {
  std::string const ranks = std::to_string(world().size());
  EXPECT_EQ(message_of([&] { Cartesian<2>(world(), {4, 3}); }),
            "a grid of 4 x 3 ranks doesn't fit a group of " + ranks +
                ": the product must be the group's ranks, and 0 leaves a number open");
  EXPECT_EQ(message_of([&] { Cartesian<2>(world(), {7, 0}); }).substr(0, 40),
            "a grid of 7 x 0 ranks doesn't fit a grou");
}

// Two fields of other types, layouts and axes; corners count, and what lies beyond a wall stays.
TEST(Halos, AreThoseOfTheWholeFieldInOneMessageForEachNeighbour) {
  constexpr int n = 12, m = 14, width_x = 2, width_y = 1;
  Cartesian<2> const grid(world(), {}, {true, false});
  auto const x = grid.share(0, n), y = grid.share(1, m);
  auto const value = [](int i, int j) { return 100.0 * ((i + n) % n) + j; };
  auto const is_own = [&](int i, int j) {
    return i >= width_x && i < width_x + x.count && j >= width_y && j < width_y + y.count;
  };
  int const x0 = static_cast<int>(x.first) - width_x, y0 = static_cast<int>(y.first) - width_y;
  Matrix<double> const a("a", x.count + 2 * width_x, y.count + 2 * width_y);
  set(a, [&](int i, int j) { return is_own(i, j) ? value(x0 + i, y0 + j) : -1; });
  Cube<std::int32_t, Kokkos::LayoutLeft> const b("b", x.count + 2 * width_x, y.count + 2 * width_y,
                                                 2);
  set(b, [&](int i, int j, int k) {
    return is_own(i, j) ? static_cast<std::int32_t>(2 * value(x0 + i, y0 + j)) + k : -1;
  });
  auto const before = world().traffic("distributed/halos").messages;
  Halos halos(Exec(), grid, {width_x, width_y});
  halos.fill(a, b);
  auto const a_h = on_host(a);
  auto const b_h = on_host(b);
  for (int i = 0; i < x.count + 2 * width_x; ++i)
    for (int j = 0; j < y.count + 2 * width_y; ++j) {
      bool const is_beyond = y0 + j < 0 || y0 + j >= m;
      double const expected = is_beyond ? -1 : value(x0 + i, y0 + j);
      EXPECT_EQ(a_h(i, j), expected) << i << " " << j;
      EXPECT_EQ(b_h(i, j, 1), is_beyond ? -1 : 2 * expected + 1) << i << " " << j;
    }
  std::set<int> neighbours;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j) neighbours.insert(grid.neighbour({i, j}));
  neighbours.erase(-1);
  neighbours.erase(world().rank());
  EXPECT_EQ(world().traffic("distributed/halos").messages - before,
            static_cast<std::int64_t>(neighbours.size()));
}

TEST(Halos, HaveOtherLayersBeyondEdgesThatAreNotPeriodic) {
  Cartesian<1> const grid(world());
  auto const own = grid.share(0, 5 * world().size());
  int const width = 2, edge = 1, before = grid.neighbour(0, -1) >= 0 ? width : edge,
            behind = grid.neighbour(0, 1) >= 0 ? width : edge, count = static_cast<int>(own.count);
  Matrix<double> const field("field", before + count + behind, 3);
  auto const value = [&](int i, int j) { return 10.0 * double(own.first + i - before) + j; };
  auto const is_own = [&](int i) { return i >= before && i < before + count; };
  set(field, [&](int i, int j) { return is_own(i) ? value(i, j) : -1; });
  Halos halos(Exec(), grid, {width}, {0}, {edge});
  halos.fill(field);
  auto const found = on_host(field);
  for (int i = 0; i < before + count + behind; ++i) {
    bool const is_beyond = value(i, 0) < 0 || value(i, 0) >= 50.0 * world().size();
    for (int j = 0; j < 3; ++j) EXPECT_EQ(found(i, j), is_beyond ? -1 : value(i, j)) << i;
  }
  EXPECT_EQ(message_of([&] { Halos(Exec(), grid, {1}, {0}, {-1}); }),
            "a field must have 0 layers or more beyond an edge, not -1");
}

TEST(Halos, RefuseFieldsThatAreSmallerThanTheyAre) {
  Halos halos(Exec(), Cartesian<1>(world(), {}, {true}), {3}, {1});
  Matrix<float> const small("small", 4, world().rank() == 0 ? 8 : 9);
  EXPECT_EQ(message_of([&] { halos.fill(small); }),
            "a halo of 3 layers needs a field of 9 elements or more along axis 1 on each rank, "
            "halo included: use fewer ranks, not 8");
  Kokkos::View<float*, Memory> const line("line", 20);
  Halos other_halos(Exec(), Cartesian<1>(world(), {}, {true}), {3}, {1});
  EXPECT_EQ(message_of([&] { other_halos.fill(line); }),
            "a halo must lie along an axis of the field, which has 1, not 1");
  EXPECT_EQ(message_of([&] { Halos(Exec(), Cartesian<1>(world()), {-1}); }),
            "a halo must have 0 layers or more, not -1");
  EXPECT_EQ(message_of([&] { Halos(Exec(), Cartesian<2>(world()), {1, 1}, {1, 1}); }),
            "a halo must have each axis once, not 1");
}

struct Jacobi {
  Matrix<double> u, v;
  KOKKOS_FUNCTION void operator()(int i, int j) const {
    v(i, j) = 0.25 * ((u(i - 1, j) + u(i + 1, j)) + (u(i, j - 1) + u(i, j + 1)));
  }
};

/// The sum of squares, in whole numbers, of a field after a few sweeps.
std::vector<double> jacobi(coir::distributed::Group const& group) {
  constexpr int n = 13;
  Cartesian<1> const grid(group, {}, {true});
  auto const x = grid.share(0, n);
  int const rows = static_cast<int>(x.count);
  Matrix<double> u("u", rows + 2, n + 2), v("v", rows + 2, n + 2);
  set(u, [&](int i, int j) { return static_cast<double>((7 * (i + x.first) + 3 * j) % 11); });
  Halos halos(Exec(), grid, {1});
  for (int sweep = 0; sweep < 5; ++sweep, std::swap(u, v)) {
    halos.fill(u);
    coir::for_each("test/jacobi", Exec(), coir::box({1, 1}, {rows + 1, n + 1}), Jacobi{u, v});
  }
  auto const host = on_host(u);
  std::vector<double> own;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= n; ++j) own.push_back(host(i, j));
  return group.gather_all(std::span<double const>(own));
}

TEST(Halos, MakeAStencilEqualInBitsToOneRank) {
  EXPECT_EQ(jacobi(world()), jacobi(coir::distributed::Group::self()));
}

}  // namespace
