#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <support/cut_at.hpp>
#include <support/held_memory.hpp>
#include <support/message_of.hpp>
#include <support/numbers.hpp>
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

using coir::nbody::ForceSource;
using coir::nbody::Simulation;
using coir::nbody::SimulationOptions;
using coir::nbody::Stepper;
using coir::testing::numbers_of;
using coir::testing::world;

constexpr double box = 40;

coir::cosmology::LinearPower<double> const& power() {
  static coir::cosmology::LinearPower<double> const the_power(coir::cosmology::planck15());
  return the_power;
}

SimulationOptions steps(int count) {
  SimulationOptions options;
  options.mesh_ratio = 1;
  options.deterministic = true;
  for (int step = 0; step <= count; ++step)
    options.scale_factors.push_back(0.1 + 0.9 * step / count);
  return options;
}

/// \param push  added to all momenta along axis 0
template <class Exec, class T>
Simulation<Exec, T> simulation_of(coir::distributed::Group const& group, std::int64_t side,
                                  SimulationOptions const& options, double push = 0) {
  auto particles = coir::nbody::initial_conditions<Exec, T>(Exec(), group, side, box, power(),
                                                            options.scale_factors.front());
  auto const momentum = Kokkos::create_mirror_view(particles.momentum);
  Kokkos::deep_copy(momentum, particles.momentum);
  for (std::int64_t n = 0; n < particles.count(); ++n) momentum(n, 0) += static_cast<T>(push);
  Kokkos::deep_copy(particles.momentum, momentum);
  return Simulation<Exec, T>(Exec(), group, std::move(particles), power().growth(), options);
}

COIR_RANKS_SUITE(RanksSimulation);

/// Compares this rank's particles with those of one rank: in bits on hosts.
template <class Exec, class T>
void compare(std::int64_t side, SimulationOptions const& options, std::string const& what,
             double push = 0) {
  auto alone = simulation_of<Exec, T>({}, side, options, push);
  auto together = simulation_of<Exec, T>(world(), side, options, push);
  int const count = static_cast<int>(options.scale_factors.size()) - 1;
  alone.advance(count);
  together.advance(count / 2);  // in two parts, as outputs in between want it
  together.advance(count - count / 2);
  if (count > 1) {
    auto again = simulation_of<Exec, T>({}, side, options, push);
    again.advance(count / 2);
    again.advance(count - count / 2);
    alone = std::move(again);
  }
  if (side >= 48) EXPECT_GT(together.seconds().sort, 0) << what;
  auto const& here = together.particles();
  ASSERT_EQ(static_cast<std::int64_t>(here.position.extent(0)), here.count()) << what;
  auto const first = static_cast<std::size_t>(3 * here.sites.first);
  auto const expect = [&](auto const& whole, auto const& part, double tolerance) {
    for (std::size_t n = 0; n < part.size(); ++n) {
      if (coir::runs_on_host<Exec>) {
        ASSERT_EQ(part[n], whole[first + n]) << what << ", number " << n;
      } else {
        double const apart = std::abs(static_cast<double>(part[n]) - whole[first + n]);
        ASSERT_LE(std::min(apart, box - apart), tolerance) << what << ", number " << n;
      }
    }
  };
  // Between devices forces differ by rounding, which steps enlarge.
  expect(numbers_of(alone.particles().position), numbers_of(here.position), 1e-3);
  expect(numbers_of(alone.particles().momentum), numbers_of(here.momentum), 1e-1);
}

TYPED_TEST(RanksSimulation, HasTheBitsOfOneRank) {
  TYPES_OF_CASE;
  compare<Exec, T>(16, steps(10), "fastpm");
  compare<Exec, T>(3, steps(2), "three planes, none for most of many ranks");
  auto options = steps(3);
  options.headroom = 0;
  options.stepper = Stepper::bullfrog;
  options.mesh_ratio = 2;
  compare<Exec, T>(9, options, "bullfrog, a mesh of 18");
  options.force_source = ForceSource::potential;
  options.assignment = coir::mesh::Assignment::tsc;
  compare<Exec, T>(8, options, "tsc, from the potential");
  options.kernel = coir::mesh::ForceKernel::naive;
  compare<Exec, T>(7, options, "a spectral gradient, by components");
  options.force_source = ForceSource::vectors;
  compare<Exec, T>(7, options, "a spectral gradient, by vectors");
}

