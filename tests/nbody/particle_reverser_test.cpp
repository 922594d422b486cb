#include <coir/fft/in_place.hpp>
#include <coir/nbody/detail/particle_reverser.hpp>

#include <nbody/scattered.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace coir;
using coir::testing::copy_of;
using coir::testing::fill;
using coir::testing::message_of;
using coir::testing::same_bits;
using coir::testing::scattered;
using coir::testing::vectors_of;
using mesh::Assignment;
using nbody::Cotangents;
using nbody::Move;
using nbody::Particles;
using nbody::detail::FactorSlopes;
using nbody::detail::MadeMove;

namespace {

constexpr double length = 10;
constexpr std::int64_t mesh_side = 5;

template <class Case>
using ReverserOf = nbody::detail::ParticleReverser<typename Case::Exec, typename Case::Real>;
template <class Case>
using ForceOf = mesh::Force<typename Case::Exec, typename Case::Real>;
template <class Case>
using ParticlesOf = Particles<typename Case::Exec, typename Case::Real>;

template <class Case>
ReverserOf<Case> reverser_of(Assignment assignment = Assignment::cic) {
  return ReverserOf<Case>({}, length, 16, assignment);
}

/// A mesh of any forces from -1 to 1.
template <class Case>
ForceOf<Case> any_force() {
  ForceOf<Case> force(typename Case::Exec{}, {mesh_side, mesh_side, mesh_side}, length);
  fill(force.force(), -1, 1, 3);
  return force;
}

constexpr std::array<double, 3> one_force{0.5, -0.25, 1};

/// A mesh of one force.
template <class Case>
ForceOf<Case> constant_force() {
  ForceOf<Case> force(typename Case::Exec{}, {mesh_side, mesh_side, mesh_side}, length);
  auto const host = Kokkos::create_mirror_view(force.force());
  for (std::size_t c = 0; c < host.size(); ++c)
    host.data()[c] = static_cast<typename Case::Real>(one_force[c % 3]);
  Kokkos::deep_copy(force.force(), host);
  return force;
}

template <class P>
bool same_particles(P const& a, P const& b) {
  return same_bits(a.position, b.position) && same_bits(a.momentum, b.momentum);
}

/// Makes a move of particles whose momenta are held.
template <class Case>
MadeMove make(ReverserOf<Case>& reverser, ForceOf<Case> const& force,
              ParticlesOf<Case> const& particles, Move const& move,
              std::uint32_t const* site = nullptr) {
  auto made = reverser.begin(move);
  made.step = 4;
  reverser.drift(particles, move.drift_before, made.scale, false);
  reverser.kick_and_drift(force, particles, site, made);
  return made;
}

template <class Case>
void undo(ReverserOf<Case>& reverser, ForceOf<Case> const& force,
          ParticlesOf<Case> const& particles, MadeMove const& made,
          std::uint32_t const* site = nullptr) {
  reverser.drift(particles, made.move.drift_after, made.scale_after, true);
  reverser.undo_kick(force, particles, site, made, made.move.drift_before);
}

/// Kicks and drifts, moves that multiply momenta, and one that forgets them, which are stored before.
constexpr Move moves[] = {{.drift_before = 0.3, .keep = 1, .kick = 0.7, .drift_after = -0.2},
                          {.drift_before = 0.1, .keep = 0.6, .kick = 0.4, .drift_after = 0.5},
                          {.drift_before = -0.4, .keep = -0.5, .kick = 0, .drift_after = 0.1},
                          {.drift_before = 0.2, .keep = 0.001, .kick = 0.9, .drift_after = 0.3},
                          {.drift_before = 0, .keep = 0, .kick = 0.5, .drift_after = 0}};

template <class Case>
Cotangents<typename Case::Exec, typename Case::Real> any_cotangents(
    ParticlesOf<Case> const& particles) {
  auto const like = copy_of(particles);
  fill(like.position, -1, 1, 4);
  fill(like.momentum, -1, 1, 5);
  return {like.position, like.momentum};
}

/// Memory for an adjoint's potential, which is 0.
template <class Case>
auto no_potential() {
  return fft::allocate_in_place<typename Case::Real, typename Case::Exec::memory_space>(
      "potential", Shape<3>{mesh_side, mesh_side, mesh_side});
}

}  // namespace

