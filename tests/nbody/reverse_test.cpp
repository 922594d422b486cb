#include <coir/nbody/detail/potential_store.hpp>
#include <coir/nbody/simulation.hpp>

#include <nbody/universe.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

using namespace coir;
using namespace coir::testing;
using mesh::Assignment;
using mesh::ForceKernel;
using nbody::Cotangents;
using nbody::Particles;
using nbody::scale_factors;
using nbody::Simulation;
using nbody::SimulationOptions;
using nbody::Stepper;

namespace {

/// How many kernels paint while `call` runs.
template <class Call>
int kernels_of_painting(Call const& call) {
  static int count = 0;
  count = 0;
  auto const listen = [](char const* label, std::uint32_t, std::uint64_t*) {
    count += std::string_view(label).starts_with("coir::mesh::paint/") ? 1 : 0;
  };
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(listen);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(listen);
  call();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
  return count;
}

constexpr Stepper steppers[] = {Stepper::fastpm, Stepper::plain, Stepper::bullfrog};

template <class Case>
using SimulationOf = Simulation<typename Case::Exec, typename Case::Real>;
template <class Case>
using ParticlesOf = Particles<typename Case::Exec, typename Case::Real>;

template <class Case>
ParticlesOf<Case> universe(std::int64_t side, double a) {
  return nbody::initial_conditions<typename Case::Exec, typename Case::Real>(
      typename Case::Exec{}, side, 2.0 * static_cast<double>(side), lcdm(), a);
}

template <class Case>
SimulationOf<Case> simulation_of(ParticlesOf<Case> particles, SimulationOptions const& options,
                                 int first = 0) {
  return {typename Case::Exec{}, std::move(particles), lcdm().growth(), options, first};
}

template <class P>
bool same_particles(P const& a, P const& b) {
  return same_bits(a.position, b.position) && same_bits(a.momentum, b.momentum);
}

}  // namespace

COIR_TYPED_SUITE(Reverse);

TYPED_TEST(Reverse, GivesTheStartBackToTheBit) {
  for (std::int64_t side : {1, 5, 12})
    for (auto const stepper : steppers)
      for (auto const kernel : {ForceKernel::one_four, ForceKernel::naive, ForceKernel::three_two})
        for (auto const assignment : {Assignment::cic, Assignment::pcs})
          for (double ratio : {1.0, 2.0}) {
            auto simulation = simulation_of<TypeParam>(universe<TypeParam>(side, 0.1),
                                                       {.scale_factors = scale_factors(0.1, 1, 7),
                                                        .stepper = stepper,
                                                        .mesh_ratio = ratio,
                                                        .kernel = kernel,
                                                        .assignment = assignment,
                                                        .reversible = true});
            auto const start = copy_of(simulation.particles());
            simulation.advance(3);
            auto const middle = copy_of(simulation.particles());
            simulation.advance(4);
            if (side > 1) EXPECT_FALSE(same_particles(middle, simulation.particles()));
            simulation.reverse(4);
            EXPECT_TRUE(same_particles(middle, simulation.particles())) << name_of(stepper) << side;
            EXPECT_EQ(simulation.steps_done(), 3);
            simulation.reverse(3);
            EXPECT_TRUE(same_particles(start, simulation.particles())) << name_of(stepper) << side;
            EXPECT_EQ(simulation.a(), 0.1);
          }
}

TYPED_TEST(Reverse, WorksWithPotentialsThatWereKept) {
  for (auto const stepper : steppers)
    for (auto const kernel : {ForceKernel::one_four, ForceKernel::naive}) {
      SimulationOptions options{.scale_factors = scale_factors(0.1, 1, 5),
                                .stepper = stepper,
                                .kernel = kernel,
                                .reversible = true};
      auto without = simulation_of<TypeParam>(universe<TypeParam>(10, 0.1), options);
      options.keep_potentials = true;
      auto with = simulation_of<TypeParam>(universe<TypeParam>(10, 0.1), options);
      auto const start = copy_of(with.particles());
      for (auto* simulation : {&with, &without}) {
        simulation->advance(2);
        simulation->advance(3);
      }
      EXPECT_TRUE(same_particles(without.particles(), with.particles()));
      EXPECT_EQ(kernels_of_painting([&] { with.reverse(2); }), 0);
      EXPECT_GT(kernels_of_painting([&] { without.reverse(2); }), 0);
      EXPECT_TRUE(same_particles(without.particles(), with.particles()));
      EXPECT_EQ(kernels_of_painting([&] { with.reverse(3); }), 0) << name_of(stepper);
      EXPECT_TRUE(same_particles(start, with.particles())) << name_of(stepper);
    }
}

