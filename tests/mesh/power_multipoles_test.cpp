#include <coir/mesh/power_multipoles.hpp>

#include <gtest/gtest.h>

#include <fft/plain_dft.hpp>
#include <support/message_of.hpp>
#include <support/spaces.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

using coir::mesh::power_multipoles;
using coir::mesh::power_spectrum;
using coir::mesh::PowerSpectrumOptions;
using coir::testing::message_of;
using coir::testing::Values;

namespace {

double const pi = std::numbers::pi;

template <class C>
using Positions =
    Kokkos::View<typename C::Real* [3], Kokkos::LayoutRight, typename C::Exec::memory_space>;

template <class C>
Positions<C> positions_of(std::vector<double> const& coordinates) {
  Positions<C> const positions("positions", coordinates.size() / 3);
  coir::testing::write(positions, Values(coordinates.begin(), coordinates.end()));
  return positions;
}

/// Particles on cells of a mesh whose spacing is 1, which painting leaves where they are.
std::vector<double> on_cells(int particles, int cells, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> any(0, cells - 1);
  std::vector<double> coordinates(3 * static_cast<std::size_t>(particles));
  for (double& x : coordinates) x = any(random);
  return coordinates;
}

/// The multipoles by their definition: sums over particles for each mode of the whole spectrum.
struct Plain {
  std::vector<double> k, modes, multipole[3];

  Plain(std::vector<double> const& x, int n) {
    auto const bins = static_cast<std::size_t>(n / 2);
    for (auto* column : {&k, &modes, &multipole[0], &multipole[1], &multipole[2]})
      column->assign(bins, 0);
    double const particles = static_cast<double>(x.size()) / 3;
    int const low = -((n - 1) / 2), high = n / 2;
    for (int a = low; a <= high; ++a)
      for (int b = low; b <= high; ++b)
        for (int c = low; c <= high; ++c) {
          double const q = std::sqrt(double(a * a + b * b + c * c));
          auto const bin = static_cast<std::size_t>(q + 0.5) - 1;
          if (q == 0 || bin >= bins) continue;
          std::complex<double> sum = 0;
          for (std::size_t p = 0; p < x.size(); p += 3)
            sum += std::polar(1.0, -2 * pi / n * (a * x[p] + b * x[p + 1] + c * x[p + 2]));
          double const power = double(n) * n * n * std::norm(sum) / (particles * particles);
          double const mu2 = c * c / (q * q);
          k[bin] += 2 * pi / n * q;
          modes[bin] += 1;
          multipole[0][bin] += power;
          multipole[1][bin] += 5 * power * (3 * mu2 - 1) / 2;
          multipole[2][bin] += 9 * power * (35 * mu2 * mu2 - 30 * mu2 + 3) / 8;
        }
    for (std::size_t bin = 0; bin < bins; ++bin)
      for (auto* column : {&k, &multipole[0], &multipole[1], &multipole[2]})
        (*column)[bin] /= modes[bin];
  }
};

template <class C>
class PowerMultipolesTest : public ::testing::Test {};

}  // namespace

TYPED_TEST_SUITE(PowerMultipolesTest, coir::testing::Cases, coir::testing::CaseName);

TYPED_TEST(PowerMultipolesTest, AreThoseOfTheirDefinition) {
  for (int const n : {2, 5, 7, 8, 12})
    for (int const particles : {1, 40}) {
      auto const x = on_cells(particles, n, 3);
      auto const found = power_multipoles(typename TypeParam::Exec{}, positions_of<TypeParam>(x), n,
                                          n, {.compensate = false});
      Plain const plain(x, n);
      ASSERT_EQ(found.modes, plain.modes) << n;
      // Transforms round by some eps of the norm, which is that of the single modes of one particle.
      double const tolerance =
          100 * std::numeric_limits<typename TypeParam::Real>::epsilon() * n * n * n;
      for (std::size_t bin = 0; bin < plain.k.size(); ++bin) {
        EXPECT_NEAR(found.k[bin], plain.k[bin], 1e-12);
        EXPECT_NEAR(found.monopole[bin], plain.multipole[0][bin], tolerance) << n << " " << bin;
        EXPECT_NEAR(found.quadrupole[bin], plain.multipole[1][bin], 5 * tolerance)
            << n << " " << bin;
        EXPECT_NEAR(found.hexadecapole[bin], plain.multipole[2][bin], 9 * tolerance)
            << n << " " << bin;
      }
      EXPECT_DOUBLE_EQ(found.shot_noise, double(n) * n * n / particles);
    }
}

