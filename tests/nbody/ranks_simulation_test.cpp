// Simulations over ranks beside those of one.

#include <coir/nbody/initial_conditions.hpp>
#include <coir/nbody/simulation.hpp>

#include <support/message_of.hpp>
#include <support/ranks.hpp>
#include <support/spaces.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using coir::nbody::ForceSource;
using coir::nbody::Simulation;
using coir::nbody::SimulationOptions;
using coir::nbody::Stepper;
using coir::testing::world;

constexpr double box = 40;

coir::cosmology::LinearPower<double> const& power() {
  static coir::cosmology::LinearPower<double> const the_power(coir::cosmology::planck15());
  return the_power;
}

SimulationOptions steps(int count) {
  SimulationOptions options;
  options.deterministic = true;
  for (int step = 0; step <= count; ++step)
    options.scale_factors.push_back(0.1 + 0.9 * step / count);
  return options;
}

template <class Exec, class T>
Simulation<Exec, T> simulation_of(coir::distributed::Group const& group, std::int64_t side,
                                  SimulationOptions const& options) {
  return Simulation<Exec, T>(Exec(), group,
                             coir::nbody::initial_conditions<Exec, T>(
                                 Exec(), group, side, box, power(), options.scale_factors.front()),
                             power().growth(), options);
}

template <class V>
auto numbers_of(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<typename V::non_const_value_type>(host.data(), host.data() + host.size());
}

template <class Case>
class RanksSimulation : public ::testing::Test {};
TYPED_TEST_SUITE(RanksSimulation, coir::testing::Cases, coir::testing::CaseName);

/// Compares this rank's particles with those of one rank: in bits on hosts.
template <class Exec, class T>
void compare(std::int64_t side, SimulationOptions const& options, std::string const& what) {
  auto alone = simulation_of<Exec, T>({}, side, options);
  auto together = simulation_of<Exec, T>(world(), side, options);
  int const count = static_cast<int>(options.scale_factors.size()) - 1;
  alone.advance(count);
  together.advance(count / 2);  // in two parts, as outputs in between want it
  together.advance(count - count / 2);
  if (count > 1) {
    auto again = simulation_of<Exec, T>({}, side, options);
    again.advance(count / 2);
    again.advance(count - count / 2);
    alone = std::move(again);
  }
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
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
  compare<Exec, T>(16, steps(10), "fastpm");
  auto options = steps(3);
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

// Particles are sorted in between only where there are enough of them.
TYPED_TEST(RanksSimulation, HasTheBitsOfOneRankWhereParticlesAreSorted) {
  if (world().size() > 2) GTEST_SKIP() << "on few ranks alone, as it takes long";
  compare<typename TypeParam::Exec, typename TypeParam::Real>(48, steps(8), "sorted");
}

TYPED_TEST(RanksSimulation, PaintsTheDensityOfItsPlanes) {
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
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
  using Exec = typename TypeParam::Exec;
  using T = typename TypeParam::Real;
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
