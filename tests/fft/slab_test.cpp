// Transforms over ranks beside those of the whole field on one.

#include <coir/core/loops.hpp>
#include <coir/distributed/connections.hpp>
#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>
#include <coir/fft/slab.hpp>

#include <support/cut_at.hpp>
#include <support/held_memory.hpp>
#include <support/layouts.hpp>
#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using coir::Shape;
using coir::distributed::Share;
using coir::fft::Effort;
using coir::fft::RankGrid;
using coir::testing::CutAt;
using coir::testing::world;

template <class Exec, class T>
using Spectrum =
    Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec, class T>
Spectrum<Exec, T> allocate(Shape<3> const& extents) {
  return Spectrum<Exec, T>("test", static_cast<std::size_t>(extents[0]),
                           static_cast<std::size_t>(extents[1]),
                           static_cast<std::size_t>(extents[2]));
}

/// Numbers of a whole field in rows of complex numbers, the same on every rank; what no transform
/// reads is 0.
template <class T>
std::vector<std::complex<T>> whole_field(Shape<3> const& shape, std::int64_t row, bool real) {
  std::mt19937 random(7);
  std::vector<std::complex<T>> numbers(static_cast<std::size_t>(shape[0] * shape[1] * row));
  std::uniform_real_distribution<double> uniform(-1, 1);
  auto* const reals = reinterpret_cast<T*>(numbers.data());
  for (std::int64_t line = 0; line < shape[0] * shape[1]; ++line)
    for (std::int64_t k = 0; k < (real ? shape[2] : 2 * row); ++k)
      reals[2 * line * row + k] = static_cast<T>(uniform(random));
  return numbers;
}

/// What a View holds, and a View that holds it.
template <class V>
auto numbers_of(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  using T = typename V::value_type::value_type;
  auto const* const first = reinterpret_cast<std::complex<T> const*>(host.data());
  return std::vector<std::complex<T>>(first, first + host.size());
}
template <class V, class T>
void fill(V const& view, std::complex<T> const* numbers) {
  auto const host = Kokkos::create_mirror_view(view);
  if (host.size() > 0)
    std::memcpy(static_cast<void*>(host.data()), numbers, host.size() * sizeof(*numbers));
  Kokkos::deep_copy(view, host);
}

/// Alike for opposite modes, so that the product is the spectrum of a real field, too.
template <class T>
struct Damp {
  Shape<3> n;
  KOKKOS_FUNCTION T operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    auto const size = [](std::int64_t at, std::int64_t extent) {
      return 2 * at <= extent ? at : extent - at;
    };
    return T(1) / static_cast<T>(1 + size(i, n[0]) + 2 * size(j, n[1]) + 3 * size(k, n[2]));
  }
};

/// Compares this rank's part with the whole: in bits, which pencils don't have, on hosts.
template <class Exec, class T>
void expect_part(std::vector<std::complex<T>> const& part,
                 std::vector<std::complex<T>> const& expected, std::string const& what,
                 bool in_bits = true) {
  ASSERT_EQ(part.size(), expected.size()) << what;
  if (coir::runs_on_host<Exec> && in_bits) {
    auto const* const here = reinterpret_cast<T const*>(part.data());
    auto const* const there = reinterpret_cast<T const*>(expected.data());
    for (std::size_t n = 0; n < 2 * part.size(); ++n)
      ASSERT_TRUE(here[n] == there[n] && std::signbit(here[n]) == std::signbit(there[n]))
          << what << ", number " << n << ": " << here[n] << " and " << there[n];
    return;
  }
  double largest = 0, difference = 0;
  for (std::size_t n = 0; n < part.size(); ++n) {
    largest = std::max(largest, static_cast<double>(std::abs(expected[n])));
    difference = std::max(difference, static_cast<double>(std::abs(part[n] - expected[n])));
  }
  // 4e-7 in float for each of two transforms, and as many roundings in double.
  EXPECT_LE(difference, 7 * std::numeric_limits<T>::epsilon() * largest) << what;
}

