#include <coir/mesh/power_multipoles.hpp>
#include <coir/nbody/redshift_space.hpp>

#include <nbody/universe.hpp>
#include <support/message_of.hpp>
#include <support/typed_suite.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

using namespace coir;
using namespace coir::testing;

namespace {

/// Kaiser's multipoles over the modes that a mesh has: sums of (1 + f mu^2)^2 P(k) L_l(mu).
struct Kaiser {
  std::vector<double> multipole[3];

  Kaiser(std::size_t bins, double box, double f, double amplitude,
         cosmology::LinearPower<> const& power) {
    std::vector<double> modes(bins, 0);
    for (auto& column : multipole) column.assign(bins, 0);
    int const most = static_cast<int>(bins) + 1;
    for (int a = -most; a <= most; ++a)
      for (int b = -most; b <= most; ++b)
        for (int c = -most; c <= most; ++c) {
          double const q = std::sqrt(double(a * a + b * b + c * c));
          auto const bin = static_cast<std::size_t>(q + 0.5) - 1;
          if (q == 0 || bin >= bins) continue;
          double const mu2 = c * c / (q * q), seen = 1 + f * mu2;
          double const p =
              amplitude * amplitude * seen * seen * power(2 * std::numbers::pi / box * q);
          modes[bin] += 1;
          multipole[0][bin] += p;
          multipole[1][bin] += 5 * p * (3 * mu2 - 1) / 2;
          multipole[2][bin] += 9 * p * (35 * mu2 * mu2 - 30 * mu2 + 3) / 8;
        }
    for (auto& column : multipole)
      for (std::size_t bin = 0; bin < bins; ++bin) column[bin] /= modes[bin];
  }
};

}  // namespace

COIR_TYPED_SUITE(RedshiftSpace);

TYPED_TEST(RedshiftSpace, MovesParticlesAlongTheThirdAxisAndAroundTheBox) {
  using T = typename TypeParam::Real;
  for (std::int64_t const side : {1, 3, 5})
    for (double const p : {-7.0, 0.0, 0.125, 3.0}) {
      double const a = 0.5, box = 10;
      auto const particles = lattice<typename TypeParam::Exec, T>(side, box, {1, 2, p});
      // With matter alone E = a^(-3/2), and a^2 E = sqrt(a).
      auto const seen = vectors_of(
          redshift_space(typename TypeParam::Exec{}, particles, matter_alone().parameters(), a));
      auto const x = vectors_of(particles.position);
      ASSERT_EQ(seen.size(), x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(seen[i][0], x[i][0]);
        EXPECT_EQ(seen[i][1], x[i][1]);
        EXPECT_GE(seen[i][2], 0);
        EXPECT_LT(seen[i][2], box);
        double const off = coir::testing::wrapped(seen[i][2] - x[i][2] - p / std::sqrt(a), box);
        EXPECT_NEAR(off, 0, 8 * std::numeric_limits<T>::epsilon() * box);
      }
    }
}

TYPED_TEST(RedshiftSpace, OfLinearUniversesHasKaisersMultipoles) {
  using T = typename TypeParam::Real;
  if (sizeof(T) == 4) GTEST_SKIP() << "displacements of 1e-4 of a cell are rounded in float";
  typename TypeParam::Exec const exec;
  std::int64_t const side = 32;
  double const box = 320, a = 0.6;
  cosmology::LinearPower<> const power(cosmology::Parameters<>{
      .omega_m = 0.3, .omega_b = 0.05, .h = 0.7, .n_s = 0.96, .sigma8 = 1e-4});
  // Every mode has its mean amplitude, so that no scatter hides an error.
  auto const particles = nbody::initial_conditions<typename TypeParam::Exec, T>(
      exec, side, box, power, a, {.order = 1, .noise = {.fixed_amplitude = true}});
  auto const seen = redshift_space(exec, particles, power.parameters(), a);
  auto const found = mesh::power_multipoles(
      exec, seen, box, side, {.assignment = mesh::Assignment::pcs, .interlace = true});
  double const f = power.growth().f1(a), amplitude = power.growth().d1(a) / power.growth().d1(1.0);
  std::size_t const bins = 8;  // up to half of the Nyquist frequency
  Kaiser const expected(bins, box, f, amplitude, power);
  ASSERT_GE(found.k.size(), bins);
  for (std::size_t bin = 0; bin < bins; ++bin) {
    // The second order in displacements is 1e-4 of the first; images of pcs are 1e-3 at most.
    double const tolerance = 3e-3 * expected.multipole[0][bin];
    EXPECT_NEAR(found.monopole[bin], expected.multipole[0][bin], tolerance) << bin;
    EXPECT_NEAR(found.quadrupole[bin], expected.multipole[1][bin], 5 * tolerance) << bin;
    EXPECT_NEAR(found.hexadecapole[bin], expected.multipole[2][bin], 9 * tolerance) << bin;
  }
  // And by Kaiser's formula for spheres of modes, which the 600 modes here come near: P_2 / P_0.
  double const ratio = (4 * f / 3 + 4 * f * f / 7) / (1 + 2 * f / 3 + f * f / 5);
  EXPECT_NEAR(found.quadrupole[7] / found.monopole[7], ratio, 0.1 * ratio);
}

TYPED_TEST(RedshiftSpace, NeedsAScaleFactorAndAnExpansion) {
  using T = typename TypeParam::Real;
  typename TypeParam::Exec const exec;
  auto const particles = lattice<typename TypeParam::Exec, T>(2, 10);
  EXPECT_EQ(message_of([&] { redshift_space(exec, particles, cosmology::Parameters<>(), 0); }),
            "the scale factor must be above 0, not 0");
  EXPECT_NE(message_of([&] {
              redshift_space(exec, particles, cosmology::Parameters<>{.omega_m = -1}, 0.5);
            }).find("omega_m"),
            std::string::npos);
}
