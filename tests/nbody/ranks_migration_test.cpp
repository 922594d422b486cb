// Particles that change their rank.

#include <coir/distributed/share.hpp>
#include <coir/nbody/detail/particle_migration.hpp>

#include <support/ranks.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace {

using coir::distributed::share_of;
using coir::testing::world;

constexpr double box = 32;

/// Where a test puts the particle of a site, the same on every rank.
using Place = std::function<double(std::int64_t site, int axis)>;

template <class Exec, class T>
class Scene {
 public:
  using Particles = coir::nbody::Particles<Exec, T>;

  Scene(std::int64_t side, std::int64_t mesh_side, double headroom)
      : side_(side),
        mesh_side_(mesh_side),
        migration_(Exec(), world(), side, box, mesh_side, headroom) {
    auto const planes = share_of(side, world().rank(), world().size());
    particles_.side = side;
    particles_.box = box;
    particles_.sites = {planes.first * side * side, planes.count * side * side};
    auto const count = static_cast<std::size_t>(particles_.count());
    particles_.position = typename Particles::Vectors("position", count);
    particles_.momentum = typename Particles::Vectors("momentum", count);
    migration_.leave_home(particles_, state_);
  }

  /// Puts each particle where it belongs now, and sends all to their planes.
  void move(Place const& place) {
    edit([&](std::int64_t site, T* x, T* p) {
      for (int d = 0; d < 3; ++d) {
        x[d] = static_cast<T>(place(site, d));
        p[d] = momentum_of(site, d);
      }
    });
    migration_.to_planes(particles_, state_);
    expect_in_planes(place);
  }

  void go_home(Place const& place) {
    migration_.go_home(particles_, state_);
    auto const planes = share_of(side_, world().rank(), world().size());
    ASSERT_EQ(particles_.sites, (coir::distributed::Share{planes.first * side_ * side_,
                                                          planes.count * side_ * side_}));
    EXPECT_EQ(particles_.site.size(), 0);
    auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles_.position),
               p = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles_.momentum);
    for (std::int64_t n = 0; n < particles_.count(); ++n)
      for (int d = 0; d < 3; ++d) {
        ASSERT_EQ(x(n, d), static_cast<T>(place(particles_.sites.first + n, d)));
        ASSERT_EQ(p(n, d), momentum_of(particles_.sites.first + n, d));
      }
  }

  Particles const& particles() const { return particles_; }

 private:
  static T momentum_of(std::int64_t site, int d) { return static_cast<T>(3 * site + d); }

  template <class Edit>
  void edit(Edit const& what) {
    auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles_.position),
               p = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles_.momentum);
    auto const site = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles_.site);
    for (std::int64_t n = 0; n < particles_.count(); ++n)
      what(site(static_cast<std::size_t>(n)), x.data() + 3 * n, p.data() + 3 * n);
    Kokkos::deep_copy(particles_.position, x);
    Kokkos::deep_copy(particles_.momentum, p);
  }

  void expect_in_planes(Place const& place) {
    auto const planes = share_of(mesh_side_, world().rank(), world().size());
    std::vector<std::int64_t> sites;
    edit([&](std::int64_t site, T* x, T* p) {
      sites.push_back(site);
      auto const plane = static_cast<std::int64_t>(x[0] * static_cast<T>(mesh_side_ / box));
      ASSERT_TRUE(plane >= planes.first && plane < planes.end()) << x[0];
      for (int d = 0; d < 3; ++d) {
        ASSERT_EQ(x[d], static_cast<T>(place(site, d)));
        ASSERT_EQ(p[d], momentum_of(site, d));
      }
    });
    auto all = world().gather_all(std::span<std::int64_t const>(sites));
    std::sort(all.begin(), all.end());
    ASSERT_EQ(static_cast<std::int64_t>(all.size()), side_ * side_ * side_);
    for (std::size_t n = 0; n < all.size(); ++n) ASSERT_EQ(all[n], static_cast<std::int64_t>(n));
  }

  std::int64_t side_, mesh_side_;
  coir::nbody::detail::ParticleMigration<Exec, T> migration_;
  Particles particles_;
  coir::nbody::detail::ParticleState state_;
};

