#include <coir/core/pool.hpp>
#include <coir/cosmology/factors.hpp>
#include <coir/nbody/simulation.hpp>

#include <nbody/universe.hpp>
#include <support/held_memory.hpp>
#include <support/message_of.hpp>
#include <support/thread_counts.hpp>
#include <support/typed_suite.hpp>

#include <limits>
#include <stdexcept>

using namespace coir;
using namespace coir::testing;
using nbody::Particles;
using nbody::scale_factors;
using nbody::Simulation;
using nbody::SimulationOptions;
using nbody::Stepper;

namespace {

constexpr Stepper steppers[] = {Stepper::fastpm, Stepper::plain, Stepper::bullfrog};

template <class Case>
using SimulationOf = Simulation<typename Case::Exec, typename Case::Real>;

template <class Case>
SimulationOf<Case> simulation_of(Particles<typename Case::Exec, typename Case::Real> particles,
                                 SimulationOptions const& options, int first = 0) {
  return {typename Case::Exec{}, std::move(particles), lcdm().growth(), options, first};
}

/// Ten steps' worth of structure: displacements grow from a tenth of a cell to a few cells.
template <class Case>
Particles<typename Case::Exec, typename Case::Real> universe(std::int64_t side, double a = 0.1) {
  return nbody::initial_conditions<typename Case::Exec, typename Case::Real>(
      typename Case::Exec{}, side, 3.0 * side, lcdm(), a);
}

template <class Case>
double eps() {
  return std::numeric_limits<typename Case::Real>::epsilon();
}

}  // namespace

COIR_TYPED_SUITE(Simulations);

TYPED_TEST(Simulations, LeaveAUniformLatticeWhereItIs) {
  for (std::int64_t const side : {1, 2, 5, 8})
    for (Stepper const stepper : steppers) {
      double const box = 10;
      auto const start = lattice<typename TypeParam::Exec, typename TypeParam::Real>(side, box);
      auto simulation = simulation_of<TypeParam>(
          copy_of(start), {.scale_factors = scale_factors(0.1, 1, 5), .stepper = stepper});
      simulation.advance(5);
      // Forces round to eps times those of a cell twice as dense, 3/2 omega_m h; five steps of
      // factors of order 1.
      EXPECT_LE(largest_distance(vectors_of(simulation.particles().position),
                                 vectors_of(start.position), box),
                100 * eps<TypeParam>() * box)
          << side;
    }
}

// A lattice that moves as a whole makes no force.
TYPED_TEST(Simulations, DriftFreeParticlesByTheFormula) {
  double const box = 16, a = 0.2, b = 0.5;
  std::int64_t const side = 8;
  std::array<double, 3> const p{0.5, -1, 2};
  auto const& growth = lcdm().growth();
  auto const start = lattice<typename TypeParam::Exec, typename TypeParam::Real>(side, box, p);
  auto const q = vectors_of(start.position);
  for (Stepper const stepper : steppers) {
    auto simulation =
        simulation_of<TypeParam>(copy_of(start), {.scale_factors = {a, b}, .stepper = stepper});
    simulation.advance(1);
    double drift = cosmology::quinn_drift(growth.parameters(), a, b), keep = 1;
    if (stepper == Stepper::fastpm) drift = cosmology::fastpm_drift(growth, (a + b) / 2, a, b);
    if (stepper == Stepper::bullfrog) {
      auto const f = cosmology::bullfrog_dkd(growth, a, b);
      keep = f.alpha * growth.momentum(b) / growth.momentum(a);
      drift = f.half_drift / growth.momentum(a) * (1 + f.alpha);
    }
    auto const x = vectors_of(simulation.particles().position),
               momentum = vectors_of(simulation.particles().momentum);
    double const tolerance = 200 * eps<TypeParam>() * box;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (int d = 0; d < 3; ++d) {
        ASSERT_NEAR(coir::testing::wrapped(x[i][d] - q[i][d] - drift * p[d], box), 0, tolerance)
            << name_of(stepper);
        ASSERT_NEAR(momentum[i][d], keep * p[d], tolerance) << name_of(stepper);
      }
  }
}