/// The part of a whole field or spectrum that a rank has.
template <class T>
std::vector<std::complex<T>> part_of(std::vector<std::complex<T>> const& whole,
                                     Shape<3> const& extents, Share along_x, Share along_y,
                                     Share along_z) {
  std::vector<std::complex<T>> part;
  for (std::int64_t i = along_x.first; i < along_x.end(); ++i)
    for (std::int64_t j = along_y.first; j < along_y.end(); ++j) {
      auto const row = whole.begin() + (i * extents[1] + j) * extents[2];
      part.insert(part.end(), row + along_z.first, row + along_z.end());
    }
  return part;
}

template <class Exec, class T, bool OfReal>
auto plan_of_whole(Shape<3> const& shape) {
  coir::fft::PlanOptions const options{
      .in_place = true, .effort = Effort::estimate, .by_planes = true};
  if constexpr (OfReal)
    return coir::fft::RealPlan<Exec, T, 3>(Exec(), shape, 1, options);
  else
    return coir::fft::ComplexPlan<Exec, T, 3>(Exec(), shape, 1, options);
}

template <class Exec, class T, bool OfReal>
void compare(Shape<3> const& shape, RankGrid const& grid = {}) {
  using coir::fft::real_view_of;
  std::string const name = std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" +
                           std::to_string(shape[2]) + (OfReal ? " real" : " complex") +
                           (grid.rows > 1 ? " in " + std::to_string(grid.rows) + " rows" : "");
  bool const in_bits = grid.rows == 1;
  coir::fft::Slab<Exec, T, OfReal> const slab(Exec(), world(), shape, {.effort = Effort::estimate},
                                              grid);
  std::int64_t const row = slab.field_extents()[2];
  Shape<3> const extents{shape[0], shape[1], row};
  auto const numbers = whole_field<T>(shape, row, OfReal);
  auto const whole = allocate<Exec, T>(extents);
  auto const plan = plan_of_whole<Exec, T, OfReal>(shape);
  auto const on_whole = [&](bool forward) {
    auto const other = [&] {
      if constexpr (OfReal)
        return real_view_of(whole, shape[2]);
      else
        return whole;
    }();
    if (forward)
      plan.forward(other, whole);
    else
      plan.backward(whole, other);
  };
  fill(whole, numbers.data());
  on_whole(true);
  auto const spectrum_of_whole = numbers_of(whole);

  auto const field = allocate<Exec, T>(slab.field_extents()),
             spectrum = allocate<Exec, T>(slab.spectrum_extents());
  auto const field_of = [&](std::vector<std::complex<T>> const& all) {
    return part_of(all, extents, slab.planes(), slab.field_rows(), {0, row});
  };
  fill(field, field_of(numbers).data());
  slab.forward(field, spectrum);
  expect_part<Exec>(numbers_of(spectrum),
                    part_of(spectrum_of_whole, extents, {0, shape[0]}, slab.rows(), slab.modes()),
                    name + " forward", in_bits);

  // What lies beyond a row's real numbers means nothing.
  auto const meaningful = [&](std::vector<std::complex<T>> all) {
    auto* const reals = reinterpret_cast<T*>(all.data());
    if (OfReal)
      for (std::size_t line = 0; line < all.size() / static_cast<std::size_t>(row); ++line)
        for (std::int64_t k = shape[2]; k < 2 * row; ++k)
          reals[2 * static_cast<std::int64_t>(line) * row + k] = 0;
    return all;
  };
  slab.backward(spectrum, field);
  on_whole(false);
  // One rank computes as the plan does. Otherwise, without the same bits, both are off, each in its
  // way, and what both are to be is known: the field they began with, times its size.
  bool const alike = (coir::runs_on_host<Exec> && in_bits) || world().size() == 1;
  auto expected = alike ? numbers_of(whole) : numbers;
  if (!alike)
    for (auto& number : expected) number *= static_cast<T>(coir::size_of(shape));
  expect_part<Exec>(meaningful(numbers_of(field)), meaningful(field_of(expected)),
                    name + " backward", in_bits);

  if (world().size() == 1) {
    fill(field, numbers.data());
    slab.forward(field, field);
    expect_part<Exec>(numbers_of(field), spectrum_of_whole, name + " forward in place", in_bits);
    slab.backward(field, field);
    expect_part<Exec>(meaningful(numbers_of(field)), meaningful(expected),
                      name + " backward in place", in_bits);
  }

  if constexpr (OfReal) {
    fill(whole, numbers.data());
    plan.filter(real_view_of(whole, shape[2]), whole, Damp<T>{shape});
    auto const expects_filtered = [&](auto const& workspace, std::string const& what) {
      fill(field, field_of(numbers).data());
      slab.filter(field, workspace, Damp<T>{shape});
      expect_part<Exec>(meaningful(numbers_of(field)), meaningful(field_of(numbers_of(whole))),
                        name + what, in_bits);
    };
    expects_filtered(spectrum, " filter");
    if (world().size() == 1) expects_filtered(field, " filter in place");
  }
}

