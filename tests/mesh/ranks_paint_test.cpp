#include <coir/mesh/paint.hpp>

#include <mesh/plain_mesh.hpp>
#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

using coir::mesh::Assignment;
using coir::mesh::GhostPlanes;
using coir::mesh::PaintOptions;
using coir::testing::Extents;
using coir::testing::world;
using Points = std::vector<std::array<double, 3>>;

template <class T>
class RanksPaint : public ::testing::Test {};
TYPED_TEST_SUITE(RanksPaint, coir::testing::Spaces, );

constexpr double box = 10;

/// Numbers of those whose plane this rank owns, or owned before they went `astray` planes up or
/// down.
template <class T>
std::vector<std::size_t> of_this_rank(Points const& all, std::int64_t planes, int astray) {
  std::vector<std::size_t> mine;
  auto const share = coir::distributed::share_of(planes, world().rank(), world().size());
  for (std::size_t p = 0; p < all.size(); ++p) {
    // As painting maps it: the last plane at or before the position.
    auto const per_cell = static_cast<T>(coir::mesh::inverse_spacing(planes, box));
    auto const plane = static_cast<std::int64_t>(std::floor(static_cast<T>(all[p][0]) * per_cell));
    std::int64_t const went =
        astray == 0 ? 0 : static_cast<std::int64_t>(p) % (2 * astray + 1) - astray;
    std::int64_t const at = ((plane + went) % planes + planes) % planes;
    if (at >= share.first && at < share.end()) mine.push_back(p);
  }
  return mine;
}

Points chosen(Points const& all, std::vector<std::size_t> const& numbers) {
  Points some;
  for (auto const p : numbers) some.push_back(all[p]);
  return some;
}

/// All particles are in the slab of one rank.
Points in_one_slab(std::int64_t count) {
  auto points = coir::testing::scattered(count, box, 3);
  for (auto& x : points) x[0] = static_cast<float>(0.21 * box + 0.002 * x[0]);
  return points;
}

template <class Exec, class T>
void compare(Extents const& n, Points const& all, PaintOptions const& options, int astray) {
  std::string const what = std::string(name_of(options.assignment)) + ", " + std::to_string(n[0]) +
                           " planes, astray by " + std::to_string(astray);
  auto const whole = coir::testing::new_mesh<Exec, T>(n);
  coir::mesh::paint(Exec(), coir::testing::to_view<Exec, T>(all), box, whole, options);
  auto const expected = coir::testing::elements(whole);

  GhostPlanes<Exec> ghosts(world(), n[0], touched_beyond(options.assignment, astray));
  // A row more, so that there are gaps between planes.
  Kokkos::View<T***, Kokkos::LayoutRight, typename Exec::memory_space> const memory(
      "held", static_cast<std::size_t>(ghosts.held()), static_cast<std::size_t>(n[1] + 1),
      static_cast<std::size_t>(n[2] + 2));
  auto const held = Kokkos::subview(
      memory, Kokkos::ALL, Kokkos::make_pair(std::size_t(0), static_cast<std::size_t>(n[1])),
      Kokkos::make_pair(std::size_t(0), static_cast<std::size_t>(n[2])));
  Kokkos::deep_copy(memory, T(7));
  auto const mine = chosen(all, of_this_rank<T>(all, n[0], astray));
  coir::mesh::paint(Exec(), ghosts, coir::testing::to_view<Exec, T>(mine), box, held, options);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
  for (std::int64_t i = 0; i < ghosts.own().count; ++i)
    for (std::int64_t j = 0; j < n[1]; ++j) {
      T const* const here = &host(ghosts.widths().below + i, j, 0);
      T const* const there = expected.data() + ((ghosts.own().first + i) * n[1] + j) * n[2];
      if (options.deterministic)
        ASSERT_EQ(std::memcmp(here, there, static_cast<std::size_t>(n[2]) * sizeof(T)), 0) << what;
      else
        for (std::int64_t k = 0; k < n[2]; ++k)
          ASSERT_NEAR(here[k], there[k],
                      (sizeof(T) == 4 ? 2e-6 : 4e-15) * (1 + std::abs(there[k])) * 8)
              << what;
    }
}

/// A number for each particle: the first component of a vector.
template <class Exec, class T>
auto first_components(Points const& vectors) {
  coir::testing::NumbersOf<Exec, T> const view("values", vectors.size());
  auto const host = Kokkos::create_mirror_view(view);
  for (std::size_t p = 0; p < vectors.size(); ++p) host(p) = static_cast<T>(vectors[p][0]);
  Kokkos::deep_copy(view, host);
  return view;
}

