// Linear theory's figures for the memory of ranks, beside sums that are known.

#include <nbody/balance.hpp>

#include <coir/cosmology/power_table.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace {

using namespace coir::apps::nbody;

constexpr double p = 500, box = 200;

/// P(k) = 500 today from 1e-3 to 100.
coir::cosmology::LinearPower<double> white() {
  coir::cosmology::Growth<double> const growth(coir::cosmology::planck18());
  std::vector<double> const k{1e-3, 1e-2, 1, 100}, power(4, p);
  return {growth, coir::cosmology::PowerTable(k, power)};
}

TEST(NbodyBalance, ASlabOfWhiteNoiseHasTheContrastOfItsVolume) {
  // The noise of a part f of the volume V, of which the mean of all is subtracted: P / V (1 / f -
  // 1).
  for (int const ranks : {2, 4, 8}) {
    double const expected = std::sqrt(p / (box * box * box) * (ranks - 1));
    // Waves shorter than a thousandth of the box are left out, ranks^2 / (2 pi^2 1000) of the sum
    // of (ranks - 1) / 2.
    double const left_out =
        ranks * ranks / (1000 * std::numbers::pi * std::numbers::pi * (ranks - 1));
    double const found = slab_contrast(white(), 1, box, box / ranks);
    EXPECT_LT(found, expected);
    EXPECT_GT(found, expected * (1 - left_out)) << ranks;
  }
}

TEST(NbodyBalance, DisplacementsOfWhiteNoiseGrowWithTheWavesThereAre) {
  constexpr std::int64_t side = 64;
  double const waves = std::numbers::pi * side / box - 2 * std::numbers::pi / box;
  // The midpoint rule in 400 intervals of ln k: an error of (ln 32 / 400)^2 / 24.
  EXPECT_NEAR(rms_displacement(white(), 1, box, side),
              std::sqrt(p * waves / (6 * std::numbers::pi * std::numbers::pi)), 1e-5);
  double const d = white().growth().d1(0.5) / white().growth().d1(1.0);
  EXPECT_NEAR(rms_displacement(white(), 0.5, box, side),
              d * rms_displacement(white(), 1, box, side), 1e-12);
}

TEST(NbodyBalance, NoParticleIsFartherAstrayThanHalfOfOtherRanksPartOfTheBox) {
  constexpr std::int64_t side = 64;
  EXPECT_EQ(farthest_astray(white(), 1e-3, box, side, 2),
            6 * rms_displacement(white(), 1e-3, box, side));
  // Displacements larger than the box: its waves are short, and many.
  for (double const tiny : {0.5, 2.0})
    for (int const ranks : {2, 5, 1000}) {
      ASSERT_GT(6 * rms_displacement(white(), 1, tiny, side), tiny);
      EXPECT_EQ(farthest_astray(white(), 1, tiny, side, ranks), (tiny - tiny / ranks) / 2);
    }
  EXPECT_EQ(farthest_astray(white(), 1, box, side, 1), 0);
}

TEST(NbodyBalance, HeadroomIsFiveDeviationsWithinLimits) {
  EXPECT_EQ(headroom_for(white(), 1, box, 1), 0);
  EXPECT_EQ(headroom_for(white(), 1, 2000, 2), 0.05);
  EXPECT_NEAR(headroom_for(white(), 1, box, 4), 5 * slab_contrast(white(), 1, box, 50), 1e-15);
  EXPECT_EQ(headroom_for(white(), 1, 5, 2), 1);  // all particles on one of two
}

}  // namespace