COIR_RANKS_SUITE(Slab);

// Extents that don't divide, primes, fewer planes than ranks, planes that fit a cache and others,
// several chunks of them.
TYPED_TEST(Slab, EqualsThePlanOfTheWholeField) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (Shape<3> const shape : {Shape<3>{1, 1, 1},
                               {2, 3, 4},
                               {3, 2, 5},
                               {8, 8, 8},
                               {16, 16, 16},
                               {13, 11, 7},
                               {32, 32, 32},
                               {5, 1, 9},
                               {1, 6, 4},
                               {21, 256, 130},
                               {6, 400, 330}})
    compare<Exec, T, true>(shape);
  // Planes by rows and columns. With more ranks it takes long.
  if (world().size() <= 3) compare<Exec, T, true>({2, 1050, 1024});
}

TYPED_TEST(Slab, EqualsThePlanOfTheWholeComplexField) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (Shape<3> const shape : {Shape<3>{1, 1, 1}, {3, 2, 5}, {16, 16, 16}, {13, 11, 7}})
    compare<Exec, T, false>(shape);
}

TYPED_TEST(Slab, MovesNoByteMoreThanItMust) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  std::int64_t const ranks = world().size(), n = 2 * ranks;
  coir::fft::RealSlab<Exec, T> const slab(Exec(), world(), {n, n, n});
  auto const field = allocate<Exec, T>(slab.field_extents()),
             spectrum = allocate<Exec, T>(slab.spectrum_extents());
  auto const sent = [&](auto const& call) {
    std::int64_t const before = world().traffic("fft/transpose").bytes;
    call();
    return world().traffic("fft/transpose").bytes - before;
  };
  std::int64_t const whole = n * n * (n / 2 + 1) * 2 * static_cast<std::int64_t>(sizeof(T));
  std::int64_t const once = whole / (ranks * ranks) * (ranks - 1);
  EXPECT_EQ(sent([&] { slab.forward(field, spectrum); }), once);
  EXPECT_EQ(sent([&] { slab.backward(spectrum, field); }), once);
  EXPECT_EQ(sent([&] { slab.filter(field, spectrum, Damp<T>{{n, n, n}}); }), 2 * once);
}

/// All grids of several rows of the ranks.
std::vector<RankGrid> grids_of_pencils(int ranks) {
  std::vector<RankGrid> grids;
  for (int rows = 2; rows <= ranks; ++rows)
    if (ranks % rows == 0) grids.push_back({rows, ranks / rows});
  return grids;
}

