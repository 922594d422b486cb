// Reversible simulations, and gradients through universes, over ranks: the bits of one rank.

#include <coir/distributed/share.hpp>
#include <coir/nbody/forward_model.hpp>
#include <coir/nbody/losses.hpp>
#include <coir/nbody/simulation.hpp>

#include <nbody/universe.hpp>
#include <support/held_memory.hpp>
#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/ranks.hpp>
#include <support/sanitizers.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace coir;
using namespace coir::testing;
using cosmology::Parameters;
using mesh::Assignment;
using mesh::ForceKernel;
using nbody::Cotangents;
using nbody::DensityLoss;
using nbody::DensityMisfit;
using nbody::ForwardModel;
using nbody::Particles;
using nbody::PowerMisfit;
using nbody::scale_factors;
using nbody::Simulation;
using nbody::SimulationOptions;
using nbody::Stepper;

namespace {

using distributed::Group;

distributed::Share own(std::int64_t n, Group const& group) {
  return distributed::share_of(n, group.rank(), group.size());
}

/// \param push  added to all momenta along axis 0
template <class Exec, class T>
Simulation<Exec, T> universe(Group const& group, std::int64_t side, SimulationOptions options,
                             double push = 0) {
  options.reversible = true;
  auto particles = nbody::initial_conditions<Exec, T>(
      Exec(), group, side, 2.0 * static_cast<double>(side), lcdm(), options.scale_factors.front());
  auto const momentum =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.momentum);
  for (std::int64_t p = 0; p < particles.count(); ++p) momentum(p, 0) += static_cast<T>(push);
  Kokkos::deep_copy(particles.momentum, momentum);
  return Simulation<Exec, T>(Exec(), group, std::move(particles), lcdm().growth(), options);
}

/// The positions and momenta that a rank has, which may be none.
template <class S>
std::vector<double> state_of(S const& simulation) {
  auto state = doubles_of(simulation.particles().position);
  auto const momenta = doubles_of(simulation.particles().momentum);
  state.insert(state.end(), momenta.begin(), momenta.end());
  return state;
}

/// The part of one rank's numbers that a rank of `world` has of them, for `each` numbers a plane.
std::vector<double> part_of(std::vector<double> const& whole, std::int64_t side,
                            std::int64_t each) {
  auto const planes = own(side, world());
  auto const first = whole.begin() + planes.first * each;
  return {first, first + planes.count * each};
}

COIR_RANKS_SUITE(RanksGradient);

/// There and back, in two calls each. The end is that of one rank.
template <class Exec, class T>
void there_and_back(std::int64_t side, SimulationOptions const& options, std::string const& what,
                    double push = 0) {
  int const steps = static_cast<int>(options.scale_factors.size()) - 1;
  auto here = universe<Exec, T>(world(), side, options, push);
  auto const start = state_of(here);
  here.advance(steps / 2);
  auto const middle = state_of(here);
  here.advance(steps - steps / 2);
  if constexpr (runs_on_host<Exec>) {
    auto alone = universe<Exec, T>({}, side, options, push);
    alone.advance(steps / 2);
    alone.advance(steps - steps / 2);
    std::int64_t const of_plane = 3 * side * side;
    auto expected = part_of(doubles_of(alone.particles().position), side, of_plane);
    auto const momenta = part_of(doubles_of(alone.particles().momentum), side, of_plane);
    expected.insert(expected.end(), momenta.begin(), momenta.end());
    EXPECT_TRUE(state_of(here) == expected) << what;
  }
  here.reverse(steps - steps / 2);
  EXPECT_TRUE(state_of(here) == middle) << what;
  here.reverse(steps / 2);
  EXPECT_TRUE(state_of(here) == start) << what;
  EXPECT_EQ(here.a(), options.scale_factors.front());
}