TYPED_TEST(Simulations, MakeStepsTogetherAsOneByOne) {
  std::int64_t const side = 12;
  auto const start = universe<TypeParam>(side);
  for (Stepper const stepper : steppers) {
    SimulationOptions const options{.scale_factors = scale_factors(0.1, 0.7, 4),
                                    .stepper = stepper};
    auto together = simulation_of<TypeParam>(copy_of(start), options);
    auto one_by_one = simulation_of<TypeParam>(copy_of(start), options);
    std::vector<int> seen;
    together.advance(4, [&](int step) { seen.push_back(step); });
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4}));
    for (int s = 0; s < 4; ++s) {
      EXPECT_EQ(one_by_one.steps_done(), s);
      EXPECT_EQ(one_by_one.steps_left(), 4 - s);
      EXPECT_EQ(one_by_one.a(), options.scale_factors[s]);
      one_by_one.advance(1);
    }
    EXPECT_EQ(together.a(), 0.7);
    EXPECT_EQ(together.steps_left(), 0);
    // A kick or drift in two parts rounds differently, and the errors grow with what the forces
    // differ.
    EXPECT_LE(largest_distance(vectors_of(together.particles().position),
                               vectors_of(one_by_one.particles().position), 3.0 * side),
              300 * eps<TypeParam>() * side)
        << name_of(stepper);
    one_by_one.advance(0);
    EXPECT_EQ(one_by_one.a(), 0.7);
  }
}

TYPED_TEST(Simulations, ThatAreDeterministicMakeStepsTogetherAsOneByOneToTheBit) {
  for (Stepper const stepper : steppers)
    for (auto const kernel : {mesh::ForceKernel::one_four, mesh::ForceKernel::naive}) {
      auto const start = universe<TypeParam>(11);
      SimulationOptions const options{.scale_factors = scale_factors(0.1, 0.7, 5),
                                      .stepper = stepper,
                                      .kernel = kernel,
                                      .force_source = mesh::gradient_points(kernel) == 0
                                                          ? nbody::ForceSource::potential
                                                          : nbody::ForceSource::automatic,
                                      .deterministic = true};
      auto together = simulation_of<TypeParam>(copy_of(start), options);
      auto apart = simulation_of<TypeParam>(copy_of(start), options);
      together.advance(5);
      for (int const steps : {1, 3, 1}) apart.advance(steps);
      EXPECT_TRUE(same_bits(together.particles().position, apart.particles().position))
          << name_of(stepper);
      EXPECT_TRUE(same_bits(together.particles().momentum, apart.particles().momentum))
          << name_of(stepper);
    }
}

// What a run that is written to disk and read again does.
TYPED_TEST(Simulations, GoOnFromTheirParticlesWithTheSameBits) {
  auto const start = universe<TypeParam>(10);
  for (Stepper const stepper : steppers) {
    SimulationOptions const options{
        .scale_factors = scale_factors(0.1, 0.7, 5), .stepper = stepper, .deterministic = true};
    auto whole = simulation_of<TypeParam>(copy_of(start), options);
    whole.advance(2);
    auto const half_way = copy_of(whole.particles());
    whole.advance(3);
    auto second = simulation_of<TypeParam>(half_way, options, 2);
    EXPECT_EQ(second.steps_done(), 2);
    EXPECT_EQ(second.a(), options.scale_factors[2]);
    second.advance(3);
    EXPECT_TRUE(same_bits(whole.particles().position, second.particles().position));
    EXPECT_TRUE(same_bits(whole.particles().momentum, second.particles().momentum));
  }
}

TYPED_TEST(Simulations, KeepTheTotalMomentum) {
  for (Stepper const stepper : steppers)
    for (auto const& [assignment, source] :
         {std::pair{mesh::Assignment::cic, nbody::ForceSource::vectors},
          std::pair{mesh::Assignment::cic, nbody::ForceSource::potential},
          std::pair{mesh::Assignment::pcs, nbody::ForceSource::vectors},
          std::pair{mesh::Assignment::pcs, nbody::ForceSource::potential}}) {
      auto simulation = simulation_of<TypeParam>(universe<TypeParam>(16),
                                                 {.scale_factors = scale_factors(0.1, 1, 6),
                                                  .stepper = stepper,
                                                  .assignment = assignment,
                                                  .force_source = source});
      simulation.advance(6);
      double sum[3] = {}, sizes = 0;
      for (auto const& p : vectors_of(simulation.particles().momentum))
        for (int d = 0; d < 3; ++d) sum[d] += p[d], sizes += std::abs(p[d]);
      EXPECT_GT(sizes, 0);
      // Each of six kicks rounds the momenta and forces of single particles; these errors are
      // independent, and 16 eps is what they would add to if a hundredth of them weren't.
      for (double const total : sum)
        EXPECT_LE(std::abs(total), 16 * eps<TypeParam>() * sizes) << name_of(source);
    }
}