// Potentials have memory for 16 at a time, which calls end amid, be it that a caller stops them.
TYPED_TEST(Reverse, KeepsPotentialsInMemoryThatIsntFilled) {
  int const steps = 21;
  for (auto const stepper : steppers) {
    auto simulation = simulation_of<TypeParam>(universe<TypeParam>(5, 0.1),
                                               {.scale_factors = scale_factors(0.1, 1, steps),
                                                .stepper = stepper,
                                                .reversible = true,
                                                .keep_potentials = true});
    auto const start = copy_of(simulation.particles());
    auto const to_the_end = [&] { simulation.advance(simulation.steps_left()); };
    to_the_end();
    auto const end = copy_of(simulation.particles());
    for (int const back : {1, 5, 17}) {
      EXPECT_EQ(kernels_of_painting([&] { simulation.reverse(back); }), 0)
          << name_of(stepper) << back;
      EXPECT_THROW(simulation.advance(back,
                                      [&](int done) {
                                        if (done == steps - back / 2)
                                          throw std::runtime_error("enough");
                                      }),
                   std::runtime_error);
      to_the_end();
    }
    EXPECT_EQ(kernels_of_painting([&] { simulation.reverse(steps); }), 0) << name_of(stepper);
    EXPECT_TRUE(same_particles(start, simulation.particles())) << name_of(stepper);
    to_the_end();
    EXPECT_TRUE(same_particles(end, simulation.particles())) << name_of(stepper);
  }
}

// 2^40 numbers are more than machines have.
TYPED_TEST(Reverse, KeepsNoPotentialsWhereMemoryIsShort) {
  nbody::detail::PotentialStore<typename TypeParam::Exec, typename TypeParam::Real> store(
      {}, {}, {1 << 14, 1 << 13, 1 << 13});
  store.begin(5);
  EXPECT_EQ(store.next().data(), nullptr);
  store.push();
  EXPECT_EQ(store.pop().data(), nullptr);
}

TYPED_TEST(Reverse, StopsWhereAdvanceWouldHave) {
  for (auto const stepper : steppers) {
    SimulationOptions const options{
        .scale_factors = scale_factors(0.1, 1, 5), .stepper = stepper, .reversible = true};
    auto there = simulation_of<TypeParam>(universe<TypeParam>(8, 0.1), options),
         back = simulation_of<TypeParam>(universe<TypeParam>(8, 0.1), options);
    auto const start = copy_of(back.particles());
    there.advance(2);
    back.advance(5);
    back.reverse(2);
    back.reverse(1);
    EXPECT_EQ(back.steps_done(), 2);
    EXPECT_TRUE(same_particles(there.particles(), back.particles())) << name_of(stepper);
    // And on: the same steps from there.
    there.advance(3);
    back.advance(3);
    EXPECT_TRUE(same_particles(there.particles(), back.particles())) << name_of(stepper);
    back.reverse(5);
    EXPECT_TRUE(same_particles(start, back.particles())) << name_of(stepper);
  }
}

