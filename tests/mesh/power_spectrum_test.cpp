#include <coir/fft/in_place.hpp>
#include <coir/fft/plan.hpp>
#include <coir/mesh/power_multipoles.hpp>
#include <coir/mesh/power_spectrum.hpp>

#include <gtest/gtest.h>

#include <fft/plain_dft.hpp>
#include <mesh/plain_cells.hpp>
#include <support/command.hpp>
#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/thread_counts.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

using coir::Shape;
using coir::mesh::Assignment;
using coir::mesh::cross_power_spectrum;
using coir::mesh::cross_power_spectrum_of;
using coir::mesh::power_multipoles;
using coir::mesh::power_spectrum;
using coir::mesh::power_spectrum_of;
using coir::mesh::PowerSpectrum;
using coir::mesh::PowerSpectrumOptions;
using namespace coir::testing;

namespace {

double const pi = std::numbers::pi;

template <class C>
using Positions =
    Kokkos::View<typename C::Real* [3], Kokkos::LayoutRight, typename C::Exec::memory_space>;
template <class C>
using Spectrum = Kokkos::View<Kokkos::complex<typename C::Real>***, Kokkos::LayoutRight,
                              typename C::Exec::memory_space>;

/// x, y, z of one particle after the other.
template <class C>
Positions<C> positions_of(std::vector<double> const& coordinates) {
  Positions<C> const positions("positions", coordinates.size() / 3);
  coir::testing::write(positions, Values(coordinates.begin(), coordinates.end()));
  return positions;
}

std::vector<double> random_coordinates(int particles, double box, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> anywhere(0, box);
  std::vector<double> coordinates(3 * static_cast<std::size_t>(particles));
  for (double& x : coordinates) x = anywhere(random);
  return coordinates;
}

template <class C>
Positions<C> random_positions(int particles, double box, unsigned seed) {
  return positions_of<C>(random_coordinates(particles, box, seed));
}

Values normal_field(Shape<3> const& shape, unsigned seed) {
  auto const numbers =
      coir::testing::normal_numbers(static_cast<std::size_t>(coir::size_of(shape)), seed);
  return {numbers.begin(), numbers.end()};
}

/// The half spectrum of a real field.
template <class C>
Spectrum<C> transformed(Values const& field, Shape<3> const& shape) {
  using T = typename C::Real;
  using Exec = typename C::Exec;
  std::int64_t const row = 2 * (shape[2] / 2 + 1);
  auto const spectrum =
      coir::fft::allocate_in_place<T, typename Exec::memory_space>("spectrum", shape);
  coir::testing::write(coir::fft::padded_real_view_of(spectrum),
                       coir::testing::cut_rows(field, shape[2], row));
  coir::fft::RealPlan<Exec, T, 3> const plan(
      Exec{}, shape, 1, {.in_place = true, .effort = coir::fft::Effort::estimate});
  plan.forward(coir::fft::real_view_of(spectrum, shape[2]), spectrum);
  return spectrum;
}

std::int64_t wave(std::int64_t i, std::int64_t n) { return 2 * i <= n ? i : i - n; }

/// Calls visit(index, q) for each mode of the whole spectrum but the mean.
template <class Visit>
void for_modes(Shape<3> const& n, Visit const& visit) {
  std::size_t index = 0;
  for (std::int64_t i = 0; i < n[0]; ++i)
    for (std::int64_t j = 0; j < n[1]; ++j)
      for (std::int64_t k = 0; k < n[2]; ++k, ++index)
        if (index > 0) visit(index, Shape<3>{wave(i, n[0]), wave(j, n[1]), wave(k, n[2])});
}

double length(Shape<3> const& q) {
  return std::sqrt(static_cast<double>(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]));
}

/// Means over the modes of the whole spectrum whose |q| is in [edges[b], edges[b + 1]).
struct PlainBins {
  std::vector<double> q, power, modes;

  template <class PowerOf>
  PlainBins(Shape<3> const& n, std::vector<double> const& edges, PowerOf const& power_of)
      : q(edges.size() - 1), power(q.size()), modes(q.size()) {
    for_modes(n, [&](std::size_t index, Shape<3> const& wave) {
      for (std::size_t b = 0; b < q.size(); ++b)
        if (edges[b] <= length(wave) && length(wave) < edges[b + 1]) {
          q[b] += length(wave);
          power[b] += power_of(index, wave);
          modes[b] += 1;
        }
    });
    for (std::size_t b = 0; b < q.size(); ++b) {
      q[b] /= modes[b];
      power[b] /= modes[b];
    }
  }
};