template <class Case>
class ParticleReversers : public ::testing::Test {};
TYPED_TEST_SUITE(ParticleReversers, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(ParticleReversers, UndoAKickAndDriftsToTheBit) {
  for (std::int64_t const side : {1, 3, 5, 7})
    for (auto const assignment : {Assignment::cic, Assignment::tsc, Assignment::pcs})
      for (auto const& move : moves) {
        auto const force = any_force<TypeParam>();
        auto reverser = reverser_of<TypeParam>(assignment);
        auto const particles = scattered<TypeParam>(side, length);
        reverser.round(particles);
        auto const start = copy_of(particles);
        reverser.hold(particles, 1);
        auto const made = make<TypeParam>(reverser, force, particles, move);
        reverser.release(particles, nullptr);
        EXPECT_FALSE(same_particles(start, particles)) << side;
        reverser.hold(particles, made.scale_after);
        undo<TypeParam>(reverser, force, particles, made);
        reverser.release(particles, nullptr);
        EXPECT_TRUE(same_particles(start, particles)) << side;
      }
}

TYPED_TEST(ParticleReversers, UndoMovesOneAfterTheOther) {
  auto const force = any_force<TypeParam>();
  auto reverser = reverser_of<TypeParam>();
  auto const particles = scattered<TypeParam>(5, length);
  reverser.round(particles);
  auto const start = copy_of(particles);
  reverser.hold(particles, 1);
  std::vector<MadeMove> made;
  for (int times = 0; times < 3; ++times)
    for (auto const& move : moves)
      made.push_back(make<TypeParam>(reverser, force, particles, move));
  EXPECT_GE(std::count_if(made.begin(), made.end(), [](auto const& m) { return m.stored >= 0; }),
            3);
  while (!made.empty()) {
    undo<TypeParam>(reverser, force, particles, made.back());
    made.pop_back();
  }
  reverser.release(particles, nullptr);
  EXPECT_TRUE(same_particles(start, particles));
}

// Stored momenta lie in the order of the lattice, whatever that of the particles is.
TYPED_TEST(ParticleReversers, RestoreMomentaInAnotherOrder) {
  auto const force = any_force<TypeParam>();
  auto reverser = reverser_of<TypeParam>();
  auto const particles = scattered<TypeParam>(3, length);
  reverser.round(particles);
  auto const start = copy_of(particles);
  reverser.hold(particles, 1);
  auto const made = make<TypeParam>(reverser, force, particles, {.keep = 0, .kick = 0.5});
  ASSERT_EQ(made.stored, 0);
  // All particles in the opposite order.
  std::size_t const last = particles.position.extent(0) - 1;
  Kokkos::View<std::uint32_t*, typename TypeParam::Exec::memory_space> const site("site", last + 1);
  auto const site_h = Kokkos::create_mirror_view(site);
  for (std::size_t p = 0; p <= last; ++p) site_h(p) = static_cast<std::uint32_t>(last - p);
  Kokkos::deep_copy(site, site_h);
  auto const turn = [&] {
    for (auto const& vectors : std::array{particles.position, particles.momentum}) {
      auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, vectors);
      for (std::size_t p = 0; p <= last / 2; ++p)
        for (std::size_t d = 0; d < 3; ++d) std::swap(host(p, d), host(last - p, d));
      Kokkos::deep_copy(vectors, host);
    }
  };
  turn();
  undo<TypeParam>(reverser, force, particles, made, site.data());
  turn();
  reverser.release(particles, nullptr);
  EXPECT_TRUE(same_particles(start, particles));
}

TYPED_TEST(ParticleReversers, MoveAsTheMoveSays) {
  using T = typename TypeParam::Real;
  for (auto const& move : moves) {
    auto const force = constant_force<TypeParam>();
    auto reverser = reverser_of<TypeParam>();
    auto const particles = scattered<TypeParam>(3, length);
    reverser.round(particles);
    auto const x = vectors_of(particles.position), p = vectors_of(particles.momentum);
    reverser.hold(particles, 1);
    make<TypeParam>(reverser, force, particles, move);
    reverser.release(particles, nullptr);
    auto const x_after = vectors_of(particles.position), p_after = vectors_of(particles.momentum);
    // Momenta, up to 2, are rounded to T and with their factors a few times, and twice to their quantum; positions to eps of the box
    // twice.
    double const eps = std::numeric_limits<T>::epsilon(),
                 quantum = 16 / static_cast<double>(nbody::detail::most_quanta<T>);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (int d = 0; d < 3; ++d) {
        double const moved = move.keep * p[i][d] + move.kick * one_force[d];
        EXPECT_NEAR(p_after[i][d], moved, 16 * eps + quantum);
        double const to = x[i][d] + move.drift_before * p[i][d] + move.drift_after * moved;
        EXPECT_NEAR(coir::testing::wrapped(x_after[i][d] - to, length), 0, 4 * eps * length);
      }
  }
}