TYPED_TEST(PowerMultipolesTest, HaveThePowerSpectrumForMonopole) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> anywhere(0, 10);
  std::vector<double> x(3 * 500);
  for (double& c : x) c = anywhere(random);
  auto const positions = positions_of<TypeParam>(x);
  typename TypeParam::Exec const exec;
  for (auto const& options :
       {PowerSpectrumOptions{},
        PowerSpectrumOptions{.interlace = true, .subtract_shot_noise = true, .bins = 4},
        PowerSpectrumOptions{.bins = 5, .logarithmic = true, .k_min = 1, .k_max = 4}}) {
    auto const multipoles = power_multipoles(exec, positions, 10, 16, options);
    auto const spectrum = power_spectrum(exec, positions, 10, 16, options);
    EXPECT_EQ(multipoles.k, spectrum.k);
    EXPECT_EQ(multipoles.monopole, spectrum.power);
    EXPECT_EQ(multipoles.modes, spectrum.modes);
    EXPECT_EQ(multipoles.shot_noise, spectrum.shot_noise);
  }
}

TYPED_TEST(PowerMultipolesTest, OfWavesAlongAndAcrossTheLineOfSight) {
  typename TypeParam::Exec const exec;
  // Planes of particles make a wave of q = 4 along one axis: L_2 and L_4 are 1 along the third one, -1/2 and 3/8 across.
  for (int const axis : {0, 1, 2}) {
    std::vector<double> x;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 8; ++j)
        for (int k = 0; k < 8; ++k) {
          double const at[3] = {4. * i, double(j), double(k)};
          for (int d = 0; d < 3; ++d) x.push_back(at[(d + 3 - axis) % 3]);
        }
    auto const found =
        power_multipoles(exec, positions_of<TypeParam>(x), 8, 8, {.compensate = false});
    double const of_wave = 2 * 512. / found.modes[1];  // q = 2 and -2, V each
    EXPECT_NEAR(found.monopole[1], of_wave, 1e-4);
    EXPECT_NEAR(found.quadrupole[1], 5 * (axis == 2 ? 1 : -0.5) * of_wave, 1e-3);
    EXPECT_NEAR(found.hexadecapole[1], 9 * (axis == 2 ? 1 : 0.375) * of_wave, 1e-3);
  }
}

TYPED_TEST(PowerMultipolesTest, HaveNoBinsOnOneCellAndNaNInEmptyOnes) {
  typename TypeParam::Exec const exec;
  auto const positions = positions_of<TypeParam>({1, 2, 3});
  EXPECT_TRUE(power_multipoles(exec, positions, 10, 1).k.empty());
  double const fundamental = 2 * pi / 10;
  auto const found = power_multipoles(
      exec, positions, 10, 8, {.bins = 2, .k_min = 1.1 * fundamental, .k_max = 1.5 * fundamental});
  for (auto const* column : {&found.monopole, &found.quadrupole, &found.hexadecapole})
    EXPECT_TRUE(std::isnan(column->front()));
}

TYPED_TEST(PowerMultipolesTest, RefuseWhatThePowerSpectrumRefuses) {
  typename TypeParam::Exec const exec;
  EXPECT_EQ(message_of([&] { power_multipoles(exec, Positions<TypeParam>("none", 0), 10, 8); }),
            "a power spectrum must be of at least one particle, not 0");
  auto const positions = positions_of<TypeParam>({1, 2, 3});
  EXPECT_EQ(message_of([&] { power_multipoles(exec, positions, 10, 0); }),
            "cells of a power spectrum's mesh must be from 1 to 32768 along an axis, not 0");
  EXPECT_EQ(message_of([&] { power_multipoles(exec, positions, 10, 8, {.logarithmic = true}); }),
            "logarithmic bins need their number: set bins above 0");
}