std::vector<double> unit_edges(std::size_t bins) {
  std::vector<double> edges;
  for (std::size_t b = 0; b <= bins; ++b) edges.push_back(static_cast<double>(b) + 0.5);
  return edges;
}

double window(Shape<3> const& q, Shape<3> const& n, Assignment assignment) {
  double product = 1;
  for (std::size_t d = 0; d < 3; ++d)
    product *= sinc(pi * static_cast<double>(q[d]) / static_cast<double>(n[d]));
  return std::pow(product, static_cast<int>(assignment));
}

/// Compares with the definition, a plain transform and a loop over the whole spectrum. The power is
/// a sum of squares: its relative error is twice the transform's, which is relative to the norm,
/// and bins have a tenth of that or more.
template <class C>
void expect_definition(Shape<3> const& n, PowerSpectrumOptions const& options,
                       std::vector<double> const& edges) {
  double const box = 123.4, fundamental = 2 * pi / box;
  double const cells = static_cast<double>(coir::size_of(n));
  Values const field = coir::testing::some_values(static_cast<std::size_t>(cells), true);
  Values const whole = coir::testing::plain_dft(field, n, -1);
  auto const measured =
      power_spectrum_of(typename C::Exec{}, transformed<C>(field, n), n[2], box, options);
  PlainBins const plain(n, edges, [&](std::size_t index, Shape<3> const& q) {
    double const w = options.compensate ? window(q, n, options.assignment) : 1;
    return box * box * box / (cells * cells) * std::norm(whole[index]) / (w * w);
  });
  double const tolerance =
      20 * coir::testing::rounding<typename C::Real>(static_cast<std::int64_t>(cells));
  ASSERT_EQ(measured.k.size(), plain.q.size()) << coir::in_words(n);
  for (std::size_t b = 0; b < plain.q.size(); ++b) {
    EXPECT_EQ(measured.modes[b], plain.modes[b]) << coir::in_words(n) << " bin " << b;
    if (plain.modes[b] == 0) continue;
    EXPECT_NEAR(measured.k[b], fundamental * plain.q[b], 1e-14 * measured.k[b] * cells);
    EXPECT_NEAR(measured.power[b], plain.power[b], tolerance * plain.power[b])
        << coir::in_words(n) << " bin " << b;
  }
  EXPECT_EQ(measured.shot_noise, 0);
}

/// What the mean power of a Poisson sample of number density 1 is on n^3 cells: the window squared,
/// summed over the images that a mode has, which are those an even sum of them away if it is
/// interlaced.
class PoissonNoise {
 public:
  PoissonNoise(std::int64_t n, Assignment assignment, bool interlaced) : interlaced_(interlaced) {
    for (std::int64_t q = 0; q <= n / 2; ++q) {
      double sum = 0, signed_sum = 0;
      for (int image = -50; image <= 50; ++image) {
        double const s = sinc(pi * (static_cast<double>(q) / static_cast<double>(n) + image));
        double const term = std::pow(s, 2 * static_cast<int>(assignment));
        sum += term;
        signed_sum += image % 2 == 0 ? term : -term;
      }
      all_.push_back(sum);
      alternating_.push_back(signed_sum);
    }
  }
  double operator()(Shape<3> const& q) const {
    double all = 1, alternating = 1;
    for (std::int64_t const along : q) {
      all *= all_[static_cast<std::size_t>(std::abs(along))];
      alternating *= alternating_[static_cast<std::size_t>(std::abs(along))];
    }
    return interlaced_ ? (all + alternating) / 2 : all;
  }

 private:
  bool interlaced_;
  std::vector<double> all_, alternating_;
};

/// Particles on cells of a mesh whose spacing is 1, which painting leaves where they are.
std::vector<double> on_cells(int particles, int cells, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> any(0, cells - 1);
  std::vector<double> coordinates(3 * static_cast<std::size_t>(particles));
  for (double& x : coordinates) x = any(random);
  return coordinates;
}

/// The multipoles by their definition: sums over particles for each mode of the whole spectrum.
struct PlainMultipoles {
  std::vector<double> k, modes, multipole[3];