TYPED_TEST(RanksSimulation, HasTheBitsOfOneRankWhereAllCrossHalfTheBox) {
  using Exec = typename TypeParam::Exec;
  auto const options = steps(4);
  double const drift =
      coir::nbody::moves_of(options.stepper, power().growth(), options.scale_factors)[0]
          .move.drift_after;
  auto const before = world().traffic("nbody/migration");
  compare<Exec, typename TypeParam::Real>(8, options, "half a box", 0.5 * box / drift);
  if (world().size() == 2)  // all have left for the other rank, and come home
    EXPECT_GE(world().traffic("nbody/migration").bytes - before.bytes, 2 * 256 * 28);
}

TYPED_TEST(RanksSimulation, HasTheBitsOfOneRankWherePiecesAreCut) {
  coir::testing::CutAt const cut(1024);
  compare<typename TypeParam::Exec, typename TypeParam::Real>(12, steps(2), "pieces of 1 KiB");
}

// Particles are sorted in between only where there are enough of them, on hosts in the sixth of ten
// steps.
TYPED_TEST(RanksSimulation, HasTheBitsOfOneRankWhereParticlesAreSorted) {
  if (world().size() > 2) GTEST_SKIP() << "on few ranks alone, as it takes long";
  compare<typename TypeParam::Exec, typename TypeParam::Real>(48, steps(20), "sorted");
}

TYPED_TEST(RanksSimulation, HoldsTheMemoryThatItPredicts) {
  TYPES_OF_CASE;
  if (world().size() > 2) GTEST_SKIP() << "on few ranks alone, as it takes long";
  for (auto const source : {ForceSource::vectors, ForceSource::potential}) {
    auto options = steps(16);  // in which particles are sorted
    options.force_source = source;
    coir::testing::HeldMemory held;
    auto simulation = simulation_of<Exec, T>(world(), 48, options);
    held.forget_peak();
    auto const predicted = Simulation<Exec, T>::bytes(Exec(), world(), 48, options);
    simulation.advance(16);
    EXPECT_LE(held.peak(), predicted.stepping + (1 << 20)) << name_of(source);
    EXPECT_GE(held.peak(), predicted.stepping * 8 / 10) << name_of(source);
    EXPECT_LE(held.now(), predicted.at_rest + (1 << 20)) << name_of(source);
    EXPECT_GE(held.now(), predicted.at_rest * 7 / 10) << name_of(source);
  }
}

TYPED_TEST(RanksSimulation, TellsOnAllRanksWhatIsWrongOnOne) {
  TYPES_OF_CASE;
  bool const is_last = world().rank() == world().size() - 1;
  auto const message = [](SimulationOptions const& options) {
    auto particles =
        coir::nbody::initial_conditions<Exec, T>(Exec(), world(), 4, box, power(), 0.1);
    return coir::testing::message_of([&] {
      Simulation<Exec, T> const simulation(Exec(), world(), std::move(particles), power().growth(),
                                           options);
    });
  };
  auto wrong = steps(2);
  wrong.headroom = is_last ? -1 : 0.1;
  EXPECT_EQ(message(wrong), "the headroom must be in [0, 10], not -1");
  wrong = steps(2);
  wrong.mesh_ratio = is_last ? 5 : 1;
  EXPECT_EQ(message(wrong), "the mesh ratio must be in [0.5, 4], not 5");
  auto simulation = simulation_of<Exec, T>(world(), 4, steps(2));
  EXPECT_EQ(coir::testing::message_of([&] { simulation.advance(is_last ? 3 : 1); }),
            "the steps to make must be from 0 to the 2 that are left, not 3");
  if (world().size() == 1) return;
  std::string const same = "all ranks must be given the same ",
                    last = " on rank " + std::to_string(world().size() - 1);
  EXPECT_EQ(message(steps(is_last ? 3 : 2)),
            same + "number of scale factors: it is 3 on rank 0 and 4" + last);
  wrong = steps(2);
  wrong.stepper = is_last ? Stepper::bullfrog : Stepper::fastpm;
  EXPECT_EQ(message(wrong), same + "stepper: it is fastpm on rank 0 and bullfrog" + last);
  EXPECT_EQ(coir::testing::message_of([&] { simulation.advance(is_last ? 2 : 1); }),
            same + "number of steps: it is 1 on rank 0 and 2" + last);
  simulation.advance(2);  // goes on
}