// Fewer planes, rows or modes than ranks of the grid, parts that are larger in the middle than in
// the field or the spectrum, and smaller.
TYPED_TEST(Slab, ByPencilsEqualsThePlanOfTheWholeField) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (auto const& grid : grids_of_pencils(world().size())) {
    for (Shape<3> const shape : {Shape<3>{1, 1, 1},
                                 {2, 3, 4},
                                 {3, 2, 5},
                                 {8, 8, 14},
                                 {13, 11, 7},
                                 {5, 1, 9},
                                 {1, 6, 4},
                                 {6, 5, 1},
                                 {21, 40, 130}}) {
      compare<Exec, T, true>(shape, grid);
      compare<Exec, T, false>(shape, grid);
    }
    CutAt const piece(1024);
    compare<Exec, T, true>({32, 32, 30}, grid);
  }
}

/// The spectrum of a field, of numbers that every rank has, over the ranks of a group: all of it on
/// each of them.
template <class Exec, class T, bool OfReal>
std::vector<std::complex<T>> whole_spectrum(coir::distributed::Group const& group,
                                            Shape<3> const& shape, RankGrid const& grid) {
  coir::fft::Slab<Exec, T, OfReal> const slab(Exec(), group, shape, {.effort = Effort::estimate},
                                              grid);
  std::int64_t const row = slab.field_extents()[2];
  Shape<3> const extents{shape[0], shape[1], row};
  auto const field = allocate<Exec, T>(slab.field_extents()),
             spectrum = allocate<Exec, T>(slab.spectrum_extents());
  auto const numbers = whole_field<T>(shape, row, OfReal);
  fill(field, part_of(numbers, extents, slab.planes(), slab.field_rows(), {0, row}).data());
  slab.forward(field, spectrum);
  auto const mine = numbers_of(spectrum);
  auto const all = group.gather_all(std::span<std::complex<T> const>(mine));
  auto const rows = group.gather(slab.rows()), modes = group.gather(slab.modes());
  std::vector<std::complex<T>> whole(numbers.size());
  auto from = all.begin();
  for (std::size_t rank = 0; rank < rows.size(); ++rank)
    for (std::int64_t i = 0; i < shape[0]; ++i)
      for (std::int64_t j = rows[rank].first; j < rows[rank].end(); ++j) {
        auto const to = whole.begin() + (i * shape[1] + j) * row + modes[rank].first;
        std::copy(from, from + modes[rank].count, to);
        from += modes[rank].count;
      }
  return whole;
}

/// A pair of ranks, or a single one, beside every grid of all ranks.
template <class Exec, class T, bool OfReal>
void compare_grids(coir::distributed::Group const& pair, Shape<3> const& shape) {
  auto expected = whole_spectrum<Exec, T, OfReal>(pair, shape, {.rows = pair.size()});
  world().broadcast(expected.data(),
                    static_cast<std::int64_t>(expected.size() * sizeof(expected[0])));
  for (auto const& grid : grids_of_pencils(world().size()))
    expect_part<Exec>(whole_spectrum<Exec, T, OfReal>(world(), shape, grid), expected,
                      std::to_string(grid.rows) + " rows");
}

TYPED_TEST(Slab, ByPencilsHasTheSameBitsForAnyGrid) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  if (world().size() == 1) return;
  auto const pair =
      world().split(world().rank() / 2);  // once: by NCCL a group takes long to connect
  for (Shape<3> const shape : {Shape<3>{6, 10, 12}, {13, 11, 7}, {9, 21, 65}, {5, 7, 16}}) {
    compare_grids<Exec, T, true>(pair, shape);
    compare_grids<Exec, T, false>(pair, shape);
  }
}