TYPED_TEST(Reverse, WorksFromWhereACallerStopped) {
  for (auto const stepper : steppers) {
    SimulationOptions const options{
        .scale_factors = scale_factors(0.1, 1, 5), .stepper = stepper, .reversible = true};
    auto stopped = simulation_of<TypeParam>(universe<TypeParam>(8, 0.1), options),
         there = simulation_of<TypeParam>(universe<TypeParam>(8, 0.1), options);
    auto const start = copy_of(stopped.particles());
    EXPECT_THROW(stopped.advance(5,
                                 [](int steps) {
                                   if (steps == 2) throw std::runtime_error("enough");
                                 }),
                 std::runtime_error);
    there.advance(2);
    EXPECT_TRUE(same_particles(there.particles(), stopped.particles())) << name_of(stepper);
    stopped.advance(0);
    stopped.advance(2);
    stopped.reverse(3);
    there.reverse(1);
    EXPECT_TRUE(same_particles(there.particles(), stopped.particles())) << name_of(stepper);
    stopped.reverse(1);
    EXPECT_TRUE(same_particles(start, stopped.particles())) << name_of(stepper);
  }
}

TYPED_TEST(Reverse, WorksInASimulationThatWasMoved) {
  using S = SimulationOf<TypeParam>;
  static_assert(!std::is_copy_constructible_v<S> && !std::is_copy_assignable_v<S>);
  for (auto const stepper : steppers) {
    SimulationOptions const options{
        .scale_factors = scale_factors(0.1, 1, 5), .stepper = stepper, .reversible = true};
    auto first = simulation_of<TypeParam>(universe<TypeParam>(8, 0.1), options),
         there = simulation_of<TypeParam>(universe<TypeParam>(8, 0.1), options),
         last = simulation_of<TypeParam>(universe<TypeParam>(4, 0.1), options);
    auto const start = copy_of(first.particles());
    first.advance(2);
    there.advance(2);
    S second(std::move(first));
    second.advance(2);
    there.advance(2);
    EXPECT_TRUE(same_particles(there.particles(), second.particles())) << name_of(stepper);
    last = std::move(second);
    last.reverse(4);
    EXPECT_TRUE(same_particles(start, last.particles())) << name_of(stepper);
  }
}

// As simulation.hpp says that a simulation branches.
TYPED_TEST(Reverse, LeavesABranchItsOwnParticles) {
  SimulationOptions const options{.scale_factors = scale_factors(0.1, 1, 5), .reversible = true};
  auto trunk = simulation_of<TypeParam>(universe<TypeParam>(8, 0.1), options);
  auto const start = copy_of(trunk.particles());
  trunk.advance(2);
  auto const middle = copy_of(trunk.particles());
  auto branch = simulation_of<TypeParam>(copy_of(trunk.particles()), options, trunk.steps_done());
  branch.advance(3);
  EXPECT_EQ(branch.a(), 1);
  EXPECT_TRUE(same_particles(middle, trunk.particles()));
  trunk.reverse(2);
  EXPECT_TRUE(same_particles(start, trunk.particles()));
}

// From 48 particles along a side on they are sorted every few steps. BullFrog's first step forgets
// momenta, which are stored in the order of the lattice, and restored while particles are in the
// order of the mesh.
TYPED_TEST(Reverse, WorksWhileParticlesAreSorted) {
  auto a = scale_factors(0.2, 1, 9);
  a.insert(a.begin(), 0.02);
  for (auto const stepper : {Stepper::fastpm, Stepper::bullfrog}) {
    auto simulation =
        simulation_of<TypeParam>(universe<TypeParam>(48, 0.02),
                                 {.scale_factors = a, .stepper = stepper, .reversible = true});
    auto const start = copy_of(simulation.particles());
    simulation.advance(10);
    simulation.reverse(10);
    EXPECT_GT(simulation.seconds().sort, 0);
    EXPECT_TRUE(same_particles(start, simulation.particles())) << name_of(stepper);
  }
}

// Steps that begin where D1 grows by more than 3.2 forget momenta: these are stored.
TYPED_TEST(Reverse, WorksAcrossStepsThatForgetMomenta) {
  for (double second : {0.0645, 0.0647, 0.2}) {
    auto simulation = simulation_of<TypeParam>(universe<TypeParam>(8, 0.02),
                                               {.scale_factors = {0.02, second, 0.4, 0.7, 1},
                                                .stepper = Stepper::bullfrog,
                                                .reversible = true});
    auto const start = copy_of(simulation.particles());
    simulation.advance(2);
    simulation.advance(2);
    simulation.reverse(4);
    EXPECT_TRUE(same_particles(start, simulation.particles())) << second;
  }
}