TYPED_TEST(Simulations, KeepParticlesInTheBox) {
  using T = typename TypeParam::Real;
  std::int64_t const side = 12;
  for (Stepper const stepper : steppers) {
    auto simulation = simulation_of<TypeParam>(
        universe<TypeParam>(side), {.scale_factors = scale_factors(0.1, 1, 3), .stepper = stepper});
    for (int s = 0; s < 3; ++s) {
      simulation.advance(1);
      auto const x =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, simulation.particles().position);
      for (std::size_t i = 0; i < x.extent(0); ++i)
        for (int d = 0; d < 3; ++d) {
          ASSERT_GE(x(i, d), T(0));
          ASSERT_LT(x(i, d), static_cast<T>(3.0 * side));
        }
    }
  }
}

namespace {

/// How much a long wave has grown, over what linear theory says.
template <class Case>
double growth_of_a_long_wave(SimulationOptions options) {
  double const box = 100, from = 0.1, to = 0.6;
  auto const& growth = lcdm().growth();
  options.scale_factors = scale_factors(from, to, 8);
  auto simulation =
      simulation_of<Case>(coir::testing::particles_of<typename Case::Exec, typename Case::Real>(
                              {{{0, 1, 0}, 0.1}}, 16, box, lcdm(), from, 2),
                          options);
  auto const amplitude = [&] {
    return std::abs(mode_of(vectors_of(simulation.particles().position), box, {0, 1, 0}));
  };
  double const before = amplitude();
  simulation.advance(8);
  return amplitude() / before * growth.d1(from) / growth.d1(to);
}

}  // namespace

// The window of cic takes (2 pi / 16)^2 / 6 = 2.6 % off the force of this wave, and the growth from
// 0.1 to 0.6 by about as much; 3_2 half as much again, windows of higher order up to twice,
// softenings up to (2 pi / 16 r)^2 / 2 with r = 1.25 sqrt(2).
TYPED_TEST(Simulations, GrowWavesByLinearTheory) {
  for (Stepper const stepper : steppers)
    EXPECT_NEAR(growth_of_a_long_wave<TypeParam>({.stepper = stepper}), 1, 0.035)
        << name_of(stepper);
  for (double const ratio : {1.5, 2.0})
    EXPECT_NEAR(growth_of_a_long_wave<TypeParam>({.mesh_ratio = ratio}), 1, 0.02) << ratio;
  for (auto const kernel :
       {mesh::ForceKernel::naive, mesh::ForceKernel::three_four, mesh::ForceKernel::five_four,
        mesh::ForceKernel::three_two, mesh::ForceKernel::eastwood, mesh::ForceKernel::gadget})
    EXPECT_NEAR(growth_of_a_long_wave<TypeParam>({.kernel = kernel}), 1, 0.05) << name_of(kernel);
  for (auto const assignment : {mesh::Assignment::tsc, mesh::Assignment::pcs})
    EXPECT_NEAR(growth_of_a_long_wave<TypeParam>({.assignment = assignment}), 1, 0.07)
        << static_cast<int>(assignment);
  for (auto const softening : {mesh::Softening::two_thirds, mesh::Softening::gaussian,
                               mesh::Softening::gadget, mesh::Softening::steep})
    EXPECT_NEAR(growth_of_a_long_wave<TypeParam>({.softening = softening}), 1, 0.25)
        << name_of(softening);
}

TYPED_TEST(Simulations, InFloatAreThoseInDouble) {
  using Double = coir::testing::Case<typename TypeParam::Exec, double>;
  std::int64_t const side = 12;
  double const box = 3.0 * side;
  for (Stepper const stepper : steppers) {
    SimulationOptions const options{.scale_factors = scale_factors(0.1, 0.6, 5),
                                    .stepper = stepper};
    auto simulation = simulation_of<TypeParam>(universe<TypeParam>(side), options);
    auto in_double = simulation_of<Double>(universe<Double>(side), options);
    simulation.advance(5);
    in_double.advance(5);
    // Positions start with roundings of eps box / 2, which grow as differences in a collapse do, by
    // a hundred times or so.
    EXPECT_LE(largest_distance(vectors_of(simulation.particles().position),
                               vectors_of(in_double.particles().position), box),
              100 * eps<TypeParam>() * box)
        << name_of(stepper);
  }
}