// Such as a progress bar, which the first rank shows.
TYPED_TEST(RanksSimulation, MayCallBackOnSomeRanksOnly) {
  auto simulation =
      simulation_of<typename TypeParam::Exec, typename TypeParam::Real>(world(), 4, steps(2));
  int called = 0;
  if (world().is_first())
    simulation.advance(2, [&](int) { ++called; });
  else
    simulation.advance(2);
  EXPECT_EQ(called, world().is_first() ? 2 : 0);
}

// With a spectral gradient and no mesh of forces the density's memory holds whole numbers in its
// ghost planes still, some of which look like no number at all.
TYPED_TEST(RanksSimulation, TakesNoWholeNumberForAForceThatIsNone) {
  TYPES_OF_CASE;
  auto options = steps(12);
  options.kernel = coir::mesh::ForceKernel::naive;
  options.softening = coir::mesh::Softening::two_thirds;
  options.assignment = coir::mesh::Assignment::pcs;
  for (int push = 0; push < 6; ++push) {
    auto simulation = simulation_of<Exec, T>(world(), 8, options, push);
    EXPECT_NO_THROW(simulation.advance(12)) << push;
  }
}

TYPED_TEST(RanksSimulation, SeesOnAllRanksAForceThatIsNoneOnOne) {
  TYPES_OF_CASE;
  for (auto const kernel : {coir::mesh::ForceKernel::naive, coir::mesh::ForceKernel::one_four})
    for (bool const deterministic : {false, true}) {
      auto options = steps(2);
      options.kernel = kernel;
      options.softening = coir::mesh::Softening::two_thirds;
      options.deterministic = deterministic;
      bool const is_last = world().rank() == world().size() - 1;
      auto simulation = simulation_of<Exec, T>(
          world(), 8, options, is_last ? std::numeric_limits<double>::quiet_NaN() : 0);
      EXPECT_EQ(coir::testing::message_of<coir::NumericalError>([&] {
                  simulation.advance(2);
                }).substr(0, 31),
                "the force isn't a number in ste")
          << name_of(kernel) << deterministic;
    }
}

TYPED_TEST(RanksSimulation, PaintsTheDensityOfItsPlanes) {
  TYPES_OF_CASE;
  auto alone = simulation_of<Exec, T>({}, 8, steps(2));
  auto together = simulation_of<Exec, T>(world(), 8, steps(2));
  if (world().size() == 1) return;
  alone.paint_density();
  together.paint_density();
  // Padded rows, which lie one behind the other.
  auto const rows_of = [](auto const& density) {
    Kokkos::View<T const*, typename Exec::memory_space,
                 Kokkos::MemoryTraits<Kokkos::Unmanaged>> const all(density.data(),
                                                                    density.extent(0) *
                                                                        density.stride(0));
    return numbers_of(all);
  };
  auto const whole = rows_of(alone.force().density()), part = rows_of(together.force().density());
  auto const at = [](std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<std::size_t>((i * 8 + j) * 10 + k);
  };
  auto& ghosts = together.force().ghosts();
  for (std::int64_t i = 0; i < ghosts.own().count; ++i)
    for (std::int64_t j = 0; j < 8; ++j)
      for (std::int64_t k = 0; k < 8; ++k)
        ASSERT_NEAR(part[at(ghosts.widths().below + i, j, k)],
                    whole[at(ghosts.own().first + i, j, k)], 1e-5);
  EXPECT_EQ(together.particles().count(),
            coir::distributed::share_of(8, world().rank(), world().size()).count * 64);
}

TYPED_TEST(RanksSimulation, StopsOnAllRanksWhereOneStops) {
  TYPES_OF_CASE;
  auto simulation = simulation_of<Exec, T>(world(), 8, steps(4));
  auto const stop = [&] {
    simulation.advance(4, [](int done) {
      if (done == 2 && world().rank() == world().size() - 1)
        throw coir::ResourceError("the disk is full");
    });
  };
  EXPECT_EQ(coir::testing::message_of<coir::ResourceError>(stop), "the disk is full");
  EXPECT_EQ(simulation.steps_done(), 2);
  EXPECT_EQ(static_cast<std::int64_t>(simulation.particles().position.extent(0)),
            simulation.particles().count());
}

}  // namespace
