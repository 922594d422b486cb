#include <coir/nbody/detail/particle_mover.hpp>

#include <nbody/universe.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <array>
#include <cmath>
#include <limits>

using namespace coir;
using coir::testing::copy_of;
using coir::testing::lattice;
using coir::testing::lcdm;
using coir::testing::vectors_of;
using nbody::Particles;
using nbody::PhaseSeconds;
using nbody::SimulationOptions;
using nbody::detail::ParticleState;

namespace {

constexpr std::int64_t side = 10;
constexpr double length = 30;

template <class Case>
using MoverOf = nbody::detail::ParticleMover<typename Case::Exec, typename Case::Real>;
template <class Case>
using ParticlesOf = Particles<typename Case::Exec, typename Case::Real>;

template <class Case>
MoverOf<Case> mover_of(SimulationOptions const& options = {}) {
  return MoverOf<Case>({}, {}, side, length, side, options, 0.3);
}

template <class Case>
ParticlesOf<Case> universe() {
  return nbody::initial_conditions<typename Case::Exec, typename Case::Real>(
      typename Case::Exec{}, side, length, lcdm(), 0.3);
}

/// The same particles, the last one first.
template <class Case>
ParticlesOf<Case> reversed(ParticlesOf<Case> const& particles) {
  auto turned = copy_of(particles);
  std::array const vectors{std::pair{particles.position, turned.position},
                           std::pair{particles.momentum, turned.momentum}};
  for (auto const& [from, to] : vectors) {
    auto const from_h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, from);
    auto const to_h = Kokkos::create_mirror(to);
    std::size_t const last = from_h.extent(0) - 1;
    for (std::size_t p = 0; p <= last; ++p)
      for (int d = 0; d < 3; ++d) to_h(p, d) = from_h(last - p, d);
    Kokkos::deep_copy(to, to_h);
  }
  return turned;
}

}  // namespace