TYPED_TEST(Slab, ByPencilsMovesNoByteMoreThanItMust) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  std::int64_t const ranks = world().size();
  for (auto const& grid : grids_of_pencils(world().size())) {
    // Each axis divides by rows and by columns, the last one's modes too.
    std::int64_t const n = 2 * ranks, modes = 2 * ranks;
    coir::fft::RealSlab<Exec, T> const slab(Exec(), world(), {n, n, 2 * (modes - 1)}, {}, grid);
    auto const field = allocate<Exec, T>(slab.field_extents()),
               spectrum = allocate<Exec, T>(slab.spectrum_extents());
    auto const sent = [&](auto const& call) {
      auto const before = world().traffic("fft/transpose");
      call();
      auto const after = world().traffic("fft/transpose");
      return std::pair(after.messages - before.messages, after.bytes - before.bytes);
    };
    std::int64_t const part = n * n * modes * 2 * static_cast<std::int64_t>(sizeof(T)) / ranks;
    std::int64_t const messages = grid.rows - 1 + grid.columns - 1,
                       bytes = part / grid.rows * (grid.rows - 1) +
                               part / grid.columns * (grid.columns - 1);
    EXPECT_EQ(sent([&] { slab.forward(field, spectrum); }), std::pair(messages, bytes));
    EXPECT_EQ(sent([&] { slab.backward(spectrum, field); }), std::pair(messages, bytes));
    EXPECT_EQ(sent([&] { slab.filter(field, spectrum, Damp<T>{{n, n, n}}); }),
              std::pair(2 * messages, 2 * bytes));
  }
}

// Where extents divide, the field and the spectrum are all that pencils work in, and with one mode
// more than divides a rank holds as much as one of them. Devices' libraries take memory of their
// own. Rows and columns of a grid exchange by the group of all ranks. By NCCL each group of their
// own would take half a second to connect.
TYPED_TEST(Slab, ByPencilsOpensNoConnectionForAPlan) {
  using Exec = typename TypeParam::Exec;
  static_cast<void>(world().transport<Exec>());
  auto const before = coir::distributed::connections_opened();
  for (auto const& grid : grids_of_pencils(world().size()))
    compare<Exec, typename TypeParam::Real, true>({8, 8, 14}, grid);
  EXPECT_EQ(coir::distributed::connections_opened(), before);
}

TYPED_TEST(Slab, ByPencilsHoldsAFieldWhereExtentsDoNotDivide) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  if (!coir::runs_on_host<Exec>) return;
  std::int64_t const n = 8 * world().size();
  for (auto const& grid : grids_of_pencils(world().size())) {
    auto const held_by = [&](std::int64_t modes) {
      coir::testing::HeldMemory const held;
      coir::fft::ComplexSlab<Exec, T> const slab(Exec(), world(), {n, n, modes}, {}, grid);
      auto const [planes, rows, row] = slab.field_extents();
      return std::pair(held.peak(), planes * rows * row * 2 * static_cast<std::int64_t>(sizeof(T)));
    };
    auto const [held, field] = held_by(n);
    EXPECT_LT(held, field) << grid.rows << " rows";
    auto const [more_held, larger_field] = held_by(n + 1);
    EXPECT_GT(more_held, larger_field) << grid.rows << " rows";
    EXPECT_LT(more_held, 2 * larger_field) << grid.rows << " rows";
  }
}

// More ranks than planes have a part: none is without a field, and none without modes.
TYPED_TEST(Slab, ByPencilsSharesOutMoreThanPlanes) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  for (auto const& grid : grids_of_pencils(world().size())) {
    std::int64_t const columns = grid.columns, rows = grid.rows;
    coir::fft::ComplexSlab<Exec, T> const slab(Exec(), world(), {columns, rows * columns, rows}, {},
                                               grid);
    EXPECT_EQ(slab.field_extents(), (Shape<3>{1, columns, rows}));
    EXPECT_EQ(slab.spectrum_extents(), (Shape<3>{columns, rows, 1}));
    EXPECT_EQ(slab.planes().first, world().rank() % columns);
    EXPECT_EQ(slab.field_rows().first, world().rank() / columns * columns);
    EXPECT_EQ(slab.rows().first, world().rank() % columns * rows);
    EXPECT_EQ(slab.modes().first, world().rank() / columns);
  }
}