TYPED_TEST(RanksGradient, GoesBackToTheBit) {
  TYPES_OF_CASE;
  SimulationOptions options{.scale_factors = scale_factors(0.1, 1, 7), .mesh_ratio = 1};
  there_and_back<Exec, T>(12, options, "fastpm");
  there_and_back<Exec, T>(3, options, "three planes, none for most of many ranks");
  options.stepper = Stepper::bullfrog;
  options.mesh_ratio = 2;
  options.headroom = 0;
  there_and_back<Exec, T>(9, options, "bullfrog, a mesh of 18");
  options.keep_potentials = true;
  there_and_back<Exec, T>(8, options, "bullfrog, with potentials");
  options.mesh_ratio = 1;
  options.kernel = ForceKernel::naive;
  options.assignment = Assignment::pcs;
  there_and_back<Exec, T>(7, options, "a spectral gradient, with potentials");
  options.keep_potentials = false;
  there_and_back<Exec, T>(7, options, "a spectral gradient");
  SimulationOptions const forgets{.scale_factors = {0.02, 0.2, 0.4, 0.7, 1},
                                  .stepper = Stepper::bullfrog};
  there_and_back<Exec, T>(8, forgets, "a step that forgets momenta");
}

TYPED_TEST(RanksGradient, GoesBackToTheBitWhereAllCrossHalfTheBox) {
  TYPES_OF_CASE;
  SimulationOptions const options{.scale_factors = scale_factors(0.1, 1, 4), .mesh_ratio = 1};
  double const drift =
      nbody::moves_of(options.stepper, lcdm().growth(), options.scale_factors)[0].move.drift_after;
  auto const before = world().traffic("nbody/migration");
  there_and_back<Exec, T>(8, options, "half a box", 8 / drift);
  if (world().size() == 2)  // all leave for the other rank, and come home, there and back
    EXPECT_GE(world().traffic("nbody/migration").bytes - before.bytes, 4 * 256 * 28);
}

// Particles are sorted from 48 along a side on.
TYPED_TEST(RanksGradient, GoesBackToTheBitWhereParticlesAreSorted) {
  if (world().size() > 2) GTEST_SKIP() << "on few ranks alone, as it takes long";
  there_and_back<typename TypeParam::Exec, typename TypeParam::Real>(
      48, {.scale_factors = scale_factors(0.1, 1, 14), .mesh_ratio = 1}, "sorted");
}

constexpr double Parameters<>::* varied[] = {
    &Parameters<>::omega_m, &Parameters<>::omega_b, &Parameters<>::h, &Parameters<>::n_s,
    &Parameters<>::sigma8,  &Parameters<>::w0,      &Parameters<>::wa};

constexpr std::int64_t side = 9, cells = 10;

template <class Exec, class T>
using FieldOf = typename ForwardModel<Exec, T>::Field;

/// The planes that a group's rank has of n^3 numbers.
template <class Exec, class T>
FieldOf<Exec, T> field_of(std::vector<double> const& numbers, std::int64_t n, Group const& group) {
  auto const planes = own(n, group);
  auto const first = numbers.begin() + planes.first * n * n;
  return filled(FieldOf<Exec, T>("field", static_cast<std::size_t>(planes.count),
                                 static_cast<std::size_t>(n), static_cast<std::size_t>(n)),
                std::vector<double>(first, first + planes.count * n * n));
}

template <class Exec, class T>
DensityMisfit<Exec, T> misfit(Group const& group, Assignment assignment) {
  std::vector<double> target = normal_numbers(cells * cells * cells, 5), mask(target.size(), 1);
  for (auto& density : target) density = 1 + 0.3 * density;
  mask[3] = mask[77] = 0;
  return {.target = field_of<Exec, T>(target, cells, group),
          .inverse_variance = 3,
          .weight = field_of<Exec, T>(mask, cells, group),
          .assignment = assignment,
          .group = group};
}

PowerMisfit power_misfit(Group const& group) {
  return {.target = {100, 50, 20, 10},
          .inverse_variance = {1e-4, 1e-4, 1e-3, 1e-3},
          .cells = 8,
          .group = group};
}

template <class Exec, class T>
ForwardModel<Exec, T> model_of(Group const& group, SimulationOptions const& options,
                               std::int64_t n = side) {
  return {Exec(), group, {.side = n, .box = 2.0 * static_cast<double>(n), .simulation = options}};
}

/// All that value_and_grad() gives, on one rank's part.
struct Found {
  double value;
  std::vector<double> noise, parameters;
};