TYPED_TEST(Simulations, PaintTheirDensity) {
  for (double const ratio : {1.0, 1.5}) {
    auto simulation = simulation_of<TypeParam>(universe<TypeParam>(8),
                                               {.scale_factors = {0.1, 0.2}, .mesh_ratio = ratio});
    simulation.advance(1);
    simulation.paint_density();
    auto const n = simulation.force().shape()[0];
    EXPECT_EQ(n, ratio == 1 ? 8 : 12);
    auto const spectrum =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, simulation.force().spectrum());
    auto const density = fft::real_view_of(spectrum, n);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < n; ++k) sum += density(i, j, k);
    double const cells = static_cast<double>(n * n * n);
    EXPECT_NEAR(sum / cells, 1, 16 * eps<TypeParam>());
  }
}

TYPED_TEST(Simulations, GoOnAsBeforeAfterTheirDensityIsPainted) {
  SimulationOptions const options{.scale_factors = {0.1, 0.2, 0.3}, .deterministic = true};
  auto plain = simulation_of<TypeParam>(universe<TypeParam>(8), options);
  auto painted = simulation_of<TypeParam>(universe<TypeParam>(8), options);
  plain.advance(1);
  plain.advance(1);
  painted.advance(1);
  painted.paint_density();
  painted.advance(1);
  EXPECT_TRUE(same_bits(plain.particles().position, painted.particles().position));
}

TYPED_TEST(Simulations, GoOnAsBeforeAfterOthersWriteToTheirMesh) {
  for (Stepper const stepper : steppers) {
    SimulationOptions const options{
        .scale_factors = {0.1, 0.2, 0.3}, .stepper = stepper, .deterministic = true};
    auto plain = simulation_of<TypeParam>(universe<TypeParam>(8), options);
    auto written = simulation_of<TypeParam>(universe<TypeParam>(8), options);
    plain.advance(1);
    plain.advance(1);
    written.advance(1);
    Kokkos::deep_copy(written.force().memory(), typename TypeParam::Real(5));
    written.advance(1);
    EXPECT_TRUE(same_bits(plain.particles().position, written.particles().position));
    EXPECT_TRUE(same_bits(plain.particles().momentum, written.particles().momentum));
  }
}

TYPED_TEST(Simulations, SayWhereTheTimeWent) {
  for (Stepper const stepper : {Stepper::fastpm, Stepper::bullfrog}) {
    auto simulation = simulation_of<TypeParam>(
        universe<TypeParam>(8), {.scale_factors = scale_factors(0.1, 0.5, 2), .stepper = stepper});
    auto before = simulation.seconds();
    EXPECT_EQ(before.paint + before.fft + before.readout + before.push + before.sort, 0);
    for (int s = 0; s < 2; ++s) {
      simulation.advance(1);
      auto const after = simulation.seconds();
      EXPECT_GT(after.paint, before.paint);
      EXPECT_GT(after.fft, before.fft);
      EXPECT_GT(after.readout, before.readout);
      if (stepper == Stepper::bullfrog) {
        EXPECT_GT(after.push, before.push);
      }
      before = after;
    }
  }
}

TYPED_TEST(Simulations, FindWhatIsNoNumberAndNameTheStep) {
  std::int64_t const side = 6;
  for (bool const deterministic : {false, true})
    for (Stepper const stepper : steppers)
      for (double const bad : {NAN, INFINITY}) {
        auto particles = universe<TypeParam>(side);
        SimulationOptions const options{.scale_factors = scale_factors(0.1, 0.6, 5),
                                        .stepper = stepper,
                                        .deterministic = deterministic};
        auto simulation = simulation_of<TypeParam>(particles, options);
        simulation.advance(2);
        auto const momentum =
            Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.momentum);
        momentum(77, 1) = static_cast<typename TypeParam::Real>(bad);
        Kokkos::deep_copy(particles.momentum, momentum);
        std::string const text = message_of<NumericalError>([&] { simulation.advance(3); });
        EXPECT_EQ(text,
                  "the force isn't a number in step 3, at a = 0.3: a position or momentum has "
                  "overflowed or is no number, or a particle moves by more than 4096 boxes at once")
            << name_of(stepper);
      }
}

TYPED_TEST(Simulations, StopWhereTheirCallerWants) {
  auto simulation = simulation_of<TypeParam>(universe<TypeParam>(6),
                                             {.scale_factors = scale_factors(0.1, 0.5, 4)});
  EXPECT_THROW(simulation.advance(4,
                                  [](int step) {
                                    if (step == 2) throw std::runtime_error("enough");
                                  }),
               std::runtime_error);
  EXPECT_EQ(simulation.steps_done(), 2);
}