  PlainMultipoles(std::vector<double> const& x, int n) {
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

}  // namespace

COIR_TYPED_SUITE(PowerSpectrumTest);

TYPED_TEST(PowerSpectrumTest, OneParticleOnACellHasThePowerVInEveryBin) {
  auto const positions = positions_of<TypeParam>({2.5, 0, 7.5});
  auto const spectrum =
      power_spectrum(typename TypeParam::Exec{}, positions, 10, 4, {.compensate = false});
  // |q| in [0.5, 1.5): 6 of length 1 and 12 of sqrt 2. [1.5, 2.5): 8 of sqrt 3, 3 of 2 (the Nyquist
  // planes), 12 of sqrt 5, 12 of sqrt 6.
  ASSERT_EQ(spectrum.modes, (std::vector<double>{18, 35}));
  EXPECT_NEAR(spectrum.k[0], 2 * pi / 10 * (6 + 12 * std::sqrt(2.)) / 18, 1e-14);
  for (double const power : spectrum.power) EXPECT_NEAR(power, 1000, 1e-3);
  EXPECT_EQ(spectrum.shot_noise, 1000);
}

TYPED_TEST(PowerSpectrumTest, APlaneWaveOfParticlesIsInItsBinAlone) {
  // Two planes of four: 1 + delta is 2 0 2 0 along the first axis, delta = cos(2 k_f x), one mode.
  std::vector<double> coordinates;
  for (double x : {0, 2})
    for (int y = 0; y < 4; ++y)
      for (int z = 0; z < 4; ++z) coordinates.insert(coordinates.end(), {x, y + 0., z + 0.});
  auto const positions = positions_of<TypeParam>(coordinates);
  typename TypeParam::Exec const exec;
  auto const plain = power_spectrum(exec, positions, 4, 4, {.compensate = false});
  EXPECT_NEAR(plain.power[0], 0, 1e-10);
  EXPECT_NEAR(plain.power[1], 64. / plain.modes[1], 1e-5);
  auto const compensated = power_spectrum(exec, positions, 4, 4);
  EXPECT_NEAR(compensated.power[1], 64. / plain.modes[1] * std::pow(pi / 2, 4), 1e-5);
}

TYPED_TEST(PowerSpectrumTest, EqualsALoopOverTheWholeSpectrum) {
  for (Shape<3> const& n : {Shape<3>{6, 6, 6}, {7, 7, 7}, {5, 6, 4}, {3, 1, 7}, {2, 2, 2}})
    for (bool const compensate : {false, true}) {
      double const largest = length({n[0] / 2, n[1] / 2, n[2] / 2});
      auto const bins = static_cast<std::size_t>(largest + 0.5);
      double const k_max = 2 * pi / 123.4 * (static_cast<double>(bins) + 0.1);
      expect_definition<TypeParam>(
          n, {.assignment = Assignment::tsc, .compensate = compensate, .k_max = k_max},
          unit_edges(bins));
    }
}

TYPED_TEST(PowerSpectrumTest, TakesLinearAndLogarithmicBinsFromKMinToKMax) {
  double const fundamental = 2 * pi / 123.4, ratio = std::pow(3.5, 0.25);
  Shape<3> const n{9, 9, 9};
  expect_definition<TypeParam>(
      n, {.bins = 3, .k_min = 1.2 * fundamental, .k_max = 4.5 * fundamental}, {1.2, 2.3, 3.4, 4.5});
  expect_definition<TypeParam>(
      n, {.bins = 4, .logarithmic = true, .k_min = 1.1 * fundamental, .k_max = 3.85 * fundamental},
      {1.1, 1.1 * ratio, 1.1 * ratio * ratio, 3.85 / ratio, 3.85});
}

TYPED_TEST(PowerSpectrumTest, CountsModesAtBothEndsOfTheRange) {
  for (double const box : {0.7, 7.3, 1 / 3., 1e5}) {
    Shape<3> const n{8, 8, 8};
    double const fundamental = 2 * pi / box;
    auto const spectrum =
        power_spectrum_of(typename TypeParam::Exec{}, transformed<TypeParam>(Values(512, 1), n), 8,
                          box, {.bins = 1, .k_min = fundamental * 3, .k_max = fundamental * 3.2});
    auto const shell =
        power_spectrum_of(typename TypeParam::Exec{}, transformed<TypeParam>(Values(512, 1), n), 8,
                          box, {.bins = 1, .k_max = fundamental / 7 * 21});
    EXPECT_EQ(spectrum.modes[0],
              30 + 24);  // |q|^2 is 9 for (3, 0, 0) and (2, 2, 1), 10 for (3, 1, 0)
    EXPECT_EQ(shell.modes[0], 6 + 12 + 8 + 6 + 24 + 24 + 12 + 30);
  }
}

TYPED_TEST(PowerSpectrumTest, HasNoBinsOnOneCellAndOneOnTwo) {
  auto const positions = random_positions<TypeParam>(3, 10, 1);
  EXPECT_TRUE(power_spectrum(typename TypeParam::Exec{}, positions, 10, 1).k.empty());
  EXPECT_EQ(power_spectrum(typename TypeParam::Exec{}, positions, 10, 2).modes,
            std::vector<double>{3 + 3});  // |q| = 1 and sqrt 2, signs don't count
}

TYPED_TEST(PowerSpectrumTest, GivesEmptyBinsTheirMiddleAndNoPower) {
  double const fundamental = 2 * pi / 10;
  auto const positions = random_positions<TypeParam>(3, 10, 1);
  auto const spectrum =
      power_spectrum(typename TypeParam::Exec{}, positions, 10, 8,
                     {.bins = 2, .k_min = 1.1 * fundamental, .k_max = 1.5 * fundamental});
  EXPECT_EQ(spectrum.modes, (std::vector<double>{0, 12}));
  EXPECT_DOUBLE_EQ(spectrum.k[0], 1.2 * fundamental);
  EXPECT_TRUE(std::isnan(spectrum.power[0]));
}

TYPED_TEST(PowerSpectrumTest, OfAPoissonSampleIsShotNoiseWithItsImages) {
  int const particles = 4000;
  double const box = 100, noise = box * box * box / particles;
  auto const positions = random_positions<TypeParam>(particles, box, 6);
  for (auto const assignment : {Assignment::cic, Assignment::tsc, Assignment::pcs})
    for (bool const interlace : {false, true})
      for (std::int64_t const cells : {12, 15}) {
        PowerSpectrumOptions options{.assignment = assignment, .interlace = interlace};
        auto const measured =
            power_spectrum(typename TypeParam::Exec{}, positions, box, cells, options);
        Shape<3> const n{cells, cells, cells};
        PoissonNoise const painted(cells, assignment, interlace);
        PlainBins const expected(n, unit_edges(measured.k.size()),
                                 [&](std::size_t, Shape<3> const& q) {
                                   return painted(q) / std::pow(window(q, n, assignment), 2);
                                 });
        EXPECT_EQ(measured.shot_noise, noise);
        for (std::size_t b = 0; b < measured.k.size(); ++b) {
          double const deviation = std::sqrt(2 / measured.modes[b]);
          EXPECT_NEAR(measured.power[b] / noise, expected.power[b],
                      4.5 * deviation * expected.power[b])
              << name_of(assignment) << interlace << cells << " bin " << b;
          // Far below the Nyquist frequency images don't count.
          if (b < 3) {
            EXPECT_NEAR(expected.power[b], 1, 0.02);
          }
        }
        options.subtract_shot_noise = true;
        auto const less =
            power_spectrum(typename TypeParam::Exec{}, positions, box, cells, options);
        for (std::size_t b = 0; b < measured.k.size(); ++b)
          EXPECT_DOUBLE_EQ(less.power[b], measured.power[b] - noise);
      }
}

TYPED_TEST(PowerSpectrumTest, InterlacingCancelsTheNearestImages) {
  // A single particle has |delta| = 1 in all modes. Up to half the Nyquist frequency the largest
  // images are, for (4, 0, 0) of 16, (-12, 0, 0) with the amplitude (1/3)^4, which interlacing
  // cancels, and (-28, 0, 0) and (36, 0, 0) with (1/7)^4 and (1/9)^4, which are left. Each adds at
  // most twice its amplitude to the power.
  for (auto const& at : {std::vector<double>{0.3, 5.1, 7.7}, {9.9, 2.26, 4.4}}) {
    auto const positions = positions_of<TypeParam>(at);
    double worst[2] = {0, 0};
    for (bool const interlace : {false, true}) {
      auto const spectrum = power_spectrum(typename TypeParam::Exec{}, positions, 10, 16,
                                           {.assignment = Assignment::pcs,
                                            .interlace = interlace,
                                            .bins = 20,
                                            .k_max = 4.01 * 2 * pi / 10});
      for (std::size_t b = 0; b < spectrum.k.size(); ++b)
        if (spectrum.modes[b] > 0)
          worst[interlace] = std::max(worst[interlace], std::abs(spectrum.power[b] / 1000 - 1));
    }
    EXPECT_LT(worst[1], 2 * (std::pow(1 / 7., 4) + std::pow(1 / 9., 4)));
    EXPECT_GT(worst[0], 10 * worst[1]);
  }
}

TYPED_TEST(PowerSpectrumTest, OfAFieldWithItselfIsThatOfTheField) {
  typename TypeParam::Exec const exec;
  auto const positions = random_positions<TypeParam>(500, 10, 7);
  for (bool const interlace : {false, true}) {
    auto const own = power_spectrum(positions, 10, 8, {.interlace = interlace});
    auto const cross = cross_power_spectrum(exec, positions, positions, 10, 8,
                                            {.interlace = interlace, .subtract_shot_noise = true});
    EXPECT_EQ(cross.power, own.power);
    EXPECT_EQ(cross.k, own.k);
    EXPECT_EQ(cross.shot_noise, 0);
  }
}

TYPED_TEST(PowerSpectrumTest, OfFieldsAndTheirNegativeIsNegative) {
  Shape<3> const n{4, 5, 6};
  Values const field = normal_field(n, 8);
  Values negative = field;
  for (auto& value : negative) value *= -2;
  auto const a = transformed<TypeParam>(field, n), b = transformed<TypeParam>(negative, n);
  auto const own = power_spectrum_of(a, 6, 10);
  auto const cross = cross_power_spectrum_of(a, b, 6, 10);
  for (std::size_t i = 0; i < own.k.size(); ++i)
    EXPECT_NEAR(cross.power[i], -2 * own.power[i], 1e-6 * own.power[i]);
}

TYPED_TEST(PowerSpectrumTest, OfIndependentSamplesIsZero) {
  auto const a = random_positions<TypeParam>(3000, 100, 9);
  auto const b = random_positions<TypeParam>(2000, 100, 10);
  auto const cross = cross_power_spectrum(typename TypeParam::Exec{}, a, b, 100, 16,
                                          {.assignment = Assignment::pcs, .interlace = true});
  // Re(a conj(b)) of a mode has the variance P_a P_b / 2, and half the modes are independent.
  for (std::size_t i = 0; i < cross.k.size(); ++i)
    EXPECT_NEAR(cross.power[i], 0,
                4.5 * 1e6 / std::sqrt(3000. * 2000.) / std::sqrt(cross.modes[i]));
}

TYPED_TEST(PowerSpectrumTest, HasTheMultipolesOfTheirDefinition) {
  for (int const n : {2, 5, 7, 8, 12})
    for (int const particles : {1, 40}) {
      auto const x = on_cells(particles, n, 3);
      auto const found = power_multipoles(typename TypeParam::Exec{}, positions_of<TypeParam>(x), n,
                                          n, {.compensate = false});
      PlainMultipoles const plain(x, n);
      ASSERT_EQ(found.modes, plain.modes) << n;
      // Transforms round by some eps of the norm, which is that of the single modes of one
      // particle.
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

TYPED_TEST(PowerSpectrumTest, IsTheMonopole) {
  auto const positions = random_positions<TypeParam>(500, 10, 1);
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

TYPED_TEST(PowerSpectrumTest, HasNoMultipolesOnOneCellAndNaNInEmptyBins) {
  typename TypeParam::Exec const exec;
  auto const positions = positions_of<TypeParam>({1, 2, 3});
  EXPECT_TRUE(power_multipoles(exec, positions, 10, 1).k.empty());
  double const fundamental = 2 * pi / 10;
  auto const found = power_multipoles(
      exec, positions, 10, 8, {.bins = 2, .k_min = 1.1 * fundamental, .k_max = 1.5 * fundamental});
  for (auto const* column : {&found.monopole, &found.quadrupole, &found.hexadecapole})
    EXPECT_TRUE(std::isnan(column->front()));
}

TYPED_TEST(PowerSpectrumTest, ChecksItsArguments) {
  typename TypeParam::Exec const exec;
  auto const positions = random_positions<TypeParam>(10, 10, 1);
  auto const message = [&](double box, std::int64_t cells, PowerSpectrumOptions const& options) {
    return message_of([&] { power_spectrum(exec, positions, box, cells, options); });
  };
  EXPECT_EQ(message(0, 4, {}), "the box length must be positive and finite, not 0");
  EXPECT_EQ(message(-1, 4, {}), "the box length must be positive and finite, not -1");
  EXPECT_EQ(message(NAN, 4, {}), "the box length must be positive and finite, not nan");
  EXPECT_EQ(message(10, 0, {}),
            "cells of a power spectrum's mesh must be from 1 to 32768 along an axis, not 0");
  EXPECT_EQ(message(10, 32769, {}),
            "cells of a power spectrum's mesh must be from 1 to 32768 along an axis, not 32769");
  EXPECT_EQ(message(10, 4, {.bins = -1}),
            "bins of a power spectrum must be from 0 to 1000000, not -1");
  EXPECT_EQ(message(10, 4, {.bins = 1000001}),
            "bins of a power spectrum must be from 0 to 1000000, not 1000001");
  EXPECT_EQ(message(10, 4, {.logarithmic = true}),
            "logarithmic bins need their number: set bins above 0");
  EXPECT_EQ(message(10, 4, {.k_min = -1}),
            "k_min must be 0, for the fundamental, or above, not -1");
  EXPECT_EQ(message(10, 4, {.k_max = -1}),
            "k_max must be 0, for the Nyquist frequency, or above, not -1");
  EXPECT_EQ(
      message(10, 4, {.bins = 2, .k_min = 2}),
      "k_min must be below k_max, not 2 and 1.25664 h/Mpc (the Nyquist frequency is 1.25664)");
  EXPECT_EQ(message(10, 4, {.k_min = 1, .k_max = 1}),
            "k_min must be below k_max, not 1 and 1 h/Mpc (the Nyquist frequency is 1.25664)");

  EXPECT_EQ(message_of([&] { power_spectrum(exec, positions_of<TypeParam>({}), 10, 4); }),
            "a power spectrum must be of at least one particle, not 0");
  EXPECT_EQ(message_of(
                [&] { cross_power_spectrum(exec, positions, positions_of<TypeParam>({}), 10, 4); }),
            "a power spectrum must be of at least one particle, not 0");
  for (double const x :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto const wrong = positions_of<TypeParam>({1, 1, 1, 2, 2, x});
    std::string const refused = "positions must be finite, and that of particle 1 isn't";
    EXPECT_EQ(message_of([&] { power_spectrum(exec, wrong, 10, 4); }), refused);
    EXPECT_EQ(message_of([&] { power_spectrum(exec, wrong, 10, 4, {.interlace = true}); }),
              refused);
    EXPECT_EQ(message_of([&] { cross_power_spectrum(exec, positions, wrong, 10, 4); }), refused);
  }
  Kokkos::View<typename TypeParam::Real**, Kokkos::LayoutRight,
               typename TypeParam::Exec::memory_space> const pairs("pairs", 10, 2);
  EXPECT_EQ(message_of([&] { power_spectrum(exec, pairs, 10, 4); }),
            "positions must have 3 components, not 2");
}

TYPED_TEST(PowerSpectrumTest, ChecksFields) {
  typename TypeParam::Exec const exec;
  Spectrum<TypeParam> const field("field", 4, 4, 3), other("other", 4, 5, 3), none;
  auto const message = [&](std::int64_t n2, PowerSpectrumOptions const& options) {
    return message_of([&] { power_spectrum_of(exec, field, n2, 10, options); });
  };
  EXPECT_EQ(message(6, {}), "the half spectrum of rows of 6 numbers must have 4 in a row, not 3");
  EXPECT_EQ(message(0, {}), "extents of a field must be from 1 to 2^24, not 0");
  EXPECT_EQ(message(1 << 25, {}), "extents of a field must be from 1 to 2^24, not 33554432");
  for (PowerSpectrumOptions const& options :
       {PowerSpectrumOptions{.interlace = true}, PowerSpectrumOptions{.subtract_shot_noise = true}})
    EXPECT_EQ(message(4, options),
              "interlacing and shot noise are for particles: leave both out for fields");
  EXPECT_EQ(message_of([&] { power_spectrum_of(exec, none, 4, 10); }),
            "extents of a field must be from 1 to 2^24, not 0");
  EXPECT_EQ(message_of([&] { power_spectrum_of(exec, field, 4, 0); }),
            "the box length must be positive and finite, not 0");
  EXPECT_EQ(message_of([&] { cross_power_spectrum_of(exec, field, other, 4, 10); }),
            "both fields must have the extents (4, 4, 4), not (4, 5, 4)");
}

TYPED_TEST(PowerSpectrumTest, SaysHowMuchMemoryItLacks) {
  auto const positions = random_positions<TypeParam>(1, 10, 1);
  std::string const message = message_of<coir::ResourceError>(
      [&] { power_spectrum(typename TypeParam::Exec{}, positions, 10, 32768); });
  EXPECT_NE(message.find("the power spectrum on 32768^3 cells"), std::string::npos) << message;
}

// What the test below runs on several numbers of threads.
TEST(PowerSpectrumOnHost, PrintsADigestOfItsBits) {
  coir::testing::Digest digest;
  auto const add = [&](PowerSpectrum const& spectrum) {
    for (auto const* column : {&spectrum.k, &spectrum.power, &spectrum.modes})
      for (double const number : *column) digest.add_number(number);
  };
  auto const add_all = [&]<class T>(T) {
    using C = coir::testing::Case<coir::testing::Host, T>;
    auto const positions = random_positions<C>(20000, 50, 4);
    for (bool const interlace : {false, true})
      add(power_spectrum(coir::testing::Host{}, positions, 50, 21, {.interlace = interlace}));
    Shape<3> const shape{5, 40, 37};
    auto const spectrum = transformed<C>(normal_field(shape, 5), shape);
    add(power_spectrum_of(coir::testing::Host{}, spectrum, 37, 50, {.bins = 7, .k_max = 4}));
  };
  add_all(float());
  add_all(double());
  digest.print();
}

TEST(PowerSpectrumOnHost, HasTheSameBitsForAnyThreadCount) {
  coir::testing::expect_same_digests("PowerSpectrumOnHost.PrintsADigestOfItsBits");
}

TEST(PowerSpectrumText, ReadsBackWithTheSameBits) {
  coir::testing::TemporaryFolder const folder;
  PowerSpectrum const spectrum{{0.1, 1. / 3, 7e-200}, {1e5 / 7, -3.25, NAN}, {18, 3e15, 0}, 12.5};
  std::vector<std::string> const header{"a = 0.5", "seed 7"};
  coir::mesh::write_power_spectrum(folder / "power.txt", spectrum, header);

  std::istringstream text(coir::testing::read_text(folder / "power.txt"));
  std::string line;
  for (auto const* expected : {"# a = 0.5", "# seed 7", "# shot noise 12.5 (Mpc/h)^3",
                               "# k [h/Mpc]  P [(Mpc/h)^3]  modes"}) {
    std::getline(text, line);
    EXPECT_EQ(line, expected);
  }
  for (std::size_t b = 0; b < 3; ++b) {
    std::getline(text, line);
    char* at = line.data();
    for (double const expected : {spectrum.k[b], spectrum.power[b], spectrum.modes[b]}) {
      double const number = std::strtod(at, &at);
      EXPECT_TRUE(number == expected || (std::isnan(number) && std::isnan(expected))) << line;
    }
    EXPECT_EQ(*at, '\0') << line;
  }
  EXPECT_FALSE(std::getline(text, line));
}

TEST(PowerSpectrumText, OfNoBinsIsAHeader) {
  coir::testing::TemporaryFolder const folder;
  coir::mesh::write_power_spectrum(folder / "power.txt", {});
  EXPECT_EQ(coir::testing::read_text(folder / "power.txt"),
            "# shot noise 0 (Mpc/h)^3\n# k [h/Mpc]  P [(Mpc/h)^3]  modes\n");
}

TEST(PowerSpectrumText, ChecksItsArguments) {
  coir::testing::TemporaryFolder const folder;
  std::vector<std::string> const broken{"two\nlines"};
  EXPECT_EQ(message_of([&] { coir::mesh::write_power_spectrum(folder / "x", {}, broken); }),
            "a header line of a power spectrum must have no line break: pass its lines one by one");
  EXPECT_EQ(
      message_of([&] { coir::mesh::write_power_spectrum(folder / "x", {{1, 2}, {1}, {}, 0}); }),
      "k, power and modes of a power spectrum must have the same length, not 2, 1 and 0");
  EXPECT_NE(message_of<coir::ResourceError>([&] {
              coir::mesh::write_power_spectrum(folder / "missing" / "x", {});
            }).find("missing"),
            std::string::npos);
}