template <class Case>
class Movers : public ::testing::Test {};
TYPED_TEST_SUITE(Movers, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(Movers, DriftThroughTheBordersOfTheBox) {
  using T = typename TypeParam::Real;
  auto const particles = lattice<typename TypeParam::Exec, T>(side, length, {1, 0, -2});
  auto const before = vectors_of(particles.position);
  auto mover = mover_of<TypeParam>();
  ParticleState state;
  PhaseSeconds seconds;
  mover.drift(particles, state, 4, seconds);
  auto const after = vectors_of(particles.position);
  for (std::size_t p = 0; p < after.size(); ++p) {
    EXPECT_EQ(after[p][0], std::fmod(before[p][0] + 4, length));
    EXPECT_EQ(after[p][1], before[p][1]);
    EXPECT_EQ(after[p][2], std::fmod(before[p][2] - 8 + length, length));
  }
  EXPECT_GT(seconds.push, 0);
}

TYPED_TEST(Movers, KnowWhetherTheirForceIsThatOfTheParticles) {
  for (auto const source : {nbody::ForceSource::vectors, nbody::ForceSource::potential}) {
    auto const particles = universe<TypeParam>();
    auto mover = mover_of<TypeParam>({.force_source = source});
    ParticleState state;
    PhaseSeconds seconds;
    auto const find = [&] { mover.find_force(particles, state, seconds); };
    EXPECT_FALSE(state.has_force);
    find();
    EXPECT_TRUE(state.has_force);
    mover.drift(particles, state, 0, seconds);  // moves nothing
    mover.kick_and_drift(particles, state, {.kick = 0.1}, seconds);
    EXPECT_TRUE(state.has_force);
    mover.kick_and_drift(particles, state, {.kick = 0.1, .drift_after = 0.1}, seconds);
    EXPECT_FALSE(state.has_force);
    find();
    mover.drift(particles, state, 0.1, seconds);
    EXPECT_FALSE(state.has_force);
    find();
    mover.paint_density(particles, state);
    EXPECT_FALSE(state.has_force);
    find();
    auto const lent = mover.lend_meshes(state);
    EXPECT_FALSE(state.has_force);
    EXPECT_EQ(lent.vectors != nullptr, source == nbody::ForceSource::vectors);
    EXPECT_EQ(lent.numbers != nullptr, source == nbody::ForceSource::potential);
  }
}

TYPED_TEST(Movers, KickInProportionToTheForce) {
  using T = typename TypeParam::Real;
  for (auto const source : {nbody::ForceSource::vectors, nbody::ForceSource::potential})
    for (auto const kernel :
         {mesh::ForceKernel::one_four, mesh::ForceKernel::three_two, mesh::ForceKernel::naive}) {
      auto const particles = universe<TypeParam>();
      auto mover = mover_of<TypeParam>({.kernel = kernel, .force_source = source});
      ParticleState state;
      PhaseSeconds seconds;
      mover.find_force(particles, state, seconds);
      auto const before = vectors_of(particles.momentum), at = vectors_of(particles.position);
      mover.kick_and_drift(particles, state, {.keep = 0, .kick = 1}, seconds);
      auto const force = vectors_of(particles.momentum);
      mover.kick_and_drift(particles, state, {.keep = -2, .kick = 0.5}, seconds);
      auto const after = vectors_of(particles.momentum);
      double sizes = 0;
      for (std::size_t p = 0; p < after.size(); ++p)
        for (int d = 0; d < 3; ++d) {
          sizes += std::abs(force[p][d]);
          EXPECT_NEAR(after[p][d], -1.5 * force[p][d],
                      8 * std::numeric_limits<T>::epsilon() * std::abs(force[p][d]))
              << name_of(source) << " " << name_of(kernel);
        }
      EXPECT_GT(sizes, 0);
      EXPECT_EQ(vectors_of(particles.position), at);
    }
}

// What lets a simulation sort its particles whenever that pays.
TYPED_TEST(Movers, GiveTheSameBitsInAnyOrderOfTheParticles) {
  for (auto const source : {nbody::ForceSource::vectors, nbody::ForceSource::potential}) {
    auto const particles = universe<TypeParam>(), turned = reversed<TypeParam>(particles);
    for (auto const& set : {particles, turned}) {
      auto mover = mover_of<TypeParam>({.force_source = source, .deterministic = true});
      ParticleState state;
      PhaseSeconds seconds;
      mover.find_force(set, state, seconds);
      mover.kick_and_drift(set, state, {.kick = 2, .drift_after = 0.5}, seconds);
    }
    auto const back = reversed<TypeParam>(turned);
    EXPECT_EQ(vectors_of(particles.position), vectors_of(back.position));
    EXPECT_EQ(vectors_of(particles.momentum), vectors_of(back.momentum));
  }
}

TYPED_TEST(Movers, SeeWhatIsNoNumber) {
  for (bool const deterministic : {false, true}) {
    auto const particles = universe<TypeParam>();
    auto mover = mover_of<TypeParam>({.deterministic = deterministic});
    ParticleState state;
    PhaseSeconds seconds;
    mover.find_force(particles, state, seconds);
    EXPECT_TRUE(mover.force_is_finite(particles));
    auto const x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.position);
    x(78, 0) -= static_cast<typename TypeParam::Real>(particles.box);  // the box is periodic
    Kokkos::deep_copy(particles.position, x);
    mover.find_force(particles, state, seconds);
    EXPECT_TRUE(mover.force_is_finite(particles)) << deterministic;
    using Limits = std::numeric_limits<typename TypeParam::Real>;
    for (auto const lost : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
      x(77, 1) = lost;
      Kokkos::deep_copy(particles.position, x);
      mover.find_force(particles, state, seconds);
      EXPECT_FALSE(mover.force_is_finite(particles)) << deterministic << ' ' << lost;
    }
  }
}

TYPED_TEST(Movers, CheckTheirBox) {
  EXPECT_EQ(coir::testing::message_of([] { MoverOf<TypeParam>({}, {}, side, 0, side, {}, 0.3); }),
            "the box length must be positive and finite, not 0");
}