/// A number in [0, box) that looks random, a multiple of 1/64.
double scattered(std::int64_t site, int axis, int round) {
  auto const bits = static_cast<std::uint64_t>(site * 3 + axis + 1000003 * round) *
                    std::uint64_t(0x9e3779b97f4a7c15);
  return static_cast<double>((bits >> 40) % static_cast<std::uint64_t>(64 * box)) / 64;
}

template <class Case>
class RanksMigration : public ::testing::Test {};
TYPED_TEST_SUITE(RanksMigration, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(RanksMigration, BringsParticlesToTheirPlanesHoweverFar) {
  for (auto const& [side, mesh_side] :
       {std::pair<std::int64_t, std::int64_t>{8, 8}, {5, 16}, {1, 2}}) {
    Scene<typename TypeParam::Exec, typename TypeParam::Real> scene(side, mesh_side, 0.05);
    Place last;
    for (int round = 0; round < 4; ++round) {
      last = [round](std::int64_t site, int axis) { return scattered(site, axis, round); };
      scene.move(last);
    }
    scene.go_home(last);
  }
}

// A few at a time, so that holes are filled by those who come, and by those who stay.
TYPED_TEST(RanksMigration, FillsTheHolesOfThoseWhoLeft) {
  std::int64_t const side = 8;
  Scene<typename TypeParam::Exec, typename TypeParam::Real> scene(side, 16, 0.05);
  Place last;
  for (int round = 0; round < 6; ++round) {
    last = [=](std::int64_t site, int axis) {
      double const home = static_cast<double>(site / (side * side)) * box / side;
      if (axis > 0) return scattered(site, axis, 0);
      return site % 7 == round % 7 ? scattered(site, 0, round) : home;
    };
    scene.move(last);
  }
  scene.go_home(last);
}

TYPED_TEST(RanksMigration, GathersAllInOneRanksPlanesAndSendsThemHome) {
  Scene<typename TypeParam::Exec, typename TypeParam::Real> scene(7, 8, 0);
  Place const all_at = [](std::int64_t, int) { return box - 1; };
  scene.move(all_at);
  EXPECT_EQ(scene.particles().count(),
            world().rank() == coir::distributed::owner_of(7, 8, world().size()) ? 343 : 0);
  scene.go_home(all_at);
}

// A few more on one rank at each step: memory grows by an eighth or more at a time, not at every step.
TYPED_TEST(RanksMigration, GrowsMemoryFewTimes) {
  constexpr int rounds = 32;
  Scene<typename TypeParam::Exec, typename TypeParam::Real> scene(8, 8, 0);
  auto const places = [&] { return static_cast<double>(scene.particles().position.extent(0)); };
  double const before = places();
  int grown = 0;
  for (int round = 1; round <= rounds; ++round) {
    double const last = places();
    scene.move([=](std::int64_t site, int axis) {
      if (axis > 0) return 1.0;
      return site % (2 * rounds) < round ? box - 1 : static_cast<double>(site / 64) * 4;
    });
    if (places() > last) ++grown;
  }
  EXPECT_LE(grown, std::ceil(std::log(places() / before) / std::log(1.125)));
  if (world().size() == 2 && world().rank() == 1) EXPECT_GT(grown, 0);
}

TYPED_TEST(RanksMigration, SendsNothingWhereAllAreInPlace) {
  Scene<typename TypeParam::Exec, typename TypeParam::Real> scene(8, 8, 0.05);
  Place const home = [](std::int64_t site, int axis) {
    return axis == 0 ? static_cast<double>(site / 64) * 4 : 1.0;
  };
  auto const before = world().traffic("nbody/migration");
  scene.move(home);
  EXPECT_EQ(world().traffic("nbody/migration"), before);
  scene.go_home(home);
}

}  // namespace
