#include <coir/mesh/power_spectrum_pull_back.hpp>

#include <gtest/gtest.h>

#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

using coir::mesh::Assignment;
using coir::mesh::name_of;
using coir::mesh::power_spectrum;
using coir::mesh::power_spectrum_pull_back;
using coir::mesh::PowerSpectrum;
using coir::mesh::PowerSpectrumOptions;
using namespace coir::testing;

namespace {

using Values = std::vector<double>;

double const pi = std::numbers::pi;
double const box = 12.5;
double const not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class C>
using Vectors =
    Kokkos::View<typename C::Real* [3], Kokkos::LayoutRight, typename C::Exec::memory_space>;

/// x, y, z of one particle after the other.
template <class C>
Vectors<C> vectors_of(Values const& components) {
  Vectors<C> const vectors("vectors", components.size() / 3);
  auto const host = Kokkos::create_mirror_view(vectors);
  for (std::size_t i = 0; i < components.size(); ++i)
    host(i / 3, i % 3) = static_cast<typename C::Real>(components[i]);
  Kokkos::deep_copy(vectors, host);
  return vectors;
}

template <class View>
Values components_of(View const& vectors) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, vectors);
  Values components;
  for (std::size_t p = 0; p < host.extent(0); ++p)
    for (std::size_t d = 0; d < 3; ++d) components.push_back(static_cast<double>(host(p, d)));
  return components;
}

/// Coordinates anywhere, also beyond the box, but farther than `margin` cells from where weights or
/// their slopes have kinks, which are the points of the mesh and those half a cell off them.
Values coordinates(int particles, std::int64_t cells, double margin, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> within(2 * margin, 1 - 2 * margin);
  std::uniform_int_distribution<std::int64_t> half_cell(-2, 2 * cells + 2);
  Values values(3 * static_cast<std::size_t>(particles));
  for (double& x : values)
    x = (static_cast<double>(half_cell(random)) + within(random)) / 2 * box / double(cells);
  return values;
}

double norm(Values const& a) { return std::sqrt(product(a, a)); }

/// What all modes of the mesh lie within.
double beyond_all(std::int64_t cells) { return 2 * pi / box * double(cells); }

/// sum_b slope_b P_b, a loss, and its cotangents.
template <class C>
struct LinearLoss {
  std::int64_t cells;
  PowerSpectrumOptions options;
  std::vector<double> slope{};

  double operator()(Values const& positions) const {
    auto const spectrum =
        power_spectrum(typename C::Exec{}, vectors_of<C>(positions), box, cells, options);
    double sum = 0;
    for (std::size_t b = 0; b < slope.size(); ++b)
      if (spectrum.modes[b] > 0) sum += slope[b] * spectrum.power[b];
    return sum;
  }

  Values cotangents(Values const& positions) const {
    Vectors<C> const cotangent("cotangent", positions.size() / 3);
    power_spectrum_pull_back(typename C::Exec{}, vectors_of<C>(positions), box, cells,
                             std::span<double const>(slope), cotangent, options);
    return components_of(cotangent);
  }
};

template <class C>
LinearLoss<C> some_loss(Values const& positions, std::int64_t cells,
                        PowerSpectrumOptions const& options) {
  auto const bins =
      power_spectrum(typename C::Exec{}, vectors_of<C>(positions), box, cells, options).k.size();
  return {cells, options, normal_numbers(bins, 7)};
}