// Each step rounds positions to eps of the box; momenta are held to 2^-24 of their rms (2^-45 in
// double), which moves particles by less. What becomes of one such rounding is seen in a run whose
// particles begin eps of the box away from where they are. Those of later steps have less time to
// grow, so that ten steps make ten times as much at most.
TYPED_TEST(Reverse, IsOfARunThatIsAsExactAsOthers) {
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  int const steps = 10;
  auto const start = universe<TypeParam>(16, 0.1), nudged = nudged_by(eps, start);
  for (auto const stepper : steppers) {
    auto const moved = [&](ParticlesOf<TypeParam> const& from, bool reversible) {
      auto simulation =
          simulation_of<TypeParam>(copy_of(from), {.scale_factors = scale_factors(0.1, 1, steps),
                                                   .stepper = stepper,
                                                   .deterministic = true,
                                                   .reversible = reversible});
      simulation.advance(steps);
      return vectors_of(simulation.particles().position);
    };
    auto const ordinary = moved(start, false);
    double const grown = largest_distance(moved(nudged, false), ordinary, start.box);
    EXPECT_LE(largest_distance(moved(start, true), ordinary, start.box), steps * grown)
        << name_of(stepper);
  }
}

TYPED_TEST(Reverse, BringsParticlesIntoTheBox) {
  using Real = typename TypeParam::Real;
  SimulationOptions const options{.scale_factors = scale_factors(0.1, 1, 3), .reversible = true};
  // In a box of 16 multiples stay exact when a few boxes are added: the outer particles are the
  // inner ones.
  auto inside = simulation_of<TypeParam>(universe<TypeParam>(8, 0.1), options);
  auto const particles = copy_of(inside.particles());
  auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.position);
  for (std::size_t p = 0; p < x.extent(0); ++p)
    for (std::size_t d = 0; d < 3; ++d)  // the nearest multiples that both can have
      x(p, d) = std::ldexp(std::floor(std::ldexp(x(p, d), 10)), -10);
  Kokkos::deep_copy(particles.position, x);
  auto const outer = copy_of(particles);
  for (std::size_t p = 0; p < x.extent(0); ++p)
    for (std::size_t d = 0; d < 3; ++d) x(p, d) += Real(16) * (Real((p + d) % 5) - 2);
  Kokkos::deep_copy(outer.position, x);
  auto a = simulation_of<TypeParam>(copy_of(particles), options),
       b = simulation_of<TypeParam>(copy_of(outer), options);
  EXPECT_TRUE(same_particles(a.particles(), b.particles()));
  auto const start = copy_of(b.particles());
  b.advance(3);
  b.reverse(3);
  EXPECT_TRUE(same_particles(start, b.particles()));
}

TYPED_TEST(Reverse, NamesWhatIsWrong) {
  SimulationOptions options{.scale_factors = scale_factors(0.1, 1, 3)};
  auto ordinary = simulation_of<TypeParam>(universe<TypeParam>(4, 0.1), options);
  ordinary.advance(1);
  EXPECT_NE(message_of([&] { ordinary.reverse(1); }).find("SimulationOptions::reversible"),
            std::string::npos);
  EXPECT_THROW(ordinary.reverse(1), PreconditionError);
  EXPECT_THROW(ordinary.pull_back({}), PreconditionError);
  options.reversible = true;
  auto simulation = simulation_of<TypeParam>(universe<TypeParam>(4, 0.1), options);
  EXPECT_THROW(simulation.pull_back({}), PreconditionError);
  simulation.advance(2);
  EXPECT_NE(message_of([&] { simulation.reverse(3); }).find("from 0 to the 2 that"),
            std::string::npos);
  EXPECT_THROW(simulation.reverse(-1), PreconditionError);
  EXPECT_THROW(simulation.pull_back({}), PreconditionError);
  options.force_source = nbody::ForceSource::potential;
  EXPECT_THROW(simulation_of<TypeParam>(universe<TypeParam>(4, 0.1), options), PreconditionError);
  options.force_source = nbody::ForceSource::automatic;
  options.momentum_range = 0.5;
  EXPECT_THROW(simulation_of<TypeParam>(universe<TypeParam>(4, 0.1), options), PreconditionError);
}