TYPED_TEST(Simulations, CheckTheirOptions) {
  auto const message = [](SimulationOptions const& options, int first = 0) {
    return message_of([&] {
      simulation_of<TypeParam>(lattice<typename TypeParam::Exec, typename TypeParam::Real>(4, 10),
                               options, first);
    });
  };
  EXPECT_EQ(message({}), "a simulation needs at least two scale factors, not 0");
  EXPECT_EQ(message({.scale_factors = {0.5}}),
            "a simulation needs at least two scale factors, not 1");
  EXPECT_EQ(message({.scale_factors = {0.5, 0.4}}),
            "scale factors must be above 0 and rise; number 1 must be above 0.5, not 0.4");
  EXPECT_EQ(message({.scale_factors = {0.5, 0.6, 0.6}}),
            "scale factors must be above 0 and rise; number 2 must be above 0.6, not 0.6");
  EXPECT_EQ(message({.scale_factors = {0, 0.6}}),
            "scale factors must be above 0 and rise; number 0 must be above 0, not 0");
  EXPECT_EQ(message({.scale_factors = {0.5, NAN}}),
            "scale factors must be above 0 and rise; number 1 must be above 0.5, not nan");
  EXPECT_EQ(message({.scale_factors = {0.5, 1}, .mesh_ratio = 0.4}),
            "the mesh ratio must be in [0.5, 4], not 0.4");
  EXPECT_EQ(message({.scale_factors = {0.5, 1}, .mesh_ratio = 4.5}),
            "the mesh ratio must be in [0.5, 4], not 4.5");
  EXPECT_EQ(message({.scale_factors = {0.5, 1}, .mesh_ratio = NAN}),
            "the mesh ratio must be in [0.5, 4], not nan");
  EXPECT_EQ(message({.scale_factors = {0.5, 1}}, 2),
            "the first step must be one of the 2 scale factors, not 2");
  EXPECT_EQ(message({.scale_factors = {0.5, 1}}, -1),
            "the first step must be one of the 2 scale factors, not -1");
}

TYPED_TEST(Simulations, CheckTheirParticles) {
  TYPES_OF_CASE;
  SimulationOptions const options{.scale_factors = {0.5, 1}};
  auto particles = lattice<Exec, T>(4, 10);
  particles.side = 5;
  EXPECT_EQ(message_of([&] { simulation_of<TypeParam>(particles, options); }),
            "positions and momenta must be 125, the cube of the particles along a side, not 64");
  particles.side = 0;
  EXPECT_EQ(message_of([&] { simulation_of<TypeParam>(particles, options); }),
            "there must be at least one particle along a side, not 0");
  EXPECT_EQ(message_of([&] { simulation_of<TypeParam>(lattice<Exec, T>(4, -1), options); }),
            "the box length must be positive and finite, not -1");
}

TYPED_TEST(Simulations, MakeOnlyTheStepsThatAreLeft) {
  auto simulation =
      simulation_of<TypeParam>(lattice<typename TypeParam::Exec, typename TypeParam::Real>(4, 10),
                               {.scale_factors = {0.1, 0.2, 0.3}});
  EXPECT_EQ(message_of([&] { simulation.advance(3); }),
            "the steps to make must be from 0 to the 2 that are left, not 3");
  EXPECT_EQ(message_of([&] { simulation.advance(-1); }),
            "the steps to make must be from 0 to the 2 that are left, not -1");
  simulation.advance(2);
  EXPECT_EQ(message_of([&] { simulation.advance(1); }),
            "the steps to make must be from 0 to the 0 that are left, not 1");
  // Growth is known from a = 1e-3 to 1.
  auto beyond =
      simulation_of<TypeParam>(lattice<typename TypeParam::Exec, typename TypeParam::Real>(4, 10),
                               {.scale_factors = {0.9, 1.2}});
  EXPECT_NE(message_of([&] { beyond.advance(1); }).find("a_min and a_max"), std::string::npos);
}