TYPED_TEST(Slab, RefusesGridsThatAreNotOfAllRanks) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  int const ranks = world().size();
  auto const message = [](RankGrid const& grid) {
    return coir::testing::message_of(
        [&] { coir::fft::RealSlab<Exec, T>(Exec(), world(), {4, 4, 4}, {}, grid); });
  };
  auto const expected = [&](int rows, int columns) {
    return "a grid of " + std::to_string(rows) + " x " + std::to_string(columns) +
           " ranks can't share out " + std::to_string(ranks) +
           ": the product of its rows and columns must be the number of ranks";
  };
  EXPECT_EQ(message({ranks, 2}), expected(ranks, 2));
  EXPECT_EQ(message({ranks + 1, 0}), expected(ranks + 1, 0));
  EXPECT_EQ(message({0, ranks}), expected(0, ranks));
  EXPECT_EQ(message({-1, -ranks}), expected(-1, -ranks));
  EXPECT_EQ(message({1 << 16, 1 << 16}), expected(1 << 16, 1 << 16));
  if (ranks == 1) return;
  EXPECT_EQ(message({world().rank() == ranks - 1 ? ranks : 1, 0}),
            "all ranks must be given the same rows of a grid of ranks: it is 1 on rank 0 and " +
                std::to_string(ranks) + " on rank " + std::to_string(ranks - 1));
}

// Two of one shape share plans, those of the other precision don't; each has a field of its own.
TYPED_TEST(Slab, WorksBesideAnotherOne) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using Other = std::conditional_t<std::is_same_v<T, float>, double, float>;
  Shape<3> const shape{9, 10, 12};
  coir::fft::PlanOptions const options{.effort = Effort::estimate};
  coir::fft::RealSlab<Exec, T> const first(Exec(), world(), shape, options);
  auto const second =
      std::make_unique<coir::fft::RealSlab<Exec, T>>(Exec(), world(), shape, options);
  coir::fft::RealSlab<Exec, Other> const third(Exec(), world(), shape, options);
  Shape<3> const extents = first.field_extents(), of_rows = first.spectrum_extents();
  auto const numbers = whole_field<T>(shape, extents[2], true);
  auto const mine = numbers.data() + first.planes().first * shape[1] * extents[2];
  auto const a = allocate<Exec, T>(extents), b = allocate<Exec, T>(extents),
             modes_a = allocate<Exec, T>(of_rows), modes_b = allocate<Exec, T>(of_rows);
  auto const c = allocate<Exec, Other>(extents), modes_c = allocate<Exec, Other>(of_rows);
  fill(a, mine);
  fill(b, mine);
  first.forward(a, modes_a);
  third.forward(c, modes_c);
  second->forward(b, modes_b);
  expect_part<Exec>(numbers_of(modes_b), numbers_of(modes_a), "of another slab");
  auto const copy = *second;
  first.backward(modes_a, a);
  copy.backward(modes_b, b);
  expect_part<Exec>(numbers_of(b), numbers_of(a), "of a copy");
}

// What is wrong on one rank is told on all.
TYPED_TEST(Slab, RefusesOtherShapesOnOtherRanks) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  if (world().size() == 1) return;
  Shape<3> const shape{4, 4, world().rank() == 1 ? 6 : 4};
  EXPECT_EQ(
      coir::testing::message_of([&] { coir::fft::RealSlab<Exec, T>(Exec(), world(), shape); }),
      "all ranks must transform a field of the same extents, not (4, 4, 4) and (4, 4, 6)");
}

TYPED_TEST(Slab, RefusesViewsThatDoNotFit) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  std::int64_t const n = 2 * world().size();
  coir::fft::RealSlab<Exec, T> const slab(Exec(), world(), {n, n, 4});
  auto const field = allocate<Exec, T>(slab.field_extents()),
             spectrum = allocate<Exec, T>(slab.spectrum_extents());
  auto const wrong = world().rank() == world().size() - 1
                         ? allocate<Exec, T>({slab.planes().count + 1, n, 3})
                         : field;
  EXPECT_EQ(coir::testing::message_of([&] { slab.forward(wrong, spectrum); }),
            "the field of this rank must have extent 2 along axis 0, not 3");
  if (world().size() > 1)
    EXPECT_EQ(
        coir::testing::message_of([&] { slab.backward(field, field); }),
        "the spectrum of this rank must have extent " + std::to_string(n) + " along axis 0, not 2");
}