/// Compares with differences of the loss. A particle's mass is cut into 2^40 parts, so that with
/// steps of 1e-3 cells differences err by 1e-9 of the slopes of weights, and those of the fourth
/// order by as little for polynomials.
template <class C>
void expect_slope_of_loss(std::int64_t cells, PowerSpectrumOptions const& options) {
  double const step = 1e-3;
  int const particles = 40;
  Values const at = coordinates(particles, cells, 3 * step, 3);
  auto const loss = some_loss<C>(at, cells, options);
  Values const cotangent = loss.cotangents(at);
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Values direction = normal_numbers(at.size(), seed);
    for (double& d : direction) d = std::tanh(d) * step * box / double(cells);
    auto const beside = [&](double steps) {
      Values there = at;
      for (std::size_t i = 0; i < at.size(); ++i) there[i] += steps * direction[i];
      return loss(there);
    };
    double const slope = (8 * (beside(1) - beside(-1)) - (beside(2) - beside(-2))) / 12;
    EXPECT_NEAR(product(cotangent, direction), slope, 1e-8 * norm(cotangent) * norm(direction))
        << cells << " cells, " << name_of(options.assignment)
        << (options.interlace ? ", interlaced" : "") << (options.compensate ? "" : ", as painted");
  }
}

}  // namespace

COIR_TYPED_SUITE(SpectrumPullBackTest);
COIR_DOUBLE_SUITE(SpectrumPullBackInDoubleTest);

TYPED_TEST(SpectrumPullBackTest, OfTwoParticlesInAPlaneWaveIsItsFormula) {
  // On two cells along each axis, with cic and d the distance along the first axis in cells, the
  // mode of the Nyquist frequency along it has sum_p (1 - 2 u_p) = 2 - 2 d for a particle on a
  // point and one u = d beyond it.
  double const d = 0.25, volume = box * box * box;
  auto const at = vectors_of<TypeParam>({0, 0, 0, d * box / 2, 0, 0});
  Vectors<TypeParam> const cotangent("cotangent", 2);
  PowerSpectrumOptions const options{.compensate = false, .bins = 1, .k_max = 2 * pi / box * 1.9};
  std::vector<double> const slope{3};
  auto const spectrum = power_spectrum_pull_back(
      typename TypeParam::Exec{}, at, box, 2, std::span<double const>(slope), cotangent, options);
  // Of the seven modes the four with a component along the first axis are 2 - 2 d, the others 2.
  double const power = volume / 4 * (4 * (2 - 2 * d) * (2 - 2 * d) + 3 * 4) / 7;
  double const by_d = volume / 4 * 4 * 2 * (2 - 2 * d) * (-2) / 7;
  EXPECT_EQ(spectrum.modes, std::vector<double>{7});
  EXPECT_EQ(spectrum.shot_noise, volume / 2);
  double const eps = std::numeric_limits<typename TypeParam::Real>::epsilon();
  EXPECT_NEAR(spectrum.power[0], power, 20 * eps * power);
  auto const found = components_of(cotangent);
  EXPECT_NEAR(found[3], 3 * by_d * 2 / box, 100 * eps * std::abs(by_d));
}

TYPED_TEST(SpectrumPullBackInDoubleTest, IsTheSlopeOfTheSpectrum) {
  for (std::int64_t const cells : {6, 7})
    for (auto const assignment : {Assignment::cic, Assignment::tsc, Assignment::pcs})
      for (bool const interlace : {false, true})
        for (bool const compensate : {false, true})
          expect_slope_of_loss<TypeParam>(cells, {.assignment = assignment,
                                                  .compensate = compensate,
                                                  .interlace = interlace,
                                                  .k_max = beyond_all(cells)});
}

TYPED_TEST(SpectrumPullBackInDoubleTest, IsTheSlopeOnMeshesOfAnySize) {
  for (std::int64_t const cells : {2, 3, 4, 5, 11, 16})
    for (bool const interlace : {false, true})
      expect_slope_of_loss<TypeParam>(
          cells,
          {.assignment = Assignment::tsc, .interlace = interlace, .k_max = beyond_all(cells)});
}

TYPED_TEST(SpectrumPullBackInDoubleTest, IsTheSlopeInBinsOfAnyKind) {
  double const fundamental = 2 * pi / box;
  for (PowerSpectrumOptions const& options :
       {PowerSpectrumOptions{},
        PowerSpectrumOptions{.interlace = true, .subtract_shot_noise = true},
        PowerSpectrumOptions{.bins = 3, .k_min = 1.2 * fundamental, .k_max = 3.3 * fundamental},
        PowerSpectrumOptions{.bins = 40, .logarithmic = true, .k_max = 3 * fundamental},
        PowerSpectrumOptions{.bins = 1, .k_max = fundamental * 1.01}})
    expect_slope_of_loss<TypeParam>(8, options);
}

