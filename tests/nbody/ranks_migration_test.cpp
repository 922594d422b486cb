// How much particles that change their rank send, and how their memory grows. That each comes to
// its plane and home again is seen in the bits of ranks_simulation_test.cpp.

#include <coir/core/errors.hpp>
#include <coir/distributed/share.hpp>
#include <coir/nbody/detail/particle_migration.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace {

using coir::testing::world;

constexpr double box = 32;
constexpr std::int64_t side = 16;

/// side^3 particles on this rank's planes of a mesh of as many cells, with no places for others.
template <class Exec, class T>
class Scene {
 public:
  Scene() : migration_(Exec(), world(), side, box, side, 0) {
    using Particles = coir::nbody::Particles<Exec, T>;
    auto const planes = coir::distributed::share_of(side, world().rank(), world().size());
    particles_.side = side;
    particles_.box = box;
    particles_.sites = {planes.first * side * side, planes.count * side * side};
    auto const count = static_cast<std::size_t>(particles_.count());
    particles_.position = typename Particles::Vectors("position", count);
    particles_.momentum = typename Particles::Vectors("momentum", count);
    migration_.leave_home(particles_, state_);
  }

  /// Puts each particle where it belongs now, x(site) along the first axis, and sends all to their
  /// planes.
  template <class X>
  void move(X const& x, coir::nbody::detail::Crossings<Exec, T>* crossings = nullptr) {
    auto const position =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles_.position);
    auto const site = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles_.site);
    for (std::int64_t n = 0; n < particles_.count(); ++n)
      position(n, 0) = static_cast<T>(x(site(static_cast<std::size_t>(n))));
    Kokkos::deep_copy(particles_.position, position);
    migration_.to_planes(particles_, state_, crossings);
  }

  std::int64_t particles() const { return particles_.count(); }

  /// Gives a rank's first particle the site of another rank, as if it had overwritten that one's
  /// memory, and sends all home.
  void come_home_with_a_false_site(int rank) {
    if (world().rank() == rank && particles_.count() > 0) {
      auto const first =
          Kokkos::subview(particles_.site, std::pair<std::size_t, std::size_t>(0, 1));
      std::uint32_t const other = particles_.sites.first == 0 ? side * side * side - 1 : 0;
      Kokkos::deep_copy(first, other);
    }
    migration_.go_home(particles_, state_);
  }

  double places() const { return static_cast<double>(particles_.position.extent(0)); }

 private:
  coir::nbody::detail::ParticleMigration<Exec, T> migration_;
  coir::nbody::Particles<Exec, T> particles_;
  coir::nbody::detail::ParticleState state_;
};

double home(std::int64_t site) { return static_cast<double>(site / (side * side)) * box / side; }

COIR_RANKS_SUITE(RanksMigration);

// A few more on one rank at each step: memory grows by an eighth or more at a time, not at every
// step.
TYPED_TEST(RanksMigration, GrowsMemoryFewTimes) {
  constexpr int rounds = 32;
  Scene<typename TypeParam::Exec, typename TypeParam::Real> scene;
  double const before = scene.places();
  int grown = 0;
  for (int round = 1; round <= rounds; ++round) {
    double const last = scene.places();
    scene.move(
        [=](std::int64_t site) { return site % (2 * rounds) < round ? box - 1 : home(site); });
    if (scene.places() > last) ++grown;
  }
  EXPECT_LE(grown, std::ceil(std::log(scene.places() / before) / std::log(1.125)));
  if (world().size() == 2 && world().rank() == 1) EXPECT_GT(grown, 0);
}

// Kernels that move particles mark the blocks of those that leave; no others are looked at.
TYPED_TEST(RanksMigration, SendsParticlesOfMarkedBlocksAlone) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  Scene<Exec, T> scene;
  coir::nbody::detail::Crossings<Exec, T> crossings(world(), side, box);
  EXPECT_FALSE(crossings.marks().are_kept());
  scene.move(home, &crossings);
  if (world().size() == 1) GTEST_SKIP() << "one rank has all planes";
  auto const sent = [] { return world().traffic("nbody/migration").bytes; };
  auto const before = sent(), in_block = std::min<std::int64_t>(scene.particles(), 256);
  auto const to_the_end = [](std::int64_t) { return box - 1; };
  scene.move(to_the_end, &crossings);
  EXPECT_EQ(sent(), before);
  Kokkos::View<std::uint32_t, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      first_block(crossings.marks().of_blocks);
  if (scene.particles() > 0) Kokkos::deep_copy(first_block, 1u);
  scene.move(to_the_end, &crossings);
  bool const leaves = world().rank() < world().size() - 1;
  EXPECT_EQ(sent() - before, leaves ? in_block * std::int64_t(6 * sizeof(T) + 4) : 0);
}

TYPED_TEST(RanksMigration, TellsOnAllRanksThatAParticleIsLost) {
  if (world().size() == 1) GTEST_SKIP() << "one rank's particles stay there";
  int const last = coir::distributed::owner_of(side - 1, side, world().size());
  std::int64_t const sites =
      coir::distributed::share_of(side, coir::distributed::owner_of(0, side, world().size()),
                                  world().size())
          .count *
      side * side;
  Scene<typename TypeParam::Exec, typename TypeParam::Real> scene;
  EXPECT_EQ(coir::testing::message_of<coir::NumericalError>(
                [&] { scene.come_home_with_a_false_site(last); }),
            "of the particles of this rank's " + std::to_string(sites) + " lattice sites " +
                std::to_string(sites + 1) +
                " came home: particles were lost, or their sites were overwritten");
}

TYPED_TEST(RanksMigration, SendsNothingWhereAllAreInPlace) {
  Scene<typename TypeParam::Exec, typename TypeParam::Real> scene;
  auto const before = world().traffic("nbody/migration");
  scene.move(home);
  EXPECT_EQ(world().traffic("nbody/migration"), before);
}

}  // namespace