template <class Exec, class T>
Found gradient(Group const& group, SimulationOptions const& options) {
  auto const model = model_of<Exec, T>(group, options);
  auto const of_density = misfit<Exec, T>(group, options.assignment);
  auto of_power = power_misfit(group);
  of_power.options.interlace = options.stepper == Stepper::bullfrog;
  auto const both = [&](Particles<Exec, T> const& particles,
                        Cotangents<Exec, T> const& cotangents) {
    return of_density(particles, cotangents) + of_power(particles, cotangents);
  };
  int const steps = static_cast<int>(options.scale_factors.size()) - 1;
  auto const noise = field_of<Exec, T>(normal_numbers(side * side * side, 1), side, group);
  auto const [value, slope] =
      model.value_and_grad(noise, cosmology::planck18(), {{steps, both}, {steps / 2, of_density}});
  Found found{value, doubles_of(slope.noise), {}};
  for (auto const member : varied) found.parameters.push_back(slope.parameters.*member);
  return found;
}

TYPED_TEST(RanksGradient, HasTheBitsOfOneRank) {
  TYPES_OF_CASE;
  for (auto const stepper : {Stepper::fastpm, Stepper::bullfrog})
    for (auto const kernel : {ForceKernel::one_four, ForceKernel::three_two, ForceKernel::naive}) {
      SimulationOptions const options{
          .scale_factors = scale_factors(0.1, 1, 4),
          .stepper = stepper,
          .mesh_ratio = stepper == Stepper::fastpm ? 1.0 : 2.0,
          .kernel = kernel,
          .assignment = stepper == Stepper::fastpm ? Assignment::cic : Assignment::tsc,
          .deterministic = true,
          .keep_potentials = kernel == ForceKernel::three_two};
      auto const alone = gradient<Exec, T>({}, options),
                 together = gradient<Exec, T>(world(), options);
      std::string const what = std::string(name_of(stepper)) + ", " + std::string(name_of(kernel));
      auto const expected = part_of(alone.noise, side, side * side);
      ASSERT_EQ(together.noise.size(), expected.size()) << what;
      if constexpr (runs_on_host<Exec>) {
        EXPECT_EQ(together.value, alone.value) << what;
        EXPECT_TRUE(together.noise == expected) << what;
        EXPECT_EQ(together.parameters, alone.parameters) << what;
      } else {
        double const eps = 1e4 * std::numeric_limits<T>::epsilon();
        EXPECT_NEAR(together.value, alone.value, eps * alone.value) << what;
        for (std::size_t n = 0; n < std::size(varied); ++n)
          EXPECT_NEAR(together.parameters[n], alone.parameters[n],
                      eps * std::abs(alone.parameters[n]))
              << what << n;
      }
    }
}

// Without whole numbers sums are rounded in another order on each number of ranks.
TYPED_TEST(RanksGradient, IsThatOfOneRankToRounding) {
  TYPES_OF_CASE;
  for (auto const kernel : {ForceKernel::one_four, ForceKernel::naive}) {
    SimulationOptions const options{.scale_factors = scale_factors(0.1, 1, 3),
                                    .mesh_ratio = 2,
                                    .kernel = kernel,
                                    .assignment = Assignment::pcs};
    auto const alone = gradient<Exec, T>({}, options),
               together = gradient<Exec, T>(world(), options);
    auto const expected = part_of(alone.noise, side, side * side);
    ASSERT_EQ(together.noise.size(), expected.size());
    double const eps = 1e4 * std::numeric_limits<T>::epsilon();
    EXPECT_NEAR(together.value, alone.value, eps * alone.value);
    double largest = 0;
    for (double const slope : alone.noise) largest = std::max(largest, std::abs(slope));
    for (std::size_t n = 0; n < expected.size(); ++n)
      ASSERT_NEAR(together.noise[n], expected[n], eps * largest) << name_of(kernel);
    for (std::size_t n = 0; n < std::size(varied); ++n)
      EXPECT_NEAR(together.parameters[n], alone.parameters[n], eps * std::abs(alone.parameters[n]))
          << name_of(kernel) << n;
  }
}