// On one rank they may be the same, but not one a part of the other.
TYPED_TEST(Slab, RefusesMemoryThatOverlaps) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  std::int64_t const n = world().size();
  coir::fft::RealSlab<Exec, T> const slab(Exec(), world(), {n, n, 4});
  auto const memory = allocate<Exec, T>({n + 1, n, 3});
  auto const from = [&](std::int64_t first, Shape<3> const& extents) {
    return typename coir::fft::RealSlab<Exec, T>::Block(
        memory.data() + first, static_cast<std::size_t>(extents[0]),
        static_cast<std::size_t>(extents[1]), static_cast<std::size_t>(extents[2]));
  };
  auto const field = from(0, slab.field_extents()), spectrum = from(1, slab.spectrum_extents());
  for (bool forward : {true, false})
    EXPECT_EQ(coir::testing::message_of([&] {
                forward ? slab.forward(field, spectrum) : slab.backward(spectrum, field);
              }),
              "a field over ranks and its spectrum need memory of their own: they overlap");
}

// Strides tell whether a View of LayoutStride lies as LayoutRight does.
TYPED_TEST(Slab, TakesViewsOfLayoutStrideInCOrderAlone) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  using Space = typename Exec::memory_space;
  using Strided = Kokkos::View<Kokkos::complex<T>***, Kokkos::LayoutStride, Space>;
  using coir::testing::Laid;
  Shape<3> const shape{7, 5, 9};
  coir::fft::ComplexSlab<Exec, T> const slab(Exec(), world(), shape, {.effort = Effort::estimate});
  auto const numbers =
      part_of(whole_field<T>(shape, 9, false), shape, slab.planes(), slab.field_rows(), {0, 9});
  auto const field = allocate<Exec, T>(slab.field_extents()),
             spectrum = allocate<Exec, T>(slab.spectrum_extents()),
             other_field = allocate<Exec, T>(slab.field_extents()),
             other_spectrum = allocate<Exec, T>(slab.spectrum_extents());
  Strided const strided_field(other_field), strided_spectrum(other_spectrum);
  fill(field, numbers.data());
  fill(other_field, numbers.data());
  slab.forward(field, spectrum);
  slab.forward(strided_field, strided_spectrum);
  EXPECT_EQ(numbers_of(other_spectrum), numbers_of(spectrum));
  slab.backward(spectrum, field);
  slab.backward(strided_spectrum, strided_field);
  EXPECT_EQ(numbers_of(other_field), numbers_of(field));

  auto const message = [&](auto const& wrong, auto const& other) {
    std::string const both = coir::testing::message_of([&] { slab.forward(wrong, other); });
    EXPECT_EQ(coir::testing::message_of([&] { slab.backward(other, wrong); }), both);
    return both;
  };
  std::string const refusal =
      " of a rank must lie in C order without gaps: copy it to a View of LayoutRight first";
  auto const with_gaps =
      coir::testing::allocate<Laid::with_gaps, Kokkos::complex<T>, Space>(slab.field_extents());
  EXPECT_EQ(message(with_gaps, spectrum), "the field" + refusal);
  auto const turned =
      coir::testing::allocate<Laid::turned, Kokkos::complex<T>, Space>(slab.spectrum_extents());
  EXPECT_EQ(message(field, turned), "the spectrum" + refusal);
  EXPECT_EQ(coir::testing::message_of([&] { slab.filter(field, turned, Damp<T>{shape}); }),
            "the spectrum" + refusal);
}

TYPED_TEST(Slab, RefusesEmptyFields) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  EXPECT_EQ(
      coir::testing::message_of([&] { coir::fft::RealSlab<Exec, T>(Exec(), world(), {4, 0, 4}); }),
      "extents of a transform must be at least 1, not 0");
}

}  // namespace