TYPED_TEST(Simulations, SayHowMuchMemoryTheyLack) {
  using Lattice = Particles<typename TypeParam::Exec, typename TypeParam::Real>;
  // So many particles that nobody touches, for the mesh of their forces can't be had.
  Lattice many{32768, 10, {}, {}};
  typename TypeParam::Real nothing[3]{};
  many.position = typename Lattice::Vectors(nothing, static_cast<std::size_t>(many.total()));
  many.momentum = many.position;
  std::string const text = message_of<ResourceError>([&] {
    simulation_of<TypeParam>(many,
                             {.scale_factors = {0.5, 1}, .mesh_ratio = 1, .deterministic = true});
  });
  EXPECT_NE(text.find("the force on a mesh of (32768, 32768, 32768) cells"), std::string::npos)
      << text;
}

// Where forces are read from changes roundings alone, by about eps of the box in a step. How these
// grow is seen in a universe whose particles begin a rounding away from where they are: they
// attract each other, and where a weight of painting is rounded to another whole part of a
// particle, more than eps moves. Five steps make ten such roundings at most, in positions and in
// momenta.
TYPED_TEST(Simulations, AreTheSameWithoutAMeshOfForces) {
  std::int64_t const side = 12;
  auto const start = universe<TypeParam>(side), nudged = nudged_by(eps<TypeParam>(), start);
  double const part = std::ldexp(1, sizeof(typename TypeParam::Real) == 4 ? -18 : -40);
  auto const moved = [&](auto const& from, SimulationOptions options, nbody::ForceSource source) {
    options.scale_factors = scale_factors(0.1, 0.6, 5);
    options.deterministic = true;
    options.force_source = source;
    auto simulation = simulation_of<TypeParam>(copy_of(from), options);
    simulation.advance(5);
    return vectors_of(simulation.particles().position);
  };
  for (SimulationOptions const& options :
       {SimulationOptions{}, SimulationOptions{.stepper = Stepper::bullfrog, .mesh_ratio = 1.5},
        SimulationOptions{.kernel = mesh::ForceKernel::three_two,
                          .assignment = mesh::Assignment::tsc},
        SimulationOptions{.stepper = Stepper::bullfrog, .kernel = mesh::ForceKernel::naive},
        SimulationOptions{.mesh_ratio = 2,
                          .kernel = mesh::ForceKernel::gadget,
                          .assignment = mesh::Assignment::pcs}}) {
    auto const vectors = moved(start, options, nbody::ForceSource::vectors);
    double const grown =
        largest_distance(moved(nudged, options, nbody::ForceSource::vectors), vectors, start.box);
    EXPECT_LE(
        largest_distance(moved(start, options, nbody::ForceSource::potential), vectors, start.box),
        10 * grown)
        << name_of(options.kernel);
    EXPECT_LE(grown, 10 * part * start.box) << name_of(options.kernel);
  }
}

// 40 bytes per particle in float and three meshes.
TYPED_TEST(Simulations, KeepWithinTheirMemory) {
  using T = typename TypeParam::Real;
  typename TypeParam::Exec const exec;
  for (std::int64_t const side : {128, 256})
    for (double const ratio : {1.0, 1.5, 2.0, 3.0})
      for (auto const kernel : {mesh::ForceKernel::one_four, mesh::ForceKernel::naive})
        for (auto const source : {nbody::ForceSource::automatic, nbody::ForceSource::potential}) {
          SimulationOptions const options{.scale_factors = {0.1, 1},
                                          .mesh_ratio = ratio,
                                          .kernel = kernel,
                                          .force_source = source};
          auto const n = SimulationOf<TypeParam>::mesh_side(side, options);
          double const particles = std::pow(static_cast<double>(side), 3);
          double const meshes = 3 * std::pow(static_cast<double>(n), 3) * sizeof(T);
          fft::PlanOptions const plan{.in_place = true};
          double const work = static_cast<double>(
              fft::RealPlan<typename TypeParam::Exec, T, 3>::work_bytes(exec, {n, n, n}, 1, plan));
          EXPECT_LE(
              static_cast<double>(SimulationOf<TypeParam>::bytes(exec, {}, side, options).stepping),
              10 * sizeof(T) * particles + meshes + work)
              << ratio << " " << name_of(kernel) << " " << name_of(source);
        }
}