// Along random noise and along each parameter, to 1e-7, or to what the parts of 2^-40 round in
// which masses are painted: see forward_model_test.cpp.
TYPED_TEST(RanksGradient, HasTheDerivativesThatDifferencesGive) {
  TYPES_OF_CASE;
  if (std::is_same_v<T, float> || world().size() > 3) GTEST_SKIP() << "in double, on few ranks";
  SimulationOptions const options{.scale_factors = scale_factors(0.1, 1, 4),
                                  .stepper = Stepper::bullfrog,
                                  .mesh_ratio = 1,
                                  .assignment = Assignment::pcs};
  auto const model = model_of<Exec, T>(world(), options);
  auto const of_density = misfit<Exec, T>(world(), Assignment::pcs);
  auto of_power = power_misfit(world());
  of_power.options.assignment = Assignment::pcs;
  of_power.options.interlace = true;
  auto const loss = [&](Particles<Exec, T> const& particles,
                        Cotangents<Exec, T> const& cotangents) {
    return of_density(particles, cotangents) + of_power(particles, cotangents);
  };
  auto const numbers = normal_numbers(side * side * side, 1),
             along = normal_numbers(side * side * side, 2);
  auto const field = [&](double by) {
    auto moved = numbers;
    for (std::size_t c = 0; c < moved.size(); ++c) moved[c] += by * along[c];
    return field_of<Exec, T>(moved, side, world());
  };
  auto const p = cosmology::planck18();
  auto const [value, slope] = model.value_and_grad(field(0), p, loss);
  EXPECT_EQ(value, model.value(field(0), p, loss));
  double const found =
      world().sum(product(doubles_of(slope.noise), part_of(along, side, side * side)));
  double const by_noise =
      slope_of([&](double by) { return model.value(field(by), p, loss); }, 5e-4);
  double const rounding = 1.5 * 5 * std::ldexp(value, -40);
  EXPECT_NEAR(by_noise, found, std::max(1e-7 * std::abs(found), rounding / 5e-4));
  for (auto const member : varied) {
    double const by_parameter = slope_of(
        [&](double by) {
          auto moved = p;
          moved.*member += by;
          return model.value(field(0), moved, loss);
        },
        1e-4);
    EXPECT_NEAR(by_parameter, slope.parameters.*member,
                std::max(1e-7 * std::abs(slope.parameters.*member), rounding / 1e-4));
  }
}

// A step back finds the force of a step there again, and its adjoint has as many transforms and
// ghosts. By cic a step there sends six planes of ghosts, one of masses and five of a potential; by
// spectral gradients four, one of masses and three of forces. The adjoint's exact sums, five planes
// or three, take 8 bytes a cell, which in float is twice what other numbers take.
TYPED_TEST(RanksGradient, SendsTwiceAsMuchOnTheWayBackAtMost) {
  TYPES_OF_CASE;
  if (world().size() > 4) GTEST_SKIP() << "on few ranks alone, as it takes long";
  for (auto const kernel : {ForceKernel::one_four, ForceKernel::naive})
    for (bool const deterministic : {false, true}) {
      auto simulation = universe<Exec, T>(world(), 24,
                                          {.scale_factors = scale_factors(0.1, 1, 3),
                                           .mesh_ratio = 1,
                                           .kernel = kernel,
                                           .deterministic = deterministic});
      auto const sent_by = [](auto const& action) {
        auto const before = world().traffic_by_purpose();
        action();
        auto since = world().traffic_by_purpose();
        for (auto const& [purpose, then] : before) {
          since[purpose].messages -= then.messages;
          since[purpose].bytes -= then.bytes;
        }
        return since;
      };
      auto there = sent_by([&] { simulation.advance(3); });
      using Vectors = typename Particles<Exec, T>::Vectors;
      auto const count = static_cast<std::size_t>(simulation.particles().count());
      Cotangents<Exec, T> const cotangents{Vectors("position", count), Vectors("momentum", count)};
      Kokkos::deep_copy(cotangents.position, simulation.particles().momentum);
      auto const back = sent_by([&] { simulation.pull_back(cotangents); });
      for (auto const& [purpose, of_back] : back) {
        bool const spectral = kernel == ForceKernel::naive,
                   exact = deterministic && sizeof(T) == 4 && purpose == "mesh/ghosts";
        int const planes_there = spectral ? 4 : 6, of_sums = spectral ? 3 : 5,
                  planes_back = 2 * planes_there + (exact ? of_sums : 0);
        // Of all ranks: what one sends on the way there another one sends on the way back.
        auto const all = [](std::int64_t number) { return world().sum(number); };
        EXPECT_LE(all(of_back.messages), 2 * all(there[purpose].messages)) << purpose;
        EXPECT_LE(planes_there * all(of_back.bytes), planes_back * all(there[purpose].bytes))
            << purpose;
      }
    }
}

