#include <coir/mesh/power_spectrum.hpp>
#include <coir/nbody/losses.hpp>

#include <gtest/gtest.h>

#include <support/message_of.hpp>
#include <support/numbers.hpp>
#include <support/typed_suite.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using coir::nbody::Cotangents;
using coir::nbody::Particles;
using coir::nbody::PowerMisfit;
using namespace coir::testing;

namespace {

using Numbers = std::vector<double>;

double const box = 20;
int const side = 6;

template <class C>
struct Sample {
  using Real = typename C::Real;
  using Vectors = typename Particles<typename C::Exec, Real>::Vectors;

  Particles<typename C::Exec, Real> particles;
  Cotangents<typename C::Exec, Real> cotangents;

  explicit Sample(Numbers const& positions) {
    particles.side = side;
    particles.box = box;
    for (auto* vectors :
         {&particles.position, &particles.momentum, &cotangents.position, &cotangents.momentum})
      *vectors = Vectors("vectors", positions.size() / 3);
    filled(particles.position, positions);
  }

  double operator()(PowerMisfit const& misfit) const { return misfit(particles, cotangents); }
};

/// Normal numbers around the sites of a lattice.
Numbers some_positions() {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  Numbers positions;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      for (int k = 0; k < side; ++k)
        for (int const site : {i, j, k})
          positions.push_back((site + 0.5 + 0.4 * normal(random)) * box / side);
  return positions;
}

/// Three bins by default on 6 cells; the mesh is smooth for particles anywhere.
PowerMisfit some_misfit() {
  return {.target = {10, 20, 30},
          .inverse_variance = {1e-3, 2e-3, 3e-3},
          .options = {.assignment = coir::mesh::Assignment::pcs, .interlace = true}};
}

}  // namespace

COIR_TYPED_SUITE(PowerMisfitTest);
COIR_DOUBLE_SUITE(PowerMisfitInDoubleTest);

TYPED_TEST(PowerMisfitTest, IsHalfTheSquaredDistanceInUnitsOfTheVariance) {
  Sample<TypeParam> const sample(some_positions());
  PowerMisfit misfit = some_misfit();
  for (std::int64_t const cells : {0, 7}) {
    misfit.cells = cells;
    auto const spectrum =
        coir::mesh::power_spectrum(typename TypeParam::Exec{}, sample.particles.position, box,
                                   cells == 0 ? side : cells, misfit.options);
    double expected = 0;
    ASSERT_EQ(spectrum.power.size(), 3u);
    for (std::size_t b = 0; b < 3; ++b)
      expected +=
          misfit.inverse_variance[b] * std::pow(spectrum.power[b] - misfit.target[b], 2) / 2;
    EXPECT_NEAR(sample(misfit), expected, 1e-14 * expected);
  }
}

TYPED_TEST(PowerMisfitTest, NamesMeshesThatCantBe) {
  Sample<TypeParam> const sample(some_positions());
  PowerMisfit misfit = some_misfit();
  misfit.cells = -7;
  EXPECT_NE(message_of([&] { sample(misfit); }).find("-7"), std::string::npos);
}

TYPED_TEST(PowerMisfitTest, DoesNotDependOnMomenta) {
  Sample<TypeParam> const sample(some_positions());
  sample(some_misfit());
  EXPECT_EQ(doubles_of(sample.cotangents.momentum), Numbers(3 * side * side * side, 0));
}

TYPED_TEST(PowerMisfitTest, OfTheSpectrumItselfIsZeroWithItsSlopes) {
  Sample<TypeParam> const sample(some_positions());
  PowerMisfit misfit = some_misfit();
  misfit.target = coir::mesh::power_spectrum(typename TypeParam::Exec{}, sample.particles.position,
                                             box, side, misfit.options)
                      .power;
  EXPECT_EQ(sample(misfit), 0);
  EXPECT_EQ(doubles_of(sample.cotangents.position), Numbers(3 * side * side * side, 0));
}

TYPED_TEST(PowerMisfitInDoubleTest, HasItsSlopes) {
  // A particle's mass is cut into 2^40 parts, so that differences over 1e-3 cells err by 1e-9 of
  // the slopes of weights.
  Numbers const at = some_positions();
  Sample<TypeParam> const sample(at);
  sample(some_misfit());
  Numbers const slopes = doubles_of(sample.cotangents.position);
  Numbers direction = normal_numbers(at.size(), 5);
  for (double& d : direction) d *= 1e-3 * box / side;
  auto const beside = [&](double steps) {
    Numbers there = at;
    for (std::size_t i = 0; i < at.size(); ++i) there[i] += steps * direction[i];
    return Sample<TypeParam>(there)(some_misfit());
  };
  double const slope = (8 * (beside(1) - beside(-1)) - (beside(2) - beside(-2))) / 12;
  EXPECT_NEAR(product(slopes, direction), slope,
              1e-8 * std::sqrt(product(slopes, slopes) * product(direction, direction)));
  EXPECT_NE(slope, 0);
}

TYPED_TEST(PowerMisfitTest, LeavesBinsWithoutModesOut) {
  Sample<TypeParam> const sample(some_positions());
  double const fundamental = 2 * std::acos(-1.) / box;
  double const missing = std::numeric_limits<double>::quiet_NaN();
  PowerMisfit const misfit{
      .target = {missing, 20},
      .inverse_variance = {missing, 1},
      .options = {.bins = 2, .k_min = 1.1 * fundamental, .k_max = 1.5 * fundamental}};
  EXPECT_TRUE(std::isfinite(sample(misfit)));
  for (double const slope : doubles_of(sample.cotangents.position))
    EXPECT_TRUE(std::isfinite(slope));
}

TYPED_TEST(PowerMisfitTest, ChecksItsNumbers) {
  Sample<TypeParam> const sample(some_positions());
  PowerMisfit misfit = some_misfit();
  misfit.target = {1};
  EXPECT_EQ(message_of([&] { sample(misfit); }),
            "the target of the power must have 3 numbers, one for each bin, not 1");
  misfit = some_misfit();
  misfit.inverse_variance.push_back(1);
  EXPECT_EQ(message_of([&] { sample(misfit); }),
            "the inverse variance of the power must have 3 numbers, one for each bin, not 4");
  misfit = some_misfit();
  misfit.target[2] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message_of([&] { sample(misfit); }),
            "the slope of the power in bin 2 must be finite, not -inf");
}
