#include <coir/mesh/readout.hpp>
#include <coir/nbody/detail/force_adjoint.hpp>

#include <nbody/scattered.hpp>
#include <support/spaces.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

using namespace coir;
using coir::testing::fill;
using coir::testing::memory_of;
using coir::testing::scattered;
using mesh::Assignment;
using nbody::Particles;
using nbody::PhaseSeconds;

namespace {

constexpr double length = 20;

template <class Case>
using AdjointOf = nbody::detail::ForceAdjoint<typename Case::Exec, typename Case::Real>;
template <class Case>
using ForceOf = mesh::Force<typename Case::Exec, typename Case::Real>;
template <class Case>
using ParticlesOf = Particles<typename Case::Exec, typename Case::Real>;

/// The numbers of a mesh whose rows are padded, in C order.
template <class V>
std::vector<double> numbers_of(V const& mesh) {
  auto const memory = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, memory_of(mesh));
  std::vector<double> numbers;
  for (std::size_t r = 0; r < mesh.extent(0) * mesh.extent(1); ++r)
    for (std::size_t k = 0; k < mesh.extent(2); ++k)
      numbers.push_back(static_cast<double>(memory(r * mesh.stride(1) + k)));
  return numbers;
}

template <class Case>
ForceOf<Case> force_of(std::int64_t n) {
  return ForceOf<Case>(typename Case::Exec{}, {n, n, n}, length);
}

/// The adjoint's potential, cell by cell.
template <class Case>
std::vector<double> potential_of(ForceOf<Case>& force, ParticlesOf<Case> const& particles,
                                 Assignment assignment, bool deterministic, double scale) {
  AdjointOf<Case> const adjoint({}, force, {assignment, deterministic});
  PhaseSeconds seconds;
  auto const potential = adjoint.potential(particles, particles.momentum, 1, scale,
                                           mesh::PaintScheme::automatic, seconds);
  EXPECT_GT(seconds.paint, 0);
  EXPECT_GT(seconds.fft, 0);
  return numbers_of(potential);
}

/// The largest number in the memory of a View, in size.
template <class V>
double largest_of(V const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, memory_of(view));
  double largest = 0;
  for (std::size_t c = 0; c < host.size(); ++c)
    largest = std::max(largest, std::abs(static_cast<double>(host(c))));
  return largest;
}

double size_of_all(std::vector<double> const& numbers) {
  double sum = 0;
  for (double const number : numbers) sum += number * number;
  return std::sqrt(sum);
}

}  // namespace

template <class Case>
class ForceAdjoints : public ::testing::Test {};
TYPED_TEST_SUITE(ForceAdjoints, coir::testing::Cases, coir::testing::CaseName);

// The sum of pi F over particles is linear in the density: it is that of psi times the density over cells.
TYPED_TEST(ForceAdjoints, MeetTheDensityAsSlopesMeetTheForce) {
  using T = typename TypeParam::Real;
  using Exec = typename TypeParam::Exec;
  double const scale = 0.75;
  for (std::int64_t const n : {1, 5, 8})
    for (auto const assignment : {Assignment::cic, Assignment::pcs}) {
      auto const particles = scattered<TypeParam>(7, length);
      auto force = force_of<TypeParam>(n);
      fill(force.density(), 0, 1, 9);
      auto const density = numbers_of(force.density());
      force.solve(scale);
      typename ParticlesOf<TypeParam>::Vectors const read("read", particles.position.extent(0));
      mesh::readout(Exec{}, particles.position, length, force.force(), read, assignment);
      auto const forces = coir::testing::vectors_of(read),
                 slopes = coir::testing::vectors_of(particles.momentum);
      double of_particles = 0, forces_squared = 0, slopes_squared = 0;
      for (std::size_t p = 0; p < forces.size(); ++p)
        for (int d = 0; d < 3; ++d) {
          of_particles += slopes[p][d] * forces[p][d];
          forces_squared += forces[p][d] * forces[p][d];
          slopes_squared += slopes[p][d] * slopes[p][d];
        }
      // Cauchy-Schwarz bounds both sums by this; each of some ten passes rounds to eps of what it handles.
      double const by_passes =
          32 * std::numeric_limits<T>::epsilon() * std::sqrt(forces_squared * slopes_squared);
      // Whole numbers round what a particle gives to each of its cells to 2^-39 of the largest slope, which is 1.
      double const numbers = 3 * static_cast<double>(forces.size()) *
                             std::pow(assignment == Assignment::cic ? 2 : 4, 3);
      double const by_whole_numbers = std::ldexp(numbers * largest_of(force.force()), -39);
      for (bool const deterministic : {false, true}) {
        auto const psi =
            potential_of<TypeParam>(force, particles, assignment, deterministic, scale);
        ASSERT_EQ(psi.size(), density.size());
        double of_cells = 0;
        for (std::size_t c = 0; c < psi.size(); ++c) of_cells += psi[c] * density[c];
        EXPECT_NEAR(of_cells, of_particles, by_passes + (deterministic ? by_whole_numbers : 0))
            << n << deterministic;
        if (n > 1) EXPECT_GT(size_of_all(psi), 0);
      }
    }
}

TYPED_TEST(ForceAdjoints, OfWholeNumbersDoNotDependOnTheOrderOfParticles) {
  auto force = force_of<TypeParam>(6);
  auto const particles = scattered<TypeParam>(9, length);
  auto const turned = coir::testing::copy_of(particles);
  for (auto const& vectors : std::array{turned.position, turned.momentum}) {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, vectors);
    for (std::size_t p = 0; p < host.extent(0) / 2; ++p)
      for (std::size_t d = 0; d < 3; ++d) std::swap(host(p, d), host(host.extent(0) - 1 - p, d));
    Kokkos::deep_copy(vectors, host);
  }
  auto const psi = potential_of<TypeParam>(force, particles, Assignment::cic, true, 1);
  EXPECT_GT(size_of_all(psi), 0);
  EXPECT_EQ(psi, potential_of<TypeParam>(force, turned, Assignment::cic, true, 1));
}

TYPED_TEST(ForceAdjoints, AreInProportionToTheScale) {
  auto force = force_of<TypeParam>(5);
  auto const particles = scattered<TypeParam>(3, length);
  for (bool const deterministic : {false, true}) {
    auto const once = potential_of<TypeParam>(force, particles, Assignment::cic, deterministic, 1);
    auto twice = potential_of<TypeParam>(force, particles, Assignment::cic, deterministic, 2);
    for (double& number : twice) number /= 2;
    EXPECT_EQ(once, twice);
  }
}

TYPED_TEST(ForceAdjoints, OfNoSlopesAreZero) {
  auto force = force_of<TypeParam>(4);
  auto const particles = scattered<TypeParam>(3, length);
  Kokkos::deep_copy(particles.momentum, typename TypeParam::Real(0));
  for (bool const deterministic : {false, true})
    EXPECT_EQ(
        size_of_all(potential_of<TypeParam>(force, particles, Assignment::pcs, deterministic, 1)),
        0);
}