// Vectors are brought home, and away, by way of the meshes: none is held twice.
TYPED_TEST(RanksGradient, HoldsTheMemoryThatItPredictsOnTheWayBack) {
  TYPES_OF_CASE;
  if (world().size() != 2) GTEST_SKIP() << "on two ranks alone, as it takes long";
  for (bool const deterministic : {false, true}) {
    SimulationOptions const options{.scale_factors = scale_factors(0.1, 1, 12),
                                    .mesh_ratio = 1,
                                    .deterministic = deterministic,
                                    .reversible = true};
    HeldMemory held;
    auto simulation = universe<Exec, T>(world(), 48, options);
    simulation.advance(12);
    using Vectors = typename Particles<Exec, T>::Vectors;
    auto const count = static_cast<std::size_t>(simulation.particles().count());
    Cotangents<Exec, T> cotangents{Vectors("position", count), Vectors("momentum", count)};
    held.forget_peak();
    simulation.pull_back(cotangents);
    auto const bytes = Simulation<Exec, T>::bytes(Exec(), world(), 48, options);
    auto const predicted = bytes.stepping + bytes.pull_back;
    EXPECT_LE(held.peak(), predicted + (1 << 20)) << deterministic;
    EXPECT_GE(held.peak(), predicted * 8 / 10) << deterministic;
  }
}

TYPED_TEST(RanksGradient, TakesProgramsOfTheSplitDensity) {
  TYPES_OF_CASE;
  auto const loss_of = [](Group const& group) {
    return DensityLoss{cells,
                       [group](auto const& density, auto const& slope) {
                         auto const values = doubles_of(density);
                         std::vector<double> twice;
                         double sum = 0;
                         for (double const value : values) {
                           sum += value * value;
                           twice.push_back(2 * value);
                         }
                         filled(slope, twice);
                         return group.sum(sum);
                       },
                       Assignment::tsc, group};
  };
  SimulationOptions const options{.scale_factors = scale_factors(0.1, 1, 3), .deterministic = true};
  auto const of = [&](Group const& group) {
    return model_of<Exec, T>(group, options)
        .value_and_grad(field_of<Exec, T>(normal_numbers(side * side * side, 1), side, group),
                        cosmology::planck18(), loss_of(group));
  };
  auto const alone = of({}), together = of(world());
  EXPECT_NEAR(together.value, alone.value, 1e-5 * alone.value);
  auto const expected = part_of(doubles_of(alone.slope.noise), side, side * side),
             found = doubles_of(together.slope.noise);
  if constexpr (runs_on_host<Exec>) EXPECT_TRUE(found == expected);
}

TYPED_TEST(RanksGradient, TellsOnAllRanksWhatIsWrong) {
  TYPES_OF_CASE;
  if (world().size() < 2) GTEST_SKIP() << "of several ranks";
  SimulationOptions const options{.scale_factors = scale_factors(0.1, 1, 2)};
  auto const model = model_of<Exec, T>(world(), options);
  auto const noise = field_of<Exec, T>(normal_numbers(side * side * side, 1), side, world());
  auto const p = cosmology::planck18();
  auto const message = [&](auto const& loss) {
    return message_of([&] { model.value_and_grad(noise, p, loss); });
  };
  std::string const planes = std::to_string(own(cells, Group(world())).count),
                    m = std::to_string(cells);
  // The target of one rank, on all of them.
  DensityMisfit<Exec, T> whole{
      .target = field_of<Exec, T>(std::vector<double>(cells * cells * cells, 1), cells, {}),
      .group = world()};
  auto const planes_of_first =
      std::to_string(distributed::share_of(cells, 0, world().size()).count);
  EXPECT_EQ(message(whole), "the target of a density must be this rank's " + planes_of_first +
                                " planes of a cube of " + m + " cells along a side, not of " + m +
                                " x " + m + " x " + m + " cells");
  // A loss that looks at one rank's particles.
  EXPECT_EQ(message(misfit<Exec, T>({}, Assignment::cic)).substr(0, 60),
            "the ranks of a loss must have all 729 particles between them");
  // A loss that isn't added up.
  auto const uneven = [](Particles<Exec, T> const&, Cotangents<Exec, T> const&) {
    return static_cast<double>(world().rank());
  };
  EXPECT_EQ(
      message(uneven),
      "all ranks must be given the same loss, that of all ranks' particles: it is 0 on rank 0 "
      "and 1 on rank 1");
  // A loss that throws on the last rank alone.
  auto const throwing = [](Particles<Exec, T> const&, Cotangents<Exec, T> const&) {
    if (world().rank() == world().size() - 1) throw PreconditionError("thrown by a loss");
    return 0.0;
  };
  EXPECT_EQ(message(throwing), "thrown by a loss");
  // Options and a cosmology that differ.
  auto const zero = [](Particles<Exec, T> const&, Cotangents<Exec, T> const&) { return 0.0; };
  SimulationOptions differs = options;
  differs.keep_potentials = world().is_first();
  EXPECT_EQ(message_of([&] {
              model_of<Exec, T>(world(), differs).value_and_grad(noise, p, zero);
            }).substr(0, 60),
            "all ranks must be given the same choice to keep potentials: ");
  auto other = p;
  if (!world().is_first()) other.h = 0.6;
  EXPECT_EQ(message_of([&] { model.value_and_grad(noise, other, zero); }).substr(0, 63),
            "all ranks must be given the same linear power at k = 0.02 h/Mpc");
  // Noise of one rank's shape, and noise that is none on the last rank.
  EXPECT_EQ(message_of([&] {
              model.run(field_of<Exec, T>(std::vector<double>(side * side * side, 1), side, {}), p);
            }).substr(0, 46),
            "the noise of 9^3 particles must have extents (");
  std::vector<double> numbers(side * side * side, 1);
  numbers.back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(
      message_of<NumericalError>([&] { model.run(field_of<Exec, T>(numbers, side, world()), p); }),
      "the noise is infinite or no number at a site: replace it");
  EXPECT_EQ(message_of([&] {
              model.value_and_grad(noise, p, {{world().is_first() ? 1 : 2, uneven}});
            }).substr(0, 62),
            "all ranks must be given the same number of steps before a loss");
}