TYPED_TEST(ParticleReversers, RoundIntoTheBoxOnceAndForAll) {
  using T = typename TypeParam::Real;
  auto reverser = reverser_of<TypeParam>();
  auto const particles = scattered<TypeParam>(3, length);
  fill(particles.position, -3 * length, 3 * length, 7);
  auto const before = vectors_of(particles.position);
  reverser.round(particles);
  auto const rounded = copy_of(particles);
  auto const after = vectors_of(particles.position);
  for (std::size_t i = 0; i < after.size(); ++i)
    for (int d = 0; d < 3; ++d) {
      EXPECT_GE(after[i][d], 0);
      EXPECT_LT(after[i][d], length);
      EXPECT_NEAR(coir::testing::wrapped(after[i][d] - before[i][d], length), 0,
                  4 * std::numeric_limits<T>::epsilon() * length);
    }
  reverser.round(particles);
  EXPECT_TRUE(same_particles(rounded, particles));
}

TYPED_TEST(ParticleReversers, HoldTheWholeNumbersThatTheyReleased) {
  for (bool const is_lent : {false, true}) {
    auto reverser = reverser_of<TypeParam>();
    auto const particles = scattered<TypeParam>(5, length);
    Kokkos::View<std::uint32_t*, typename TypeParam::Exec::memory_space> const lent(
        "lent", particles.position.extent(0));
    reverser.round(particles);
    reverser.hold(particles, 1);
    reverser.drift(particles, 0.5, 1, false);
    make<TypeParam>(reverser, any_force<TypeParam>(), particles, {.kick = 0.123});
    auto const held = copy_of(particles);
    reverser.release(particles, is_lent ? lent.data() : nullptr);
    EXPECT_FALSE(same_bits(held.momentum, particles.momentum));
    reverser.hold(particles, 1);
    EXPECT_TRUE(same_particles(held, particles)) << is_lent;
    reverser.hold(particles, 1);  // which they are
    EXPECT_TRUE(same_particles(held, particles)) << is_lent;
  }
}

TYPED_TEST(ParticleReversers, WorkWithoutParticles) {
  auto const force = any_force<TypeParam>();
  auto reverser = reverser_of<TypeParam>();
  ParticlesOf<TypeParam> const none{0, length, {}, {}};
  reverser.round(none);
  reverser.hold(none, 1);
  auto const made = make<TypeParam>(reverser, force, none, moves[1]);
  EXPECT_EQ(made.check_sum, 0u);
  EXPECT_EQ(made.largest_force, 0);
  EXPECT_EQ(made.largest_momentum, 0);
  EXPECT_NO_THROW(undo<TypeParam>(reverser, force, none, made));
  reverser.release(none, nullptr);
}

TYPED_TEST(ParticleReversers, SayWhatAKickFound) {
  using T = typename TypeParam::Real;
  auto const force = constant_force<TypeParam>();
  auto reverser = reverser_of<TypeParam>();
  auto const particles = coir::testing::lattice<typename TypeParam::Exec, T>(3, length, {0, 0, 0});
  reverser.round(particles);
  reverser.hold(particles, 1);
  auto made = make<TypeParam>(reverser, force, particles, {.kick = 4});
  EXPECT_EQ(made.largest_force, 1);
  EXPECT_EQ(made.largest_momentum, static_cast<double>(nbody::detail::most_quanta<T>) / 4);
  // 4 + 12 is the first number that isn't held.
  made = make<TypeParam>(reverser, force, particles, {.kick = 12});
  EXPECT_TRUE(std::isinf(made.largest_momentum));
  fill(force.force(), std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::infinity(), 1);
  made = make<TypeParam>(reverser, force, particles, {.kick = 1});
  EXPECT_FALSE(std::isfinite(made.largest_force));
}

TYPED_TEST(ParticleReversers, FindParticlesThatOthersHaveMoved) {
  auto const force = any_force<TypeParam>();
  auto reverser = reverser_of<TypeParam>();
  auto const particles = scattered<TypeParam>(3, length);
  reverser.round(particles);
  reverser.hold(particles, 1);
  auto const made = make<TypeParam>(reverser, force, particles, moves[0]);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.position);
  std::swap(host(4, 1), host(5, 1));
  Kokkos::deep_copy(particles.position, host);
  auto const message =
      message_of<NumericalError>([&] { undo<TypeParam>(reverser, force, particles, made); });
  EXPECT_NE(message.find("the way back is not the way there in step 4"), std::string::npos)
      << message;
}