TYPED_TEST(SpectrumPullBackInDoubleTest, LeavesBinsWithoutModesOut) {
  double const fundamental = 2 * pi / box;
  PowerSpectrumOptions const options{
      .bins = 2, .k_min = 1.1 * fundamental, .k_max = 1.5 * fundamental};
  Values const at = coordinates(9, 8, 0.01, 1);
  LinearLoss<TypeParam> loss{8, options, {not_a_number, 1}};
  Values const with_nan = loss.cotangents(at);
  loss.slope[0] = 0;
  EXPECT_EQ(with_nan, loss.cotangents(at));
  EXPECT_GT(norm(with_nan), 0);
}

TYPED_TEST(SpectrumPullBackInDoubleTest, IsThatInFloat) {
  using Float = coir::testing::Case<typename TypeParam::Exec, float>;
  for (std::int64_t const cells : {5, 12})
    for (bool const interlace : {false, true}) {
      PowerSpectrumOptions const options{.assignment = Assignment::tsc, .interlace = interlace};
      Values at = coordinates(200, cells, 0.01, 5);
      for (double& x : at) x = static_cast<double>(static_cast<float>(x));
      auto const loss = some_loss<TypeParam>(at, cells, options);
      Values const exact = loss.cotangents(at);
      Values apart = LinearLoss<Float>{cells, options, loss.slope}.cotangents(at);
      for (std::size_t i = 0; i < at.size(); ++i) apart[i] -= exact[i];
      // In float each of the 27 weights of a particle, whose squares add up to a sixth, is rounded
      // to a multiple of 2^-18: an error of 2^-18 (27 / 12)^(1/2) / 6^(-1/2) of the density's norm,
      // which slopes inherit.
      double const of_density = std::pow(2., -18) * std::sqrt(27 / 12. * 6);
      EXPECT_LE(norm(apart), 4 * of_density * norm(exact)) << cells;
    }
}

TYPED_TEST(SpectrumPullBackTest, OverwritesSlopesOfAnyLayout) {
  using T = typename TypeParam::Real;
  using Left = Kokkos::View<T* [3], Kokkos::LayoutLeft, typename TypeParam::Exec::memory_space>;
  typename TypeParam::Exec const exec;
  auto const positions = vectors_of<TypeParam>(coordinates(20, 6, 0.01, 2));
  std::vector<double> const slopes{2, -1, 0.5};
  std::span<double const> const slope = slopes;
  for (bool const interlace : {false, true}) {
    PowerSpectrumOptions const options{.interlace = interlace};
    Vectors<TypeParam> const found("found", 20);
    auto const over = vectors_of<TypeParam>(Values(60, 1000));
    Left const left("left", 20), left_positions("positions", 20);
    Kokkos::deep_copy(left_positions, positions);
    power_spectrum_pull_back(exec, positions, box, 6, slope, found, options);
    power_spectrum_pull_back(exec, positions, box, 6, slope, over, options);
    power_spectrum_pull_back(exec, left_positions, box, 6, slope, left, options);
    EXPECT_GT(norm(components_of(found)), 0);
    EXPECT_EQ(components_of(over), components_of(found));
    EXPECT_EQ(components_of(left), components_of(found));
    auto const sum = vectors_of<TypeParam>(Values(60, 1000));
    power_spectrum_pull_back(exec, positions, box, 6, slope, sum, options,
                             coir::mesh::Derivatives::add);
    auto const added = components_of(sum), alone = components_of(found);
    for (std::size_t i = 0; i < added.size(); ++i)  // two sums, each rounded
      EXPECT_NEAR(added[i] - 1000, alone[i],
                  2 * std::numeric_limits<T>::epsilon() * (1000 + std::abs(alone[i])));
  }
}