// The adjoint's mesh doesn't fit on the last rank, which has a limit meanwhile.
TYPED_TEST(RanksGradient, TellsOnAllRanksThatMemoryIsShortOnOneOnTheWayBack) {
  TYPES_OF_CASE;
  if (!runs_on_host<Exec> || is_sanitized || world().size() > 3)
    GTEST_SKIP() << "of hosts, whose limits sanitizers exceed, and of few ranks";
  auto simulation =
      universe<Exec, T>(world(), 48, {.scale_factors = scale_factors(0.5, 1, 1), .mesh_ratio = 2});
  simulation.advance(1);
  using Vectors = typename Particles<Exec, T>::Vectors;
  auto const count = static_cast<std::size_t>(simulation.particles().count());
  Cotangents<Exec, T> const cotangents{Vectors("position", count), Vectors("momentum", count)};
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit low = before;
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  low.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + (1 << 19));
  if (world().rank() == world().size() - 1) ASSERT_EQ(setrlimit(RLIMIT_AS, &low), 0);
  std::string const text = message_of<ResourceError>([&] { simulation.pull_back(cotangents); });
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_NE(text.find("the mesh of a simulation's adjoint"), std::string::npos) << text;
}

// Positions that changed between the way there and the way back are told.
TYPED_TEST(RanksGradient, TellsThatPositionsChanged) {
  TYPES_OF_CASE;
  if (world().size() < 2) GTEST_SKIP() << "of several ranks";
  auto simulation = universe<Exec, T>(world(), 8, {.scale_factors = scale_factors(0.1, 1, 3)});
  simulation.advance(3);
  // Those of the last rank that has any are moved, as if others had come.
  if (own(8, world()).count > 0 && own(8, world()).end() == 8)
    Kokkos::deep_copy(simulation.particles().position, 1);
  EXPECT_EQ(message_of<NumericalError>([&] { simulation.reverse(1); }).substr(0, 44),
            "the way back is not the way there in step 3:");
}

TYPED_TEST(RanksGradient, TellsThatARankHasLostAParticle) {
  TYPES_OF_CASE;
  if (world().size() < 2) GTEST_SKIP() << "of several ranks";
  auto simulation = universe<Exec, T>(world(), 8, {.scale_factors = scale_factors(0.1, 1, 3)});
  simulation.advance(3);
  // No function of a simulation changes how many there are.
  if (own(8, world()).count > 0 && own(8, world()).end() == 8)
    --const_cast<Particles<Exec, T>&>(simulation.particles()).sites.count;
  EXPECT_EQ(message_of<NumericalError>([&] { simulation.reverse(1); }).substr(0, 44),
            "the way back is not the way there in step 3:");
}

}  // namespace