template <int Components, class Exec, class T>
void compare_values(Extents const& n, Points const& all, PaintOptions const& options, int astray) {
  std::string const what = std::string(name_of(options.assignment)) + ", " +
                           std::to_string(Components) + " components, " + std::to_string(n[0]) +
                           " planes, astray by " + std::to_string(astray);
  auto const values_of = [](Points const& vectors) {
    if constexpr (Components == 3)
      return coir::testing::to_view<Exec, T>(vectors);
    else
      return first_components<Exec, T>(vectors);
  };
  auto const mesh_of = [](Extents const& extents) {
    if constexpr (Components == 3)
      return coir::testing::new_mesh_of_vectors<Exec, T>(extents);
    else
      return coir::testing::new_mesh<Exec, T>(extents);
  };
  Points const vectors = coir::testing::scattered(static_cast<std::int64_t>(all.size()), 1, 9);
  auto const whole = mesh_of(n);
  coir::mesh::paint(Exec(), coir::testing::to_view<Exec, T>(all), values_of(vectors), box, whole,
                    options);
  auto const expected = coir::testing::elements(whole);

  GhostPlanes<Exec> ghosts(world(), n[0], touched_beyond(options.assignment, astray));
  auto const held = mesh_of({ghosts.held(), n[1], n[2]});
  auto const mine = of_this_rank<T>(all, n[0], astray);
  coir::mesh::paint(Exec(), ghosts, coir::testing::to_view<Exec, T>(chosen(all, mine)),
                    values_of(chosen(vectors, mine)), box, held, options);
  auto const found = coir::testing::elements(held);
  std::int64_t const plane = n[1] * n[2] * Components;
  double const most = static_cast<double>(all.size()) / static_cast<double>(n[0] * n[1] * n[2]);
  double const tolerance = (sizeof(T) == 4 ? 2e-6 : 4e-15) * 8 * (1 + most);  // as for masses of 1
  for (std::int64_t c = 0; c < ghosts.own().count * plane; ++c)
    ASSERT_NEAR(found[static_cast<std::size_t>(ghosts.widths().below * plane + c)],
                expected[static_cast<std::size_t>(ghosts.own().first * plane + c)], tolerance)
        << what << ", number " << c;
}

TYPED_TEST(RanksPaint, GivesWhatOneRankGivesOfValues) {
  using Exec = TypeParam;
  auto const all = coir::testing::scattered(2000, box, 4);
  PaintOptions options;
  for (Extents const& n : {Extents{13, 4, 7}, Extents{2, 3, 4}})
    for (Assignment const assignment : coir::testing::assignments) {
      options.assignment = assignment;
      compare_values<1, Exec, float>(n, all, options, 1);
      compare_values<3, Exec, double>(n, all, options, 0);
    }
  if constexpr (coir::runs_on_host<Exec>) {
    options.scheme = coir::mesh::PaintScheme::private_meshes;
    compare_values<3, Exec, float>({13, 4, 7}, all, options, 2);
  }
}

// What is wrong on one rank is told on all.
TYPED_TEST(RanksPaint, RefusesValuesThatDoNotFit) {
  using Exec = TypeParam;
  GhostPlanes<Exec> ghosts(world(), 8, touched_beyond(Assignment::cic));
  auto const held = coir::testing::new_mesh<Exec, double>({ghosts.held(), 4, 4});
  auto const none = coir::testing::to_view<Exec, double>({});
  coir::testing::NumbersOf<Exec, double> const values("values",
                                                      world().rank() == world().size() - 1 ? 2 : 0);
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>(
                [&] { coir::mesh::paint(Exec(), ghosts, none, values, box, held); }),
            "values must be 0, one for each particle, not 2");
  PaintOptions options;
  options.deterministic = true;
  auto const no_values = first_components<Exec, double>({});
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>(
                [&] { coir::mesh::paint(Exec(), ghosts, none, no_values, box, held, options); }),
            "deterministic painting is for masses of 1: leave the values out, or the option");
}

TYPED_TEST(RanksPaint, GivesWhatOneRankGives) {
  using Exec = TypeParam;
  auto const all = coir::testing::scattered(3000, box, 1);
  for (Extents const& n :
       {Extents{16, 5, 6}, Extents{13, 4, 7}, Extents{5, 6, 3}, Extents{2, 3, 4}})
    for (Assignment const assignment : coir::testing::assignments)
      for (bool const deterministic : {false, true}) {
        PaintOptions options;
        options.assignment = assignment;
        options.deterministic = deterministic;
        compare<Exec, float>(n, all, options, 0);
        compare<Exec, double>(n, all, options, n[0] % 3);
      }
}

TYPED_TEST(RanksPaint, KnowsOtherSchemes) {
  using Exec = TypeParam;
  PaintOptions options;
  options.scheme = coir::runs_on_host<Exec> ? coir::mesh::PaintScheme::private_meshes
                                            : coir::mesh::PaintScheme::tiles;
  options.deterministic = true;
  auto const all = coir::testing::scattered(5000, box, 2);
  for (Assignment const assignment : coir::testing::assignments) {
    options.assignment = assignment;
    compare<Exec, float>({16, 8, 8}, all, options, 1);
  }
}

TYPED_TEST(RanksPaint, TakesAllParticlesInOneSlab) {
  using Exec = TypeParam;
  PaintOptions options;
  options.deterministic = true;
  // 40000 in few cells: more than 8192 in one, so that all ranks must cut masses into fewer parts.
  compare<Exec, float>({8, 1, 2}, in_one_slab(40000), options, 0);
}

TYPED_TEST(RanksPaint, RefusesParticlesBeyond) {
  using Exec = TypeParam;
  if (world().size() < 2 || world().size() > 4) return;
  GhostPlanes<Exec> ghosts(world(), 16, touched_beyond(Assignment::cic));
  auto const held = coir::testing::new_mesh<Exec, double>(Extents{ghosts.held(), 4, 4});
  // Only the first rank has one, in the middle of the last one's slab.
  Points points;
  if (world().rank() == 0) points.push_back({box * 15 / 16, 1, 1});
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>([&] {
              coir::mesh::paint(Exec(), ghosts, coir::testing::to_view<Exec, double>(points), box,
                                held);
            }),
            "particles of a rank must touch none but its planes and ghosts, and 1 touch others: "
            "bring them to their ranks first, or hold more ghosts");
  PaintOptions options;
  options.deterministic = world().rank() == 0;
  EXPECT_EQ(coir::testing::message_of<coir::PreconditionError>([&] {
              coir::mesh::paint(Exec(), ghosts, coir::testing::to_view<Exec, double>({}), box, held,
                                options);
            }),
            "all ranks must be given the same choice to be deterministic: it is on on rank 0 and "
            "off on rank 1");
}

}  // namespace