TYPED_TEST(SpectrumPullBackTest, AsksTheLossOnceAndReturnsTheSpectrum) {
  typename TypeParam::Exec const exec;
  auto const positions = vectors_of<TypeParam>(coordinates(20, 6, 0.01, 2));
  Vectors<TypeParam> const known("known", 20), asked("asked", 20);
  PowerSpectrumOptions const options{.interlace = true, .subtract_shot_noise = true};
  auto const expected = power_spectrum(exec, positions, box, 6, options);
  int calls = 0;
  auto const slope_of = [&](PowerSpectrum const& spectrum) {
    ++calls;
    EXPECT_EQ(spectrum.power, expected.power);
    std::vector<double> slope;
    for (double const power : spectrum.power) slope.push_back(2 * power);
    return slope;
  };
  auto const spectrum = power_spectrum_pull_back(exec, positions, box, 6, slope_of, asked, options);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(spectrum.k, expected.k);
  EXPECT_EQ(spectrum.power, expected.power);
  EXPECT_EQ(spectrum.modes, expected.modes);
  EXPECT_EQ(spectrum.shot_noise, expected.shot_noise);
  auto const slope = slope_of(expected);
  power_spectrum_pull_back(exec, positions, box, 6, std::span<double const>(slope), known, options);
  EXPECT_EQ(components_of(asked), components_of(known));
}

TYPED_TEST(SpectrumPullBackTest, OfNoBinsIsZero) {
  auto const positions = vectors_of<TypeParam>({1, 2, 3});
  auto const slopes = vectors_of<TypeParam>({4, 5, 6});
  for (bool const interlace : {false, true}) {
    auto const spectrum =
        power_spectrum_pull_back(typename TypeParam::Exec{}, positions, box, 1,
                                 std::span<double const>(), slopes, {.interlace = interlace});
    EXPECT_TRUE(spectrum.power.empty());
    EXPECT_EQ(components_of(slopes), (Values{0, 0, 0}));
  }
}

TYPED_TEST(SpectrumPullBackTest, ChecksItsArguments) {
  typename TypeParam::Exec const exec;
  auto const positions = vectors_of<TypeParam>(coordinates(10, 4, 0.01, 1));
  Vectors<TypeParam> const cotangent("cotangent", 10), fewer("fewer", 9);
  auto const message = [&](std::vector<double> const& slope, auto const& at, auto const& to,
                           double length = box, std::int64_t cells = 4) {
    return message_of([&] {
      power_spectrum_pull_back(exec, at, length, cells, std::span<double const>(slope), to);
    });
  };
  std::vector<double> const two{1, 1};
  EXPECT_EQ(message({1}, positions, cotangent),
            "slopes of the power must be 2, one for each bin, not 1");
  EXPECT_EQ(message({1, not_a_number}, positions, cotangent),
            "the slope of the power in bin 1 must be finite, not nan");
  EXPECT_EQ(message(two, positions, fewer),
            "slopes of positions must be 10, one for each particle, not 9");
  EXPECT_EQ(message(two, positions, positions),
            "the slopes must have other memory than the positions: copy one of them first");
  EXPECT_EQ(message(two, positions, cotangent, -1),
            "the box length must be positive and finite, not -1");
  EXPECT_EQ(message(two, positions, cotangent, box, 0),
            "cells of a power spectrum's mesh must be from 1 to 32768 along an axis, not 0");
  Vectors<TypeParam> const none;
  EXPECT_EQ(message(two, none, none), "a power spectrum must be of at least one particle, not 0");
}

TYPED_TEST(SpectrumPullBackTest, SaysHowMuchMemoryItLacks) {
  auto const positions = vectors_of<TypeParam>({1, 2, 3});
  Vectors<TypeParam> const cotangent("cotangent", 1);
  std::string const message = message_of<coir::ResourceError>([&] {
    power_spectrum_pull_back(typename TypeParam::Exec{}, positions, box, 32768,
                             std::span<double const>(), cotangent);
  });
  EXPECT_NE(message.find("the power spectrum on 32768^3 cells"), std::string::npos) << message;
}