// With one force everywhere and no adjoint potential, xi stays and pi becomes keep pi + drift_before xi; the derivatives along
// the factors are sums of products.
TYPED_TEST(ParticleReversers, PullBackAKickAndDrifts) {
  using T = typename TypeParam::Real;
  for (std::int64_t const side : {1, 3, 5})
    for (auto const& move : moves) {
      auto const force = constant_force<TypeParam>();
      auto const mesh = no_potential<TypeParam>();
      auto reverser = reverser_of<TypeParam>();
      auto const particles = scattered<TypeParam>(side, length);
      reverser.round(particles);
      auto const start = copy_of(particles);
      auto const p = vectors_of(particles.momentum);
      auto const cotangents = any_cotangents<TypeParam>(particles);
      auto const xi = vectors_of(cotangents.position), pi = vectors_of(cotangents.momentum);
      reverser.find_largest(cotangents, particles.count());
      EXPECT_LE(reverser.largest_momentum_slope(), 1);
      reverser.hold(particles, 1);
      auto const made = make<TypeParam>(reverser, force, particles, move);
      FactorSlopes slopes;
      reverser.pull_back_drift(particles, cotangents, move.drift_after, made.scale_after);
      reverser.pull_back_kick(force, fft::real_view_of(mesh, mesh_side), particles, nullptr, made,
                              move.drift_before, cotangents, slopes);
      double const along = reverser.along_drift(particles, cotangents, made.scale);
      reverser.release(particles, nullptr);
      EXPECT_TRUE(same_particles(start, particles)) << side;

      auto const xi_before = vectors_of(cotangents.position),
                 pi_before = vectors_of(cotangents.momentum);
      double of_drift = 0, of_kick = 0, of_keep = 0, of_first_drift = 0;
      // Numbers are below 2; slopes of a force that is one everywhere are sums of up to eight products that cancel.
      double const eps = std::numeric_limits<T>::epsilon(), tolerance = 32 * eps;
      for (std::size_t i = 0; i < p.size(); ++i)
        for (int d = 0; d < 3; ++d) {
          double const p_after = move.keep * p[i][d] + move.kick * one_force[d];
          double const pi_after = pi[i][d] + move.drift_after * xi[i][d];
          of_drift += xi[i][d] * p_after;
          of_kick += pi_after * one_force[d];
          of_keep += pi_after * p[i][d];
          of_first_drift += xi[i][d] * p[i][d];
          EXPECT_NEAR(xi_before[i][d], xi[i][d], tolerance);
          EXPECT_NEAR(pi_before[i][d], move.keep * pi_after + move.drift_before * xi[i][d],
                      tolerance);
        }
      // Terms are rounded to 2^-50 of the largest that their sum may become, of slopes up to 2 and momenta up to 16.
      double const terms = 3 * static_cast<double>(p.size());
      double const sum_tolerance = terms * (tolerance + std::ldexp(terms * 2 * 16, -50));
      EXPECT_NEAR(slopes.drift_after, of_drift, sum_tolerance);
      EXPECT_NEAR(slopes.kick, of_kick, sum_tolerance);
      if (move.keep != 1) EXPECT_NEAR(slopes.keep, of_keep, sum_tolerance);
      EXPECT_EQ(slopes.drift_before, 0);
      EXPECT_NEAR(along, of_first_drift, sum_tolerance);
    }
}

TYPED_TEST(ParticleReversers, NameCotangentsThatAreNoNumbers) {
  using T = typename TypeParam::Real;
  auto reverser = reverser_of<TypeParam>();
  auto const particles = scattered<TypeParam>(3, length);
  for (T const number : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
    for (bool const of_position : {false, true}) {
      auto const cotangents = any_cotangents<TypeParam>(particles);
      Kokkos::deep_copy(of_position ? cotangents.position : cotangents.momentum, number);
      auto const message =
          message_of<NumericalError>([&] { reverser.find_largest(cotangents, particles.count()); });
      EXPECT_NE(message.find("isn't a number"), std::string::npos) << message;
    }
}

TYPED_TEST(ParticleReversers, NameTheStepInWhichCotangentsOverflow) {
  using T = typename TypeParam::Real;
  auto const force = constant_force<TypeParam>();
  auto const mesh = no_potential<TypeParam>();
  auto reverser = reverser_of<TypeParam>();
  auto const particles = scattered<TypeParam>(3, length);
  reverser.round(particles);
  reverser.hold(particles, 1);
  auto const made = make<TypeParam>(reverser, force, particles, {.kick = 1, .drift_after = 0});
  auto const cotangents = any_cotangents<TypeParam>(particles);
  Kokkos::deep_copy(cotangents.position, std::numeric_limits<T>::max());
  reverser.find_largest(cotangents, particles.count());
  FactorSlopes slopes;
  auto const message = message_of<NumericalError>([&] {
    reverser.pull_back_kick(force, fft::real_view_of(mesh, mesh_side), particles, nullptr, made, 4,
                            cotangents, slopes);
  });
  EXPECT_NE(message.find("overflows in step 4"), std::string::npos) << message;
}