// Views are counted, and what transforms work in is none. On devices Kokkos has memory of its own
// for reductions.
TYPED_TEST(Simulations, HoldWhatIsPredictedWhateverTheirOptions) {
  TYPES_OF_CASE;
  std::int64_t const side = 20, of_momenta = 3 * side * side * side * std::int64_t(sizeof(T));
  auto const start = universe<TypeParam>(side);
  auto const expect_prediction = [&](SimulationOptions const& options) {
    std::string const which =
        std::string(name_of(options.stepper)) + " " + std::string(name_of(options.kernel)) + " " +
        std::string(name_of(options.force_source)) + " " + std::to_string(options.mesh_ratio) +
        (options.deterministic ? " deterministic" : "") +
        (options.reversible ? " reversible" : "") +
        (options.keep_potentials ? " keep_potentials" : "");
    bool const is_bullfrog = options.stepper == Stepper::bullfrog;
    auto const n = SimulationOf<TypeParam>::mesh_side(side, options);
    // One for each step, and where kicks are at both ends of steps one more.
    std::int64_t const potentials = options.keep_potentials ? (is_bullfrog ? 3 : 4) : 0;
    std::int64_t const kept = potentials * n * n * 2 * (n / 2 + 1) * std::int64_t(sizeof(T)) +
                              (options.reversible && is_bullfrog ? of_momenta : 0);
    auto const held_by = SimulationOf<TypeParam>::bytes(Exec{}, {}, side, options);
    std::int64_t const predicted = held_by.stepping;
    std::int64_t const work = fft::RealPlan<Exec, T, 3>::work_bytes(
        Exec{}, {n, n, n}, 1,
        {.in_place = true, .effort = fft::Effort::estimate, .by_planes = true});
    std::int64_t const of_kokkos = runs_on_host<Exec> ? 0 : 1 << 20;
    MemoryPool<typename Exec::memory_space>::release();
    coir::testing::HeldMemory held;
    auto simulation = simulation_of<TypeParam>(copy_of(start), options);
    simulation.advance(3);
    MemoryPool<typename Exec::memory_space>::release();  // what a device keeps
    EXPECT_LE(held.now(), predicted + kept + of_kokkos) << which;
    EXPECT_GE(held.now(), predicted + kept - work) << which;
    if (!options.reversible) return;
    auto const cotangents = copy_of(simulation.particles());
    held.forget_peak();
    simulation.pull_back({cotangents.position, cotangents.momentum});
    std::int64_t const with_adjoint = predicted + kept + held_by.pull_back;
    EXPECT_LE(held.peak(), with_adjoint + of_kokkos) << which;
    EXPECT_GE(held.peak(), with_adjoint - work) << which;
    // And the cotangents alone.
    MemoryPool<typename Exec::memory_space>::release();
    EXPECT_LE(held.now(), predicted + 2 * of_momenta + of_kokkos) << which;
  };
  // BullFrog's first step forgets momenta: see WorksAcrossStepsThatForgetMomenta in
  // reverse_test.cpp.
  SimulationOptions options{.scale_factors = {0.1, 0.325, 0.7, 1}, .deterministic = true};
  for (auto const kernel : {mesh::ForceKernel::one_four, mesh::ForceKernel::naive}) {
    options.kernel = kernel;
    for (double const ratio : {1.0, 1.5})
      for (auto const source : {nbody::ForceSource::automatic, nbody::ForceSource::vectors,
                                nbody::ForceSource::potential}) {
        options.mesh_ratio = ratio;
        options.force_source = source;
        expect_prediction(options);
      }
    auto reversible = options;
    reversible.force_source = nbody::ForceSource::automatic;
    reversible.reversible = true;
    for (Stepper const stepper : {Stepper::fastpm, Stepper::bullfrog})
      for (bool const deterministic : {false, true})
        for (bool const keeps : {false, true}) {
          reversible.stepper = stepper;
          reversible.deterministic = deterministic;
          reversible.keep_potentials = keeps;
          expect_prediction(reversible);
        }
  }
}