TYPED_TEST(Reverse, NamesTheOptionWhereMomentaOverflow) {
  auto simulation = simulation_of<TypeParam>(
      universe<TypeParam>(16, 0.1),
      {.scale_factors = scale_factors(0.1, 1, 3), .reversible = true, .momentum_range = 1});
  auto const message = message_of<NumericalError>([&] { simulation.advance(3); });
  EXPECT_NE(message.find("in step "), std::string::npos) << message;
  EXPECT_NE(message.find("momentum_range above 1"), std::string::npos) << message;
}

// From a = 1e-5 on momenta grow by a factor of 2e7, which leaves a float's momenta at the start
// less than a quantum.
TYPED_TEST(Reverse, RefusesStartsWhoseMomentaAreLostInAQuantum) {
  SimulationOptions const options{.scale_factors = scale_factors(1e-5, 1, 3), .reversible = true};
  auto const begin = [&] {
    SimulationOf<TypeParam>({}, universe<TypeParam>(4, 0.1),
                            cosmology::Growth<double>(lcdm().growth().parameters(), 1e-6, 1),
                            options);
  };
  if (sizeof(typename TypeParam::Real) == 8) return begin();
  auto const message = message_of([&] { begin(); });
  EXPECT_NE(message.find("start later than at a = 1e-05"), std::string::npos) << message;
}

TYPED_TEST(Reverse, FindsMomentaThatItCannotBeginWith) {
  using Real = typename TypeParam::Real;
  SimulationOptions const options{.scale_factors = {0.5, 0.6}, .reversible = true};
  // One of 16^3 particles moves: it is faster than the rms of a component by sqrt(3 16^3) = 111.
  for (Real const momentum : {Real(10), std::numeric_limits<Real>::quiet_NaN()}) {
    auto const particles =
        coir::testing::lattice<typename TypeParam::Exec, Real>(16, 32, {0, 0, 0});
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.momentum);
    host(77, 1) = momentum;
    Kokkos::deep_copy(particles.momentum, host);
    auto const message =
        message_of<NumericalError>([&] { simulation_of<TypeParam>(copy_of(particles), options); });
    EXPECT_NE(message.find(momentum == Real(10) ? "momentum_range above 64" : "no number"),
              std::string::npos)
        << message;
  }
}

// Particles that an error has left amid a step are at no scale factor.
TYPED_TEST(Reverse, RefusesToGoOnFromAmidAStep) {
  auto simulation = simulation_of<TypeParam>(
      universe<TypeParam>(16, 0.1),
      {.scale_factors = scale_factors(0.1, 1, 3), .reversible = true, .momentum_range = 1});
  EXPECT_THROW(simulation.advance(3), NumericalError);
  auto const spare = universe<TypeParam>(16, 0.1);
  std::string const expected = "stayed amid a step";
  EXPECT_NE(message_of([&] { simulation.advance(1); }).find(expected), std::string::npos);
  EXPECT_NE(message_of([&] { simulation.reverse(0); }).find(expected), std::string::npos);
  EXPECT_NE(
      message_of([&] { simulation.pull_back({spare.position, spare.momentum}); }).find(expected),
      std::string::npos);
}

TYPED_TEST(Reverse, FindsParticlesThatOthersHaveMoved) {
  auto simulation = simulation_of<TypeParam>(
      universe<TypeParam>(6, 0.1), {.scale_factors = scale_factors(0.1, 1, 3), .reversible = true});
  simulation.advance(3);
  auto const momentum = simulation.particles().momentum;
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, momentum);
  host(7, 1) += host(8, 1);
  Kokkos::deep_copy(momentum, host);
  auto const message = message_of<NumericalError>([&] { simulation.reverse(3); });
  EXPECT_NE(message.find("in step 3"), std::string::npos) << message;
}