// From 48 particles along a side on they are kept in the order of the mesh between steps.
TYPED_TEST(Simulations, KeepParticlesApartWhileTheyAreInTheOrderOfTheMesh) {
  std::int64_t const side = 48;
  int const steps = 16;  // in which hosts sort twice
  auto const start = universe<TypeParam>(side);
  for (auto const& [stepper, source] :
       {std::pair{Stepper::fastpm, nbody::ForceSource::vectors},
        std::pair{Stepper::bullfrog, nbody::ForceSource::potential}}) {
    SimulationOptions const options{.scale_factors = scale_factors(0.1, 0.5, steps),
                                    .stepper = stepper,
                                    .force_source = source,
                                    .deterministic = true};
    MemoryPool<typename TypeParam::Exec::memory_space>::release();  // or a simulation would do it
    coir::testing::HeldMemory const held;
    auto together = simulation_of<TypeParam>(copy_of(start), options);
    std::int64_t const predicted =
        SimulationOf<TypeParam>::bytes(typename TypeParam::Exec{}, {}, side, options).stepping;
    together.advance(steps);
    EXPECT_LE(held.now(), predicted + (1 << 20));
    EXPECT_GE(held.now(), predicted * 8 / 10);
    auto one_by_one = simulation_of<TypeParam>(copy_of(start), options);
    for (int s = 0; s < steps; ++s) one_by_one.advance(1);  // which doesn't pay to sort for
    EXPECT_GT(together.seconds().sort, 0);
    EXPECT_EQ(one_by_one.seconds().sort, 0);
    EXPECT_TRUE(same_bits(together.particles().position, one_by_one.particles().position))
        << name_of(stepper);
    EXPECT_TRUE(same_bits(together.particles().momentum, one_by_one.particles().momentum))
        << name_of(stepper);
  }
}

COIR_DOUBLE_SUITE(SimulationsInDouble);

// Longer versions of these are in validation_test.cpp.
TYPED_TEST(SimulationsInDouble, ConvergeWithTheSquareOfTheStep) {
  std::int64_t const side = 12;
  auto const start = universe<TypeParam>(side);
  for (Stepper const stepper : steppers) {
    std::vector<coir::testing::Vectors> x;
    for (int const steps : {32, 64, 128}) {
      auto simulation = simulation_of<TypeParam>(
          copy_of(start),
          {.scale_factors = scale_factors(0.1, 0.4, steps), .stepper = stepper, .mesh_ratio = 1});
      simulation.advance(steps);
      x.push_back(vectors_of(simulation.particles().position));
    }
    double const coarse = coir::testing::rms_distance(x[0], x[1], 3.0 * side),
                 fine = coir::testing::rms_distance(x[1], x[2], 3.0 * side);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.05) << name_of(stepper);
  }
}

// Exact for a plane wave until caustics form, at an amplitude of 1.
TYPED_TEST(SimulationsInDouble, FollowTheZeldovichApproximationOfAPlaneWave) {
  using Exec = typename TypeParam::Exec;
  double const box = 32;
  auto const wave = [&](double a) {
    return coir::testing::particles_of<Exec, double>({{{0, 1, 0}, 1}}, 32, box, matter_alone(), a,
                                                     1);
  };
  Simulation<Exec, double> simulation(Exec{}, wave(0.1), matter_alone().growth(),
                                      {.scale_factors = scale_factors(0.1, 0.8, 20),
                                       .mesh_ratio = 2,
                                       .assignment = mesh::Assignment::tsc});
  simulation.advance(20);
  auto const exact = vectors_of(wave(0.8).position);
  auto const q = vectors_of(lattice<Exec, double>(32, box).position);
  double const size = coir::testing::rms_distance(exact, q, box);
  EXPECT_LE(coir::testing::rms_distance(vectors_of(simulation.particles().position), exact, box),
            0.01 * size);
}

// What the test below runs on several numbers of threads, from noise to moved particles. Of 48
// along a side they are sorted on the way; without a mesh of forces they come into their order in
// another way.
TEST(SimulationsOnHost, PrintADigestOfTheirBits) {
  coir::testing::Digest digest;
  auto const add = [&]<class T>(T, std::int64_t side, Stepper stepper, nbody::ForceSource source) {
    using Case = coir::testing::Case<coir::testing::Host, T>;
    auto simulation =
        simulation_of<Case>(universe<Case>(side, 0.3), {.scale_factors = scale_factors(0.3, 0.7, 9),
                                                        .stepper = stepper,
                                                        .force_source = source,
                                                        .deterministic = true});
    simulation.advance(9);
    digest.add(simulation.particles().position);
    digest.add(simulation.particles().momentum);
  };
  using nbody::ForceSource;
  for (auto const stepper : {Stepper::fastpm, Stepper::bullfrog}) {
    add(float(), 13, stepper, ForceSource::potential);
    add(double(), 13, stepper, ForceSource::vectors);
  }
  add(float(), 48, Stepper::fastpm, ForceSource::vectors);
  add(double(), 48, Stepper::fastpm, ForceSource::potential);
  digest.print();
}

TEST(SimulationsOnHost, HaveTheSameBitsForAnyThreadCount) {
  coir::testing::expect_same_digests("SimulationsOnHost.PrintADigestOfTheirBits");
}
